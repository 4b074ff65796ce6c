import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { logLines } from '../../../bench/log-generator.ts';
import { compileMaskRules } from '../../../operators/masks/compile-mask-rules.ts';
import { costOf } from '../../../operators/masks/expression/cost.ts';
import { compileExpression, ExpressionError } from '../../../operators/masks/python-regex.ts';
import { loadPlannedSearch, regexMasker } from '../../../operators/masks/regex-mask.ts';
import { jsonKeeperOf, regexMaskRules } from '../../../operators/masks/regex-mask-rules.ts';
import { expressions, textsNear } from '../../support/expressions.ts';
import { nearMatches } from '../../support/near-matches.ts';
import { projectRules } from '../../support/project-rules.ts';
import { propertyRuns } from '../../support/property-runs.ts';

type Rules = Readonly<Record<string, string>>;

await loadPlannedSearch();

/** Names alone take the place of matches, so that one can be what another rule looks for. */
const NAMES_ALONE = { mask_prefix: '', mask_suffix: '' };

/** The plain way: rule after rule, and what the engine finds of each. */
function plainMask(rules: Rules) {
  const compiled = Object.entries(rules).map(([name, source]) => ({
    name,
    expression: compileExpression(source),
  }));
  return (text: string) => {
    const counts: [string, number][] = [];
    let masked = text;
    for (const { name, expression } of compiled) {
      let count = 0;
      masked = masked.replace(expression, (match: string) => {
        if (match === '') return '';
        count++;
        return name;
      });
      if (count > 0) counts.push([name, count]);
    }
    return { masked, counts };
  };
}

/** One mask for all texts, as a pipeline has it: what it knows of one must not serve for the next. */
function expectSame(rules: Rules, texts: readonly string[]): void {
  let counts: [string, number][] = [];
  const mask = regexMasker({ ...NAMES_ALONE, rules, onMask: (...report) => counts.push(report) });
  const plain = plainMask(rules);
  // What keeps JSON is tested in json-lines.test.ts: it is the same for both.
  const options = { ...NAMES_ALONE, rules };
  const keeper = jsonKeeperOf(regexMaskRules(options), options);
  // The first few are left to the engine.
  for (let i = 0; i < 20; i++) mask('');
  for (const text of texts) {
    counts = [];
    const found = JSON.stringify({ masked: mask(text), counts });
    const { masked, counts: wantedCounts } = plain(text);
    const wanted = JSON.stringify({ masked: keeper.keep(text, masked), counts: wantedCounts });
    // To hand all of it to `expect` each time would take longer than the masks.
    if (found !== wanted) expect({ rules, text, found }).toEqual({ rules, text, found: wanted });
  }
  expectSameOfLines(rules, texts);
}

/** The lines of all texts at once, as a batch of them is masked; if that is possible. */
function expectSameOfLines(rules: Rules, texts: readonly string[]): void {
  const counts = new Map<string, number>();
  const count = (rule: string, more: number) => counts.set(rule, (counts.get(rule) ?? 0) + more);
  const { many: manyOf } = compileMaskRules(regexMaskRules({ ...NAMES_ALONE, rules }), { onMask: count });
  const many = manyOf();
  if (many === undefined) return;
  const plain = plainMask(rules);
  const lines = texts
    .flatMap((text) => text.split('\n'))
    .map((line) => line.slice(0, many.maxLineLength))
    .slice(0, Math.max(1, Math.floor(many.maxLength / many.maxLineLength)));
  const found = (some: readonly string[]) => {
    counts.clear();
    const masked = many.map(some.join('\n'));
    return { rules, lines: some, masked, counts: JSON.stringify([...counts].sort()) };
  };
  const plainly = lines.map(plain);
  const wanted = (some: readonly string[], times: number) => {
    counts.clear();
    for (const one of plainly) for (const [rule, more] of one.counts) count(rule, more * times);
    const masked = Array.from({ length: times }, () => plainly.map(({ masked }) => masked).join('\n'));
    return { rules, lines: some, masked: masked.join('\n'), counts: JSON.stringify([...counts].sort()) };
  };
  // The first few are left to the engine.
  expect(found(lines)).toEqual(wanted(lines, 1));
  for (let i = 0; i < 20; i++) many.map('');
  expect(found(lines)).toEqual(wanted(lines, 1));
  // Long ones are masked in bytes, by the rules that can be had so.
  const times = Math.ceil(8192 / (lines.join('\n').length + 1));
  const often = Array.from({ length: times }, () => lines).flat();
  if (often.join('\n').length <= many.maxLength) expect(found(often)).toEqual(wanted(often, times));
}

