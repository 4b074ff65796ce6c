import type { MaskRule } from '../../operators/masks/mask-rule.ts';
import { fill, longestRun, type Random, type Sample } from '../../plugins/pack-tests/templates.ts';
import type { ExpressionRule } from '../../plugins/packs/load-packs.ts';

/**
 * A sample of a template. A value on its own, and personal data, are drawn again until the check of the rule accepts
 * them, which makes checksums right without a generator for each of them. Secrets in their context are not: a check that
 * refuses one of them is to be seen.
 */
export function validSample(template: string, rule: MaskRule | undefined, r: Random): Sample {
  const isMarked = template.includes('<<') && rule?.name.startsWith('pii/') !== true;
  for (let attempt = 0; ; attempt++) {
    const sample = fill(template, r);
    const isValid = sample.spans.every(
      ([start, end]) => (rule?.accepts?.(sample.text.slice(start, end), sample.text, start) ?? true) === true,
    );
    if (isValid || isMarked) return sample;
    if (attempt === 50_000)
      throw new Error(`no value for the template ${template} passes the check of its rule`);
  }
}

/** Values that are almost those of a template: too short, too long, with a wrong character or a wrong checksum. */
export function nearMisses(
  template: string,
  rule: MaskRule,
  check: ExpressionRule['check'],
  r: Random,
): string[] {
  const run = longestRun(template);
  const misses: string[] = [];
  const resized = (change: number) => fill(template, r, (place) => (place === run?.place ? change : 0)).text;
  if (run !== undefined && run.least >= 8) {
    misses.push(resized(run.least - run.most - 1));
    if (run.isExact) {
      misses.push(resized(1));
      const text = fill(template, r).text;
      const middle = text.length - Math.floor(run.least / 2);
      misses.push(`${text.slice(0, middle)}!${text.slice(middle + 1)}`);
    }
  }
  const mode = typeof check === 'object' ? (check.mode ?? 'require') : 'require';
  if (check !== undefined && mode === 'require' && !(typeof check === 'object' && 'entropy' in check)) {
    for (let i = 0; i < 20; i++) {
      const { text } = fill(template, r);
      if (rule.accepts !== undefined && rule.accepts(text, text, 0) !== true) misses.push(text);
    }
  }
  return misses;
}
