import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { costOf } from '../../../../operators/masks/expression/cost.ts';
import { requiredLiterals } from '../../../../operators/masks/expression/literals.ts';
import { parseExpression } from '../../../../operators/masks/expression/pattern.ts';
import type { Finder } from '../../../../operators/masks/search/finder.ts';
import { LiteralIndex } from '../../../../operators/masks/search/literal-index.ts';
import { planSearch, waysToFind, waysToFindInLines } from '../../../../operators/masks/search/plan.ts';
import { expressions, textsNear } from '../../../support/expressions.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

jest.setTimeout(propertyRuns(600_000));

/** All matches that are not empty, as the engine finds them without any plan. */
function plainly(expression: RegExp, text: string): string {
  return [...text.matchAll(expression)]
    .filter(([match]) => match !== '')
    .map(({ index, 0: match }) => `${index}-${index + match.length}`)
    .join();
}

/** The same in each line, as positions in all of them. */
function plainlyInLines(expression: RegExp, lines: readonly string[]): string {
  let begin = 0;
  const found: string[] = [];
  for (const line of lines) {
    for (const match of line.matchAll(expression)) {
      const start = begin + match.index;
      if (match[0] !== '') found.push(`${start}-${start + match[0].length}`);
    }
    begin += line.length + 1;
  }
  return found.join();
}

function planned(finder: Finder, text: string): string {
  const found: string[] = [];
  for (let start = finder.next(text, 0); start !== -1; start = finder.next(text, finder.end)) {
    found.push(`${start}-${finder.end}`);
  }
  return found.join();
}

const MOST_STEPS = 1e6;

/** How much of a text an expression is tried on: what can take for ever, or nearly so, sees little. */
function affordableLength(expression: RegExp): number {
  const { ambiguity, degree, factor } = costOf(expression);
  if (ambiguity !== undefined) return 10;
  return Math.min(100, Math.max(10, (MOST_STEPS / factor) ** (1 / degree)));
}

/** An expression, and so many texts that are near to its matches. */
const drawnWithTexts = (minLength: number, maxLength: number) =>
  expressions().chain((drawn) =>
    fc.record({
      drawn: fc.constant(drawn),
      texts: fc.array(textsNear([drawn]), { minLength, maxLength }),
    }),
  );

/** An index of what every text with a match has; undefined if nothing is known. */
function indexOf(expression: RegExp): LiteralIndex | undefined {
  const parsed = parseExpression(expression);
  const literals = parsed && requiredLiterals(parsed.pattern);
  return literals && new LiteralIndex([literals]);
}

const isLetThrough = (index: LiteralIndex | undefined, text: string): boolean =>
  index === undefined || (index.rulesIn(text).length > 0 && index.linesIn(`a\n${text}`).length > 0);

/** All letters that have another case: for some that is longer, or a letter of ASCII, or has no way back. */
const CASED = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit)).filter(
  (letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter,
);

describe('a planned search', () => {
  it.each(['gi', 'giu'])('lets each letter through that has another case, with the flags %s', (flags) => {
    const kept = CASED.flatMap((letter) => {
      const expression = new RegExp(`KEY::[ab]|${letter}${letter}`, flags);
      const index = indexOf(expression);
      const texts = [letter, letter.toLowerCase(), letter.toUpperCase()].map((one) => one + one);
      return texts.filter((text) => text.match(expression) !== null && !isLetThrough(index, text));
    });
    expect(kept).toEqual([]);
  });

  it('is had of an expression that repeats nothing very often', () => {
    const finder = planSearch(/a+(?:){20000}b/g);
    expect(planned(finder, 'aab ab b')).toBe('0-3,4-6');
  });

  it('needs nothing that a text with a match does not have', () => {
    fc.assert(
      fc.property(drawnWithTexts(3, 3), ({ drawn: { source, flags }, texts }) => {
        const expression = new RegExp(source, flags);
        const length = affordableLength(expression);
        const index = indexOf(expression);
        for (const text of texts.map((text) => text.slice(0, length))) {
          if (plainly(expression, text) === '' || isLetThrough(index, text)) continue;
          throw new Error(`${expression} of ${JSON.stringify(text)}`);
        }
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  it('finds the very matches that the engine finds, in each way that it has', () => {
    fc.assert(
      fc.property(drawnWithTexts(3, 3), ({ drawn: { source, flags }, texts }) => {
        const expression = new RegExp(source, flags);
        const length = affordableLength(expression);
        const finders = waysToFind(expression).map(({ make }) => make());
        for (const text of texts.map((text) => text.slice(0, length))) {
          const wanted = plainly(expression, text);
          for (const finder of finders) {
            const found = planned(finder, text);
            if (found === wanted) continue;
            const name = finder.constructor.name;
            throw new Error(`${name} of ${expression} in ${JSON.stringify(text)}: ${found} for ${wanted}`);
          }
        }
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  it('finds in lines that are joined what the engine finds in each of them, in each way that it has', () => {
    fc.assert(
      fc.property(drawnWithTexts(1, 6), ({ drawn: { source, flags }, texts }) => {
        const expression = new RegExp(source, flags);
        const length = affordableLength(expression) / texts.length;
        const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.slice(0, length));
        const wanted = plainlyInLines(expression, lines);
        for (const { make } of waysToFindInLines(expression)) {
          const finder = make();
          const found = planned(finder, lines.join('\n'));
          if (found === wanted) continue;
          const name = finder.constructor.name;
          throw new Error(`${name} of ${expression} in ${JSON.stringify(lines)}: ${found} for ${wanted}`);
        }
      }),
      { numRuns: propertyRuns(40) },
    );
  });
});
