import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scanForLiterals } from '../../../../operators/masks/bytes/byte-masks.ts';
import { type BoundedKeyword, hasKeyword, type Keyword } from '../../../../operators/masks/search/keyword.ts';
import { LiteralIndex } from '../../../../operators/masks/search/literal-index.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const CHARACTERS = ['a', 'A', 'b', 'B', 'k', '1', ' ', '=', '"', '\\', '%', '-', 'n', 'é', 'İ', 'K'];
const texts = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 40 });
const literals = fc.string({ unit: fc.constantFrom('a', 'b', 'k', '1', '-'), minLength: 2, maxLength: 8 });
const keywords: fc.Arbitrary<Keyword> = fc.oneof(
  literals,
  fc.record({
    text: literals,
    followedBy: fc.option(fc.subarray([' ', '=', '" ', '"=', 'a', '1b'], { minLength: 1 }), {
      nil: undefined,
    }),
    startsWord: fc.option(fc.constantFrom(true, false, 'alone' as const), { nil: undefined }),
    back: fc.option(fc.nat(3), { nil: undefined }),
  }),
);
/** Lines in which a keyword is likely. */
const lines = fc
  .tuple(fc.array(texts, { maxLength: 3 }), fc.array(keywords, { minLength: 1, maxLength: 6 }))
  .map(([around, given]) => {
    const words = given.map((keyword) => (typeof keyword === 'string' ? keyword : keyword.text));
    const after = given.map((keyword) =>
      typeof keyword === 'string' ? '' : (keyword.followedBy?.[0] ?? ''),
    );
    const parts = words.map(
      (word, i) => (around[i] ?? '') + (i % 2 === 0 ? word : word.toUpperCase()) + after[i],
    );
    return { text: parts.join(''), given };
  });

it('finds the rules with a keyword in a string, in lines and in bytes', () => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 4 }), (all) => {
      const given = all.flatMap((line) => line.given);
      const index = new LiteralIndex(given.map((keyword) => [keyword]));
      const expected = all.map(({ text }) =>
        given.flatMap((keyword, i) => (hasKeyword(text, text.toLowerCase(), keyword) ? [i] : [])),
      );
      expect(all.map(({ text }) => index.rulesIn(text))).toEqual(expected);
      const joined = all.map(({ text }) => text).join('\n');
      const scan = (bytes: Uint8Array) => {
        const hits = scanForLiterals(index.tables, bytes);
        expect(hits).toBeDefined();
        return hits;
      };
      const [inText, inBytes] = [index.linesIn(joined), index.linesIn(joined, scan)];
      const inLines = new Map(inText.map((line) => [line.line, line.rules]));
      expect(all.map((_, i) => inLines.get(i) ?? [])).toEqual(expected);
      expect(inBytes).toEqual(inText);
      found += expected.flat().length;
    }),
    { numRuns: propertyRuns(1000) },
  );
  expect(found).toBeGreaterThan(propertyRuns(1000));
});

it('says where the names of keywords may start', () => {
  const index = new LiteralIndex([[{ text: 'word', back: 5 }], ['name']]);
  expect(index.candidatesIn('my PassWord is no name')).toEqual({ rules: [0, 1], places: [2, 13] });
  // `İ` has two characters in lower case, where they are looked for if there are literals beyond ASCII.
  const beyond = new LiteralIndex([[{ text: 'word', back: 5 }, 'größe']]);
  expect(beyond.candidatesIn('İİİ word')).toEqual({ rules: [0], places: undefined });
});

it.each<[string, BoundedKeyword, boolean]>([
  ['export EXP=1', { text: 'exp', startsWord: true }, true],
  ['regexp', { text: 'exp', startsWord: true }, false],
  ['regExp', { text: 'exp', startsWord: true }, true],
  [String.raw`a\nexp`, { text: 'exp', startsWord: true }, true],
  ['a%20exp', { text: 'exp', startsWord: true }, true],
  ['java.lang', { text: 'java', followedBy: [' ', '" '] }, false],
  ['exec "java" "-version"', { text: 'java', followedBy: [' ', '" '] }, true],
  ['at the end java', { text: 'java', followedBy: [' '] }, false],
])('%s with %p: %p', (text, keyword, has) => {
  expect(hasKeyword(text, text.toLowerCase(), keyword)).toBe(has);
});
