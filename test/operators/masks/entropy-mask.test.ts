import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_ALPHABET, entropyIndex } from '../../../operators/masks/entropy-index.ts';
import { entropyMasker } from '../../../operators/masks/entropy-mask.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** The formula of docs/masking.md, written for clarity instead of speed. */
function naiveIndex(token: string, alphabet: string): number {
  const characters = [...token];
  const letters = [...new Set(alphabet)];
  const term = (p: number) => (p === 0 ? 0 : -p * Math.log(p));
  const entropy = (counts: number[]) => counts.reduce((sum, c) => sum + term(c / characters.length), 0);
  const q = Math.floor(characters.length / letters.length);
  const r = characters.length % letters.length;
  const best = entropy(letters.map((_, i) => (i < r ? q + 1 : q)));
  const index = entropy(letters.map((letter) => characters.filter((c) => c === letter).length)) / best;
  return best <= 0 || characters.length === 0 ? 0 : Math.min(1, Math.max(0, index));
}

const alphabets = fc.oneof(
  fc.constant(DEFAULT_ALPHABET),
  fc.string({ minLength: 1 }),
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('ab', 'aab', 'é😀a', 'x', '\0\ud800'),
);
const random = fc.string({ unit: fc.constantFrom(...DEFAULT_ALPHABET), minLength: 16, maxLength: 200 });
const tokens = fc.oneof(
  random,
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀', '\0', '\ud800') }),
);