/** Whether texts of any length may be tried. */
const isSafe = (source: string): boolean => {
  try {
    const { ambiguity, degree, factor } = costOf(compileExpression(source));
    return ambiguity === undefined && degree <= 2 && factor <= 100;
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
};

jest.setTimeout(propertyRuns(600_000));

/** The documentation shows one that is refused. */
const isAccepted = (rules: Rules): boolean =>
  Object.values(rules).every((source) => costOf(compileExpression(source)).ambiguity === undefined);

const sets = projectRules().filter(isAccepted);
const all = sets.flatMap((rules) => Object.values(rules));
const ofProject = fc.constantFrom(
  ...[...new Set(all)].map((source) => ({ source, near: nearMatches(compileExpression(source)) })),
);
const flags = fc.constantFrom('', '', '(?i)', '(?m)', '(?s)', '(?ims)');
const drawn = fc
  .tuple(flags, expressions())
  .map(([flags, { source, near }]) => ({ source: flags + source, near }))
  .filter(({ source }) => isSafe(source));

/** One rule has a name that others may match. Were there more, a text could double with each of them. */
function named(rules: readonly { readonly source: string }[], at: number, name: string): Rules {
  return Object.fromEntries(rules.map(({ source }, i) => [i === at ? `${i}${name}` : `${i}`, source]));
}

describe('a regular mask with many rules', () => {
  it('masks what the plain way masks, and keeps JSON', () => {
    expectSame({ 1: '\\b\\d{3}-\\d{2}-\\d{4}\\b', 4: '[^x]{2}' }, ['000-00-0000{}', '1{}']);
  });

  it('masks what the plain way masks, also what a name completes once the rules are planned', () => {
    const others = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`KEY${i}`, 'k-[0-9]+']));
    expectSame({ 0: '[ab]', 3: '(?:0){6}', ...others }, ['a00000']);
  });

  it('masks what the plain way masks, whatever the rules and the texts', () => {
    const cases = fc
      .array(fc.oneof({ weight: 3, arbitrary: ofProject }, { weight: 1, arbitrary: drawn }), {
        minLength: 1,
        maxLength: 12,
      })
      .chain((rules) =>
        fc.record({
          rules: fc
            .record({ at: fc.nat(rules.length - 1), name: fc.oneof(...rules.map(({ near }) => near)) })
            .map(({ at, name }) => named(rules, at, name)),
          texts: fc.array(textsNear(rules), { minLength: 5, maxLength: 5 }),
        }),
      );
    fc.assert(
      fc.property(cases, ({ rules, texts }) => expectSame(rules, texts)),
      { numRuns: propertyRuns(12) },
    );
  });

  it.each(sets.map((rules) => [Object.keys(rules).slice(0, 8).join(), rules] as const))(
    'masks what the plain way masks, with the rules of the project: %s',
    (_, rules) => {
      const near = Object.values(rules).map((source) => ({ near: nearMatches(compileExpression(source)) }));
      const texts = fc.array(textsNear(near), { minLength: 10, maxLength: 10 });
      fc.assert(
        fc.property(texts, (texts) => expectSame(rules, texts)),
        { numRuns: propertyRuns(2) },
      );
      expectSame(rules, [...logLines(200)]);
    },
  );
});
