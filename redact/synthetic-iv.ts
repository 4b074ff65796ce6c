import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const IV_LENGTH = 16;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
/** Longer values have no pseudonym: a model would not repeat it. */
const LONGEST = 1024;

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Deterministic authenticated encryption of short texts, in letters and digits that a language model repeats as they are.
 *
 * This is the SIV construction of Rogaway and Shrimpton (“Deterministic Authenticated-Encryption”, EUROCRYPT 2006; RFC 5297 is the one
 * with AES). Both of its parts are HMAC-SHA-256, because AES of WebCrypto is asynchronous and masking is not: the initialization
 * vector is the HMAC of the label and the text, truncated to 128 bits, and the text is encrypted by the HMACs of that vector with
 * a counter. The keys of both are derived by HKDF (RFC 5869).
 */
export class SyntheticIv {
  readonly #ivKey: Uint8Array;
  readonly #streamKey: Uint8Array;

  constructor(key: string | Uint8Array) {
    const secret = typeof key === 'string' ? utf8ToBytes(key) : key;
    const derive = (purpose: string) =>
      hkdf(sha256, secret, undefined, utf8ToBytes(`millrace pseudonyms 1 ${purpose}`), 32);
    this.#ivKey = derive('iv');
    this.#streamKey = derive('stream');
  }

  /** Undefined for a text that is too long, or that UTF-8 cannot encode. */
  seal(label: string, text: string): string | undefined {
    const plain = utf8ToBytes(text);
    if (plain.length > LONGEST || !text.isWellFormed()) return undefined;
    const iv = this.#iv(label, plain);
    return toBase32(concatBytes(iv, this.#crypt(iv, plain)));
  }

  /** Undefined for a text that was not sealed with this key and label. */
  open(label: string, sealed: string): string | undefined {
    const bytes = fromBase32(sealed);
    if (bytes === undefined || bytes.length < IV_LENGTH) return undefined;
    const iv = bytes.subarray(0, IV_LENGTH);
    const plain = this.#crypt(iv, bytes.subarray(IV_LENGTH));
    return isEqual(iv, this.#iv(label, plain)) ? utf8.decode(plain) : undefined;
  }

  #iv(label: string, plain: Uint8Array): Uint8Array {
    return hmac(sha256, this.#ivKey, concatBytes(utf8ToBytes(`${label}\0`), plain)).subarray(0, IV_LENGTH);
  }

  #crypt(iv: Uint8Array, text: Uint8Array): Uint8Array {
    const result = text.slice();
    for (let start = 0, block = 0; start < text.length; start += 32, block++) {
      const stream = hmac(sha256, this.#streamKey, concatBytes(iv, Uint8Array.of(block)));
      for (let i = start; i < Math.min(start + 32, text.length); i++) {
        result[i] = (text[i] as number) ^ (stream[i - start] as number);
      }
    }
    return result;
  }
}

/** In a time that says nothing of where they differ. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number);
  return difference === 0;
}

/** RFC 4648, in small letters and without padding. */
function toBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

/** Undefined for what {@link toBase32} does not write. */
function fromBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let held = 0;
  let length = 0;
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter);
    if (digit === -1) return undefined;
    held = ((held << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (held >> bits) & 255;
  }
  return toBase32(bytes) === text ? bytes : undefined;
}
