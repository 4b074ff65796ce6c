/** Bytes: log lines differ in them, if only by their times. */
export const OVERLAP_BYTES = 64;

/**
 * The last bytes that were read of one file. They are read again with the next ones: if they are others by then, the
 * file was truncated meanwhile and has grown past where it was, which its size does not show.
 */
export class Overlap {
  readonly #bytes = Buffer.alloc(OVERLAP_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Whether what was read, from `length` bytes before the offset on, begins as it did before. */
  matches(read: Buffer): boolean {
    return read.length >= this.#length && this.#bytes.compare(read, 0, this.#length, 0, this.#length) === 0;
  }

  /** `chunk` was read behind the bytes that are known. */
  add(chunk: Buffer): void {
    const kept = Math.min(this.#length, Math.max(0, OVERLAP_BYTES - chunk.length));
    this.#bytes.copyWithin(0, this.#length - kept, this.#length);
    const added = chunk.subarray(-OVERLAP_BYTES);
    added.copy(this.#bytes, kept);
    this.#length = kept + added.length;
  }

  clear(): void {
    this.#length = 0;
  }
}
