import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { type ByteMask, ByteMasks } from '../../../../operators/masks/bytes/byte-masks.ts';
import { costOf } from '../../../../operators/masks/expression/cost.ts';
import { compileExpression } from '../../../../operators/masks/python-regex.ts';
import { searchOfLines } from '../../../../operators/masks/search/plan.ts';
import { type Drawn, expressions, textsNear } from '../../../support/expressions.ts';
import { nearMatches } from '../../../support/near-matches.ts';
import { projectRules } from '../../../support/project-rules.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

jest.setTimeout(propertyRuns(600_000));

interface DrawnRule extends Drawn {
  readonly expression: RegExp;
  readonly mask: ByteMask;
}

/** Replacements too that the rules behind them match. */
const replacements = fc.constantFrom('<:KEY:>', '', 'a', 'ab@k', '0.1', '"'.repeat(20));

/** What is seldom drawn: starts at several places in a run, in a word and not; bounds of what may stand before. */
const chosen: fc.Arbitrary<Drawn & { readonly flags: string }> = fc
  .constantFrom(
    ['\\b[\\w.-]+@k', '--ab@k', 'a-b@k', '..@k', 'ab@@k'],
    ['\\b[a-z-]{2,4}@', '-ab@', 'abcde@', '-a@'],
    ['(?:\\b|:)[.a]+k\\b', '..ak', 'a.k', ':.ak1'],
    ['[a-k.]{1,3}?@(?:a|ab)', 'abc@ab', '..@a'],
    ['[0-9]{1,3}(?:\\.[0-9]{1,3}){3}', '1.2.3.4', '1234.5.6.7890', '1.2.3'],
    ['key=\\w{3,}?\\b', 'key=abcd ', 'key=ab'],
  )
  .map(([source, ...near]) => ({ source: source as string, flags: 'g', near: fc.constantFrom(...near) }));

/** Of this project: its documentation, examples and benchmarks. */
const sources = [...new Set(projectRules().flatMap((rules) => Object.values(rules)))];
const ofProject = fc.constantFrom(
  ...sources
    .map((source) => compileExpression(source))
    .filter((expression) => searchOfLines(expression)?.bytes() !== undefined)
    .map((expression) => ({
      source: expression.source,
      flags: expression.flags,
      near: nearMatches(expression),
    })),
);

/** Of all expressions, those that can be searched for in bytes, a few with an anchor that is rare in the others. */
const rules: fc.Arbitrary<DrawnRule> = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: expressions() }, chosen, ofProject),
    fc.constantFrom('', '@', 'k', 'sk_', ':'),
    replacements,
  )
  .map(([drawn, anchor, replacement]) => {
    const source = anchor + (drawn.source.includes('|') ? `(?:${drawn.source})` : drawn.source);
    const expression = new RegExp(anchor === '' ? drawn.source : source, drawn.flags);
    const near = drawn.near.map((text) => anchor + text);
    const bytes = searchOfLines(expression)?.bytes();
    const mask = bytes && { replacement, ...bytes };
    return { source, near, expression, mask: mask as ByteMask };
  })
  .filter(({ mask }) => mask !== undefined);

const asAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (c) => 'aB1 '[c.charCodeAt(0) % 4] as string);

function plainly(rules: readonly DrawnRule[], lines: readonly string[]): { lines: string; counts: string[] } {
  const counts: string[] = [];
  let masked = lines;
  for (const { expression, mask } of rules) {
    let count = 0;
    masked = masked.map((line) =>
      line.replace(expression, (match) => {
        if (match === '') return '';
        count++;
        return mask.replacement;
      }),
    );
    if (count > 0) counts.push(`${expression} ${count}`);
  }
  return { lines: masked.join('\n'), counts };
}

describe('masks in bytes', () => {
  it('mask what the engine masks, rule by rule, in each line', () => {
    const cases = fc.array(rules, { minLength: 1, maxLength: 3 }).chain((drawn) =>
      fc.record({
        drawn: fc.constant(drawn),
        texts: fc.array(textsNear(drawn), { minLength: 1, maxLength: 8 }),
      }),
    );
    fc.assert(
      fc.property(cases, ({ drawn, texts }) => {
        const isCostly = drawn.some(({ expression }) => {
          const { ambiguity, degree } = costOf(expression);
          return ambiguity !== undefined || degree > 2;
        });
        const lines = texts
          .flatMap((text) => asAscii(text).split('\n'))
          .map((line) => line.slice(0, isCostly ? 12 : 200));
        const masks = ByteMasks.of(drawn.map((rule) => rule.mask))?.hold(lines.join('\n'));
        const found = drawn.map((_, i) => masks?.mask(i) ?? -1);
        // Some have too many states.
        if (found.includes(-1)) return;
        const counts = drawn.flatMap(({ expression }, i) =>
          found[i] === 0 ? [] : [`${expression} ${found[i]}`],
        );
        expect({ lines: masks?.text, counts }).toEqual(plainly(drawn, lines));
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
