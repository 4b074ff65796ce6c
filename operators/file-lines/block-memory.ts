/** So that blocks of nearly one size fit into each other's memory. */
const UNIT = 64 * 1024;
const MOST_FREE = 16;
/** Larger blocks are rare. */
const LARGEST = 8 * UNIT;

/** Memory of blocks, used again: what comes and goes as fast as files are read is much garbage to collect. */
export class BlockMemory {
  readonly #free: Buffer[] = [];

  /** For so many bytes, of any content. */
  take(bytes: number): Buffer {
    const last = this.#free.pop();
    if (last !== undefined && last.length >= bytes) return last.subarray(0, bytes);
    return Buffer.allocUnsafeSlow(Math.ceil(bytes / UNIT) * UNIT).subarray(0, bytes);
  }

  /** What `take` gave is not needed any more. */
  give({ buffer }: Buffer): void {
    if (this.#free.length < MOST_FREE && buffer.byteLength <= LARGEST) this.#free.push(Buffer.from(buffer));
  }
}
