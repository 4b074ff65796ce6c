import { describe, expect, it } from '@jest/globals';
import { applyRulesInOrder } from '../../operators/masks/apply-rule.ts';
import { costOf } from '../../operators/masks/expression/cost.ts';
import type { MaskRule } from '../../operators/masks/mask-rule.ts';
import { fill, Random, type Sample } from '../../plugins/pack-tests/templates.ts';
import { loadPack, type PackRule, packNames } from '../../plugins/packs/load-packs.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { CONTEXTS, type Context, inContext } from './contexts.ts';
import { rulesOf } from './packs.ts';
import { nearMisses, validSample } from './samples.ts';

/** Later samples of some templates are not of their kind: a word as the value of a flag, say. */
const COUNT = Math.min(20, propertyRuns(8));
const COUNT_OF_MISSES = 20;
/** In each of eight contexts. */
const COUNT_IN_CONTEXT = Math.min(3, propertyRuns(1));

/** Nothing of this makes a placeholder of a token. */
const BRACKETS: readonly (readonly [string, string])[] = [
  ['<', ''],
  ['<', ' and text'],
  ['<<<', ''],
  ['<tag><', ''],
  ['<a><', '</a>'],
  ['<b>', '</b>'],
  ['<', '>'],
];

const apply = (text: string, rule: MaskRule) => applyRulesInOrder(text, [rule]);
const masked = ({ text, spans }: Sample, rule: MaskRule) =>
  spans.reduceRight((rest, [start, end]) => rest.slice(0, start) + rule.replace('') + rest.slice(end), text);

/** Whether a template is a value of its own, which can stand in any context. */
const isValue = (template: string) => !template.includes('<<') && !/\s/.test(template);

describe.each(packNames())('%s', (pack) => {
  const data = loadPack(pack).rules;
  const rules = rulesOf([pack], 'low').map((rule): [string, PackRule, MaskRule] => {
    const name = rule.name.slice(pack.length + 1);
    return [name, data[name] as PackRule, rule];
  });

  it('says of every rule where its facts come from', () => {
    expect(rules.filter(([, { source }]) => !/\S{3}/.test(source)).map(([name]) => name)).toEqual([]);
  });

  it('expands every part that a rule refers to', () => {
    expect(
      rules.filter(([, rule]) => 'match' in rule && /\{\{\w+\}\}/.test(rule.match)).map(([name]) => name),
    ).toEqual([]);
  });

  it('has no expression that can take for ever', () => {
    const costs = rules.map(([name, , { expression }]) => ({ name, ...costOf(expression) }));
    expect(costs.filter(({ ambiguity, degree }) => ambiguity !== undefined || degree > 2)).toEqual([]);
  });

  describe.each(rules)('%s', (_name, { tests, ...written }, rule) => {
    const check = 'check' in written ? written.check : undefined;

    it('replaces exactly what its templates mark', () => {
      const r = new Random(11);
      for (const template of tests.matches) {
        for (let i = 0; i < COUNT; i++) {
          const sample = validSample(template, rule, r);
          expect(apply(sample.text, rule)).toBe(masked(sample, rule));
        }
      }
    });

    it('replaces its values in every context', () => {
      const r = new Random(12);
      for (const template of tests.matches.filter(isValue)) {
        for (const context of Object.keys(CONTEXTS) as Context[]) {
          for (let i = 0; i < COUNT_IN_CONTEXT; i++) {
            const { text, spans } = inContext(context, 'value', validSample(template, rule, r).text, r);
            const [[start, end] = [0, 0]] = spans;
            // A line may have addresses of its own.
            const [before, after] = [text.slice(0, start), text.slice(end)].map((part) => apply(part, rule));
            expect(apply(text, rule)).toBe(before + rule.replace('') + after);
          }
        }
      }
    });

    it('replaces its values behind brackets', () => {
      const r = new Random(14);
      // A key makes a placeholder of what is in brackets, as in `token=<access-token>`.
      if (pack !== 'secrets/providers') return;
      for (const template of tests.matches.filter(isValue)) {
        const value = validSample(template, rule, r).text;
        for (const [before, after] of BRACKETS) {
          expect(apply(`${before}${value}${after}`, rule)).toBe(`${before}${rule.replace('')}${after}`);
        }
      }
    });

    it('leaves near misses and ordinary values', () => {
      const r = new Random(13);
      const texts = tests.misses.flatMap((template) =>
        Array.from({ length: COUNT_OF_MISSES }, () => fill(template, r).text),
      );
      for (const template of tests.matches.filter(isValue))
        texts.push(...nearMisses(template, rule, check, r));
      for (const text of texts) expect(apply(text, rule)).toBe(text);
    });
  });
});
