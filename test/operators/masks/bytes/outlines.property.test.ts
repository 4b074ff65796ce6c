import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { ByteMasks } from '../../../../operators/masks/bytes/byte-masks.ts';
import { costOf } from '../../../../operators/masks/expression/cost.ts';
import { type Outline, outlinesOf, waysToOutline } from '../../../../operators/masks/expression/outline.ts';
import { expressions, textsNear } from '../../../support/expressions.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

jest.setTimeout(propertyRuns(600_000));

/** The numbers of the lines in which one of the outlines is. Undefined if the outlines are too long. */
function linesWith(outlines: readonly Outline[], lines: readonly string[]): readonly number[] | undefined {
  const text = lines.join('\n');
  const masks = ByteMasks.of([undefined], [outlines])?.hold(text);
  const numbers = masks?.placesOf(0)?.map((place) => text.slice(0, place).split('\n').length - 1);
  return numbers && [...new Set(numbers)];
}

it('finds an outline in each line with a match', () => {
  let found = 0;
  const drawn = expressions().chain((expression) =>
    fc.record({
      expression: fc.constant(expression),
      texts: fc.array(textsNear([expression]), { maxLength: 8 }),
    }),
  );
  fc.assert(
    fc.property(drawn, ({ expression: { source, flags }, texts }) => {
      const expression = new RegExp(source, flags.replace('g', ''));
      if (costOf(expression).ambiguity !== undefined) return;
      const lines = texts
        .map((text) => text.replace(/[^\0-\x7f]|\n/g, ' ').slice(0, 60))
        .filter((line) => (expression.exec(line)?.[0] ?? '') !== '');
      for (const outlines of waysToOutline(expression)) {
        if (outlines.some(({ length }) => length === 0)) continue;
        const numbers = linesWith(outlines, lines);
        if (numbers === undefined) continue;
        expect(numbers).toEqual(expect.arrayContaining(lines.map((_, i) => i)));
        found += lines.length;
      }
    }),
    { numRuns: propertyRuns(1000) },
  );
  expect(found).toBeGreaterThan(propertyRuns(100));
});

it.each<[RegExp, readonly string[], readonly string[]]>([
  [
    /(?:^|[^0-9.])((?:\d{1,3}\.){3}\d{1,3})(?![.\d])/,
    ['1.2.3.4', 'at 10.20.30.40:80'],
    ['12:34:56', 'v1.2', '1.2.3', '12..3.4'],
  ],
  [
    /(?:^|[^0-9A-Fa-f:])(?=(?:[0-9a-f]{1,4}:){6}|(?:[0-9a-f]{0,4}:){1,7}:)[0-9a-f:]+/,
    ['fe80::1', '1:2:3:4:5:6:7:8'],
    ['at 12:34:56', 'a:b'],
  ],
  [
    /(?:^|[^0-9])[2-6]\d{3}(?:\d{8}|(?: \d{4}){3}|(?:-\d{4}){3})/,
    ['4111 1111 1111 1111'],
    ['2026-01-01 00:00'],
  ],
])('%s: in %j, not in %j', (expression, yes, no) => {
  const outlines = outlinesOf(expression) as readonly Outline[];
  expect(linesWith(outlines, [...yes, ...no])).toEqual(yes.map((_, i) => i));
});
