import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteMasks } from '../../../../operators/masks/bytes/byte-masks.ts';
import { LiteralIndex } from '../../../../operators/masks/search/literal-index.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const LITERALS = [
  ['token', { text: 'password', startsWord: true, back: 3 }],
  ['pw', { text: 'curl', followedBy: [' ', '.exe'], startsWord: 'alone' as const, back: 0 }],
  ['ключ', '@', 'akia', 'x-api-key'],
];
const WORDS = [
  'token',
  'Password',
  'pw',
  'curl ',
  'curl-',
  'my curl',
  'КЛЮЧ',
  '@',
  'AKIA',
  'x-api-key',
  ' ',
  '\0',
  'K',
  'é',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'grapheme', maxLength: 9 })), {
    maxLength: 20,
  })
  .map((words) => words.join(''));

/** An index that has been asked often enough to search in bytes. */
function warmed(): LiteralIndex {
  const index = new LiteralIndex(LITERALS);
  for (let i = 0; i < 1500; i++) index.candidatesIn('so long that it may be searched in bytes');
  return index;
}

describe('LiteralIndex', () => {
  it('finds the same in a string, whether it searches its characters or its bytes', () => {
    const inBytes = warmed();
    fc.assert(
      fc.property(text, (text) => {
        // A new index searches characters.
        expect(inBytes.candidatesIn(text)).toEqual(new LiteralIndex(LITERALS).candidatesIn(text));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('searches strings while a text is masked in bytes, which stays as it is', () => {
    const masks = ByteMasks.of([]);
    const index = warmed();
    const held = 'a text of more than some words, with no token'.repeat(20);
    expect(masks?.holdBytes(Buffer.from(held))).toBe(true);
    expect(index.candidatesIn('so long that it is searched in bytes: token').rules).toEqual([0]);
    expect(masks?.text).toBe(held);
  });

  it('shares the memory with others', () => {
    const other = new LiteralIndex([['else'], ['token']]);
    const index = warmed();
    const line = 'a line that has the word token, and little else';
    for (let i = 0; i < 5000; i++) {
      expect(other.candidatesIn(line).rules).toEqual([0, 1]);
      expect(index.candidatesIn(line).rules).toEqual([0]);
    }
  });
});
