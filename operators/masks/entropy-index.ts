import { checkValue, NOT_EMPTY } from '../support/check-options.ts';

const TABLE = 1024;
/** c·ln c for the counts that occur; 0·ln 0 = 0. */
const C_LN_C = Float64Array.from({ length: TABLE }, (_, c) => (c === 0 ? 0 : c * Math.log(c)));

const cLnC = (c: number): number => (c < TABLE ? (C_LN_C[c] as number) : c * Math.log(c));

const ASCII = 128;
/** Floating point leaves an evenly spread token a few ulps off 1; no real index is this near to it. */
const SNAP = 1e-12;
/** Far more than floating point loses in a sum, relative to the whole. */
const SLACK = 1e-9;

/** Letters, digits, `+`, `/` and `=`: the characters of keys and base64. */
export const DEFAULT_ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=';

/**
 * Measures tokens against an alphabet: how evenly a token's characters are spread, relative to the best that a
 * token of its length could be. Compiled once for an alphabet, since measuring is the hot path.
 *
 * With n characters in the token, of which c of each character of the alphabet, H = −Σ p·ln p with p = c ÷ n. Both
 * H and Hmax are kept multiplied by n, which leaves sums of c·ln c, looked up in a table.
 */
export class EntropyMeter {
  /** Slots 1…size for the characters of the alphabet, 0 for all others. */
  readonly #ascii = new Uint8Array(ASCII);
  readonly #other = new Map<number, number>();
  readonly #counts: Int32Array;
  /** How many characters of the alphabet were met k times or more. */
  #reached = new Int32Array(TABLE);
  readonly #size: number;

  /** @param alphabet has at least one character */
  constructor(alphabet: string) {
    const characters = [...new Set(alphabet)];
    this.#size = characters.length;
    this.#counts = new Int32Array(this.#size + 1);
    // ASCII first: then its slots fit into a byte, however large the alphabet.
    const codes = characters.map((character) => character.codePointAt(0) as number).sort((a, b) => a - b);
    codes.forEach((code, i) => {
      if (code < ASCII) this.#ascii[code] = i + 1;
      else this.#other.set(code, i + 1);
    });
  }

  /**
   * Whether the index of `text` between two positions may be a threshold or more. It gives up where what is left of
   * the text cannot make up for what was repeated, or is not of the alphabet: early in most words.
   */
  canReach(threshold: number, text: string, start: number, end: number): boolean {
    const counts = this.#counts;
    const ascii = this.#ascii;
    const length = end - start;
    const nLnN = cLnC(length);
    const perCharacter = nLnN / length;
    // What the sum may lose at most, and a little, since it is added up in another order than that of the index.
    let left = nLnN - threshold * this.#best(length) + SLACK * nLnN;
    let isOpen = true;
    for (let i = start; i < end && isOpen; i++) {
      const unit = text.charCodeAt(i);
      // Pairs make the length another one.
      if (unit >= ASCII) break;
      const slot = ascii[unit] as number;
      const count = counts[slot] as number;
      counts[slot] = count + 1;
      left -= slot === 0 ? perCharacter : cLnC(count + 1) - cLnC(count);
      isOpen = left >= 0;
    }
    counts.fill(0);
    return isOpen;
  }

  /** The index of `text` between two positions, in [0, 1]; −1 for fewer characters than `shortest`. */
  index(text: string, start = 0, end = text.length, shortest = 0): number {
    const counts = this.#counts;
    const ascii = this.#ascii;
    if (end - start >= this.#reached.length) this.#reached = new Int32Array(2 * (end - start));
    const reached = this.#reached;
    let length = end - start;
    let most = 0;
    for (let i = start; i < end; i++) {
      const unit = text.charCodeAt(i);
      let slot = 0;
      if (unit < ASCII) {
        slot = ascii[unit] as number;
      } else {
        const code = i + 1 < end ? (text.codePointAt(i) as number) : unit;
        if (code > 0xffff) {
          i++;
          length--;
        }
        slot = this.#other.get(code) ?? 0;
      }
      if (slot === 0) continue;
      const count = (counts[slot] as number) + 1;
      counts[slot] = count;
      (reached[count] as number)++;
      if (count > most) most = count;
    }
    counts.fill(0);
    const index = length < shortest ? -1 : this.#ratio(length, most);
    reached.fill(0, 1, most + 1);
    return index;
  }

  #ratio(length: number, most: number): number {
    const reached = this.#reached;
    let inAlphabet = 0;
    let sum = 0;
    for (let k = 1; k <= most; k++) {
      inAlphabet += reached[k] as number;
      sum += (reached[k] as number) * (cLnC(k) - cLnC(k - 1));
    }
    const nLnN = cLnC(length);
    const best = this.#best(length);
    if (best <= 0) return 0;
    // Characters outside the alphabet count in the length alone, and can push the raw ratio above 1.
    const index = ((inAlphabet / length) * nLnN - sum) / best;
    if (index < SNAP) return 0;
    return index > 1 - SNAP ? 1 : index;
  }

  /** n·Hmax: of characters that are spread over the alphabet as evenly as n of them can be. */
  #best(length: number): number {
    const size = this.#size;
    const quotient = Math.floor(length / size);
    const remainder = length % size;
    return cLnC(length) - remainder * cLnC(quotient + 1) - (size - remainder) * cLnC(quotient);
  }
}

/**
 * Returns the length-relative normalised entropy index of a token: H ÷ Hmax, clamped to [0, 1].
 *
 * H = −Σ p·ln p over the token's characters that are in the alphabet, p = occurrences ÷ token length. Hmax is the
 * entropy of a token of that length whose characters are spread over the alphabet as evenly as possible.
 * Characters are code points. The index is 0 if Hmax is 0, that is, for a token of fewer than two characters or an
 * alphabet of one.
 *
 * @throws TypeError if the alphabet is empty.
 *
 * @example
 * entropyIndex('aaaa', 'abcd'); // 0
 * entropyIndex('abcd', 'abcd'); // 1
 */
export function entropyIndex(token: string, alphabet: string): number {
  checkValue('entropyIndex', 'alphabet', alphabet, NOT_EMPTY);
  return new EntropyMeter(alphabet).index(token);
}
