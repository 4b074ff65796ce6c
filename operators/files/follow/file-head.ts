import { type Fingerprint, fingerprintOf, HEAD_BYTES, hasFingerprint } from './fingerprint.ts';
import { type Foreign, foreignFormat } from './foreign-format.ts';

const NOTHING = Buffer.alloc(0);

/** The first bytes of one file, as far as they are known, and the fingerprint that they give. */
export class FileHead {
  #bytes: Buffer;
  #fingerprint: Fingerprint | undefined;
  /** Null if these bytes were not looked at. */
  #foreign: Foreign | undefined | null = null;

  /** `expected`: the fingerprint from before, as long as the bytes are not known. */
  constructor(bytes: Buffer | undefined, expected?: Fingerprint) {
    this.#bytes = bytes ?? NOTHING;
    if (bytes === undefined) this.#fingerprint = expected;
  }

  get fingerprint(): Fingerprint {
    this.#fingerprint ??= fingerprintOf(this.#bytes);
    return this.#fingerprint;
  }

  /** What the file is if it is no UTF-8 text, as far as its first bytes tell. */
  get foreign(): Foreign | undefined {
    if (this.#foreign === null) this.#foreign = foreignFormat(this.#bytes);
    return this.#foreign;
  }

  /** Whether a file that begins with `bytes` can be this one. Then they are known from now on. */
  accept(bytes: Buffer): boolean {
    if (!hasFingerprint(bytes, this.fingerprint)) return false;
    this.#become(bytes);
    return true;
  }

  /**
   * `chunk` was read at `position`; it is copied, as far as it adds something. What is read first, at position 0, is what
   * the file begins with, whatever it began with when it was found.
   */
  add(chunk: Buffer, position: number): void {
    if (position === 0 && !this.#agreesWith(chunk)) this.clear();
    const known = this.#bytes.length;
    if (known >= HEAD_BYTES || position > known) return;
    const rest = chunk.subarray(known - position, HEAD_BYTES - position);
    if (rest.length === 0) return;
    this.#become(Buffer.concat([this.#bytes, rest]));
  }

  #agreesWith(chunk: Buffer): boolean {
    const length = Math.min(chunk.length, this.#bytes.length);
    return chunk.compare(this.#bytes, 0, length, 0, length) === 0;
  }

  clear(): void {
    this.#become(NOTHING);
  }

  #become(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#fingerprint = undefined;
    this.#foreign = null;
  }
}