describe('entropyIndex', () => {
  it('equals the formula, and lies in [0, 1]', () => {
    fc.assert(
      fc.property(tokens, alphabets, (token, alphabet) => {
        const index = entropyIndex(token, alphabet);
        expect(index).toBeGreaterThanOrEqual(0);
        expect(index).toBeLessThanOrEqual(1);
        expect(index).toBeCloseTo(naiveIndex(token, alphabet), 9);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('is 0 for one repeated character', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DEFAULT_ALPHABET, 'é', '-'),
        fc.integer({ min: 1, max: 3000 }),
        (character, n) => {
          expect(entropyIndex(character.repeat(n), DEFAULT_ALPHABET)).toBe(0);
        },
      ),
    );
  });

  it('is exactly 1 for evenly spread characters, of any length and order', () => {
    const shuffled = fc.shuffledSubarray([...DEFAULT_ALPHABET], { minLength: 65 });
    fc.assert(
      fc.property(shuffled, fc.integer({ min: 2, max: 5000 }), (letters, n) => {
        const token = letters
          .join('')
          .repeat(Math.ceil(n / 65))
          .slice(0, n);
        expect(entropyIndex(token, DEFAULT_ALPHABET)).toBe(1);
      }),
    );
  });

  it('is clamped where characters outside the alphabet push the ratio above 1', () => {
    expect(entropyIndex('aaaaaabbbbbb----', 'ab')).toBe(1);
  });

  it('counts a character of the alphabet once, and code points', () => {
    expect(entropyIndex('abab', 'aabb')).toBe(1);
    expect(entropyIndex('😀é', '😀é')).toBe(1);
  });

  it('is 0 where the best is 0, and refuses an empty alphabet', () => {
    for (const token of ['', 'a', '-']) expect(entropyIndex(token, 'ab')).toBe(0);
    expect(entropyIndex('aaaa', 'a')).toBe(0);
    expect(() => entropyIndex('a', '')).toThrow(TypeError);
  });
});

const KEY = 'qGr4Kd0xT9bLw2Zp5v';
const SIXTEEN = 'abcdefghijklmnop';

describe('entropyMasker', () => {
  it('masks a token if and only if its index is the threshold or more', () => {
    const characters = (token: string) => [...token].length;
    const cases = fc
      .tuple(
        tokens.filter((token) => characters(token) > 1),
        alphabets,
      )
      .chain(([token, alphabet]) => {
        const index = entropyIndex(token, alphabet);
        const near = fc.constantFrom(index, index + 1e-15, index - 1e-15, index + 1e-9, index - 1e-9);
        const threshold = fc.oneof(near, fc.double({ min: 0, max: 1, noNaN: true }));
        return fc.record({
          token: fc.constant(token),
          alphabet: fc.constant(alphabet),
          h_threshold: threshold.map((value) => Math.min(1, Math.max(0, value))),
        });
      });
    fc.assert(
      fc.property(cases, ({ token, alphabet, h_threshold }) => {
        const delimeter = '\u2028';
        const mask = entropyMasker({ alphabet, h_threshold, length_threshold: 2, delimeter });
        const isRandom = entropyIndex(token, alphabet) >= h_threshold;
        expect(mask(`${token}${delimeter}a`)).toBe(`${isRandom ? '<:HIGH-ENTROPY:>' : token}${delimeter}a`);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('refuses an option that it does not have', () => {
    expect(() => entropyMasker({ delimitr: '=' } as object)).toThrow(
      /^entropyMasker: unknown option 'delimitr'; it has .*\bdelimiter\b/,
    );
  });

  it('replaces the token only, and keeps every delimiter', () => {
    const mask = entropyMasker();
    expect(mask(`  key  ${KEY} ok ${KEY}`)).toBe('  key  <:HIGH-ENTROPY:> ok <:HIGH-ENTROPY:>');
    expect(mask(`${KEY} `)).toBe('<:HIGH-ENTROPY:> ');
    expect(mask(`key,${KEY},ok`)).not.toContain('ENTROPY:>,ok');
    expect(entropyMasker({ delimeter: ',' })(`key,${KEY},ok`)).toBe('key,<:HIGH-ENTROPY:>,ok');
    expect(entropyMasker({ delimeter: '😀' })(`key😀${KEY}😀`)).toBe('key😀<:HIGH-ENTROPY:>😀');
  });

  it('spells the replacement as asked', () => {
    expect(entropyMasker({ mask_str: '$&', mask_prefix: '', mask_suffix: ']' })(KEY)).toBe('$&]');
    expect(entropyMasker({ mask_char: '*' })(`a ${KEY} b`)).toBe(`a ${'*'.repeat(18)} b`);
  });

  it('masks at the thresholds and above', () => {
    expect(entropyMasker()(SIXTEEN)).toBe('<:HIGH-ENTROPY:>');
    expect(entropyMasker()(SIXTEEN.slice(1))).toBe(SIXTEEN.slice(1));
    expect(entropyMasker({ h_threshold: 1 })(SIXTEEN)).toBe('<:HIGH-ENTROPY:>');
    expect(entropyMasker({ h_threshold: 1 })(`${SIXTEEN}a`)).toBe(`${SIXTEEN}a`);
    expect(entropyMasker({ h_threshold: 0 })('a'.repeat(16))).toBe('<:HIGH-ENTROPY:>');
    expect(entropyMasker({ h_threshold: 0, length_threshold: 2 })('a bb')).toBe('a <:HIGH-ENTROPY:>');
  });

  it('measures length in code points', () => {
    expect(entropyMasker({ h_threshold: 0, length_threshold: 3 })('😀😀 😀😀😀')).toBe(
      '😀😀 <:HIGH-ENTROPY:>',
    );
    // The counts of a token that was too short must not reach the next one.
    expect(entropyMasker({ alphabet: '😀a', length_threshold: 3, h_threshold: 0.1 })('😀😀 aaa')).toBe(
      '😀😀 aaa',
    );
  });

  it('reports masked tokens under mask_str', () => {
    const masked: unknown[] = [];
    entropyMasker({ mask_str: 'X', onMask: (...report) => masked.push(report) })([`${KEY} ${KEY}`, 'x', KEY]);
    expect(masked).toEqual([
      ['X', 2],
      ['X', 1],
    ]);
  });

  it('refuses options out of their bounds', () => {
    for (const h_threshold of [-0.1, 1.1, Number.NaN])
      expect(() => entropyMasker({ h_threshold })).toThrow(RangeError);
    for (const length_threshold of [1, 2.5])
      expect(() => entropyMasker({ length_threshold })).toThrow(RangeError);
    for (const delimeter of ['', 'ab']) expect(() => entropyMasker({ delimeter })).toThrow(TypeError);
    expect(() => entropyMasker({ alphabet: '' })).toThrow(TypeError);
    expect(() => entropyMasker({ mask_char: '' })).toThrow(TypeError);
  });

  it('leaves no token that had to be masked, at any depth', () => {
    const word = fc.oneof(random, fc.string({ maxLength: 20 }));
    const text = fc.array(word).map((words) => words.join(' '));
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor'), tie('value')),
      ),
    })).value;
    const mask = entropyMasker();
    fc.assert(
      fc.property(json, json, (data, tag) => {
        const masked = mask(deepFreeze({ tag, data }) as object);
        JSON.stringify(masked, (_, value) => {
          for (const token of typeof value === 'string' ? value.split(' ') : []) {
            expect([...token].length >= 16 && naiveIndex(token, DEFAULT_ALPHABET) >= 0.9 + 1e-9).toBe(false);
          }
          return value;
        });
      }),
    );
  });

  it('equals split, map and join', () => {
    const mask = entropyMasker({ h_threshold: 0.8 });
    fc.assert(
      fc.property(fc.array(fc.oneof(random, fc.string())), (words) => {
        const given = words.join(' ');
        const wanted = given
          .split(' ')
          .map((token) =>
            [...token].length >= 16 && entropyIndex(token, DEFAULT_ALPHABET) >= 0.8
              ? '<:HIGH-ENTROPY:>'
              : token,
          );
        expect(mask(given)).toBe(wanted.join(' '));
      }),
    );
  });
});
