const NOTHING = Buffer.alloc(0);

/**
 * Bytes that have come and are not read yet. A chunk is read where it is, and is copied only if a part of the one before is
 * left: into memory that doubles, so that many small chunks cost no more than one.
 */
export class ByteQueue {
  /** The bytes are those of `buffer` from `start` to before `end`. */
  buffer: Buffer = NOTHING;
  start = 0;
  end = 0;

  get length(): number {
    return this.end - this.start;
  }

  push(chunk: Buffer): void {
    if (this.length === 0) {
      this.buffer = chunk;
      this.start = 0;
      this.end = chunk.length;
      return;
    }
    const length = this.length + chunk.length;
    if (this.end + chunk.length > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length);
      larger.set(this.buffer.subarray(this.start, this.end));
      this.buffer = larger;
      this.start = 0;
      this.end = length - chunk.length;
    }
    this.buffer.set(chunk, this.end);
    this.end += chunk.length;
  }

  /** Takes bytes off the start. */
  skip(bytes: number): void {
    this.start += bytes;
    if (this.start < this.end) return;
    this.buffer = NOTHING;
    this.start = 0;
    this.end = 0;
  }

  /** The position of a byte at or after `from`, before `end`; -1 if there is none. */
  indexOf(byte: number, from: number): number {
    const at = this.buffer.indexOf(byte, from);
    return at < this.end ? at : -1;
  }
}
