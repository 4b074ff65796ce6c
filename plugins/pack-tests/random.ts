/** Random numbers that depend on a seed only (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * limit);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();

/** Characters by the names that templates use for them. */
export const ALPHABETS = {
  digit: DIGITS,
  lower: LOWER,
  upper: UPPER,
  letter: LOWER + UPPER,
  alnum: LOWER + UPPER + DIGITS,
  base36: LOWER + DIGITS,
  BASE36: UPPER + DIGITS,
  hex: `${DIGITS}abcdef`,
  HEX: `${DIGITS}ABCDEF`,
  base32_lower: `${LOWER}234567`,
  base32: `${UPPER}234567`,
  b64: `${LOWER}${UPPER}${DIGITS}+/`,
  b64url: `${LOWER}${UPPER}${DIGITS}-_`,
  base58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
  symbols: `${LOWER}${UPPER}${DIGITS}!#$%*+-_?@^~`,
} as const satisfies Record<string, string>;

export type Alphabet = keyof typeof ALPHABETS;

/** A string of random characters of an alphabet. */
export const run = (r: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[r.below(alphabet.length)]).join('');
