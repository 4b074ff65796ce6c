import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { LruMap, nameOfRule } from '../../operators/internal-redact.ts';

// Pseudonyms: `<:EMAIL_1:>` for the first e-mail address, and the same for the same address each time.

/** The most values whose pseudonyms are remembered. */
const MOST_VALUES = 100_000;
/** Hexadecimal digits of a value's hash in the table of a session: no two values have the same. */
const DIGITS_IN_TABLE = 32;

/** What the names of rules say about where a value is, and not what it is. */
const PLACE = /-(?:field|named|number|in-\w+)$/;

/**
 * What a pseudonym says of the kind of its value.
 *
 * @example
 * labelOf('pii/identity:us-ssn-named'); // 'US_SSN'
 */
export function labelOf(rule: string): string {
  const name = nameOfRule(rule).replace(PLACE, '');
  const label = name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return /^[A-Z]/.test(label) ? label : `VALUE_${label}`;
}

/** Whether a text is a pseudonym with a number, or with a hash of so many digits. */
export function isPseudonym(text: string, kind: 'session' | number): boolean {
  const [, , id] = /^<:([A-Z][A-Z0-9_]{0,100})_([0-9a-f]{1,64}):>$/.exec(text) ?? [];
  if (id === undefined) return false;
  return kind === 'session' ? /^[1-9]\d{0,14}$/.test(id) : id.length === kind;
}

/** A hash of values, as hexadecimal digits. Nobody can compute it, or find out a value by trying many, without the key. */
export function keyedHash(key: string | Uint8Array): (value: string) => string {
  const keyed = hmac.create(sha256, typeof key === 'string' ? utf8ToBytes(key) : key);
  return (value) => bytesToHex(keyed.clone().update(utf8ToBytes(value)).digest());
}

/** Pseudonyms with a hash: the same under the same key in every process, and in every worker. */
export function keyedPseudonyms(key: string, length: number): (value: string, rule: string) => string {
  const hashOf = keyedHash(key);
  return (value, rule) => `<:${labelOf(rule)}_${hashOf(value).slice(0, length)}:>`;
}

/**
 * Pseudonyms that are counted: the same for as long as this object is used. It remembers hashes of values under a random key, not
 * values, so that no dump of the memory has them. A value that was not seen among the last `most` others gets a new number.
 * No number is used for two values.
 *
 * @example
 * const pseudonyms = new SessionPseudonyms();
 * pseudonyms.of('ada@example.org', 'pii/contact:email'); // '<:EMAIL_1:>'
 * pseudonyms.of('bob@example.org', 'pii/contact:email'); // '<:EMAIL_2:>'
 */
export class SessionPseudonyms {
  readonly #hashOf = keyedHash(crypto.getRandomValues(new Uint8Array(32)));
  readonly #known: LruMap<string, string>;
  readonly #counts = new Map<string, number>();

  constructor(most = MOST_VALUES) {
    this.#known = new LruMap(most);
  }

  of(value: string, rule: string): string {
    const label = labelOf(rule);
    const key = `${label} ${this.#hashOf(value).slice(0, DIGITS_IN_TABLE)}`;
    let pseudonym = this.#known.get(key);
    if (pseudonym === undefined) {
      const number = (this.#counts.get(label) ?? 0) + 1;
      this.#counts.set(label, number);
      pseudonym = `<:${label}_${number}:>`;
      this.#known.set(key, pseudonym);
    }
    return pseudonym;
  }
}
