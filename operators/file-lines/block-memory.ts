const UNIT = 64 * 1024;
const MOST_FREE = 16;
/** Larger blocks are rare. */
const LARGEST = 8 * UNIT;

/** Memory of blocks, used again: what comes and goes as fast as files are read is much garbage to collect. */
export class BlockMemory {
  readonly #free: Buffer[] = [];
  /** As much as any block has taken yet, if it was not one of the largest: so that each fits where another was. */
  #usual = UNIT;

  /** For so many bytes, of any content. */
  take(bytes: number): Buffer {
    if (bytes > LARGEST) return Buffer.allocUnsafeSlow(bytes);
    while (bytes > this.#usual) {
      this.#usual += UNIT;
      this.#free.length = 0;
    }
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#usual);
    return memory.subarray(0, bytes);
  }

  /** What `take` gave is not needed any more. */
  give({ buffer }: Buffer): void {
    if (this.#free.length < MOST_FREE && buffer.byteLength === this.#usual)
      this.#free.push(Buffer.from(buffer));
  }
}
