import { Buffer } from 'node:buffer';

const [QUOTE, ZERO, BACKSLASH] = [0x22, 0x30, 0x5c];

/** Bytes that are written one after the other, into memory that grows. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** `capacity`: bytes that fit without another allocation. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** A part of other bytes. */
  copy(from: Buffer, start = 0, end = from.length): void {
    const { length } = this;
    this.#reserve(end - start);
    from.copy(this.#bytes, length, start, end);
    this.#length = length + end - start;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** The digits of a whole number that is not negative. */
  number(value: number): void {
    if (value >= 10) this.number(Math.floor(value / 10));
    this.byte(ZERO + (value % 10));
  }

  /** A whole number with zeros in front of it. */
  padded(value: number, digits: number): void {
    for (let least = 10 ** (digits - 1); least > 1 && value < least; least /= 10) this.byte(ZERO);
    this.number(value);
  }

  /** A part of JSON, in UTF-8, as the content of a string of JSON. */
  quoted(from: Buffer, start: number, end: number): void {
    this.#reserve((end - start) * 2);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let n = start; n < end; n++) {
      const byte = from[n] as number;
      if (byte === QUOTE || byte === BACKSLASH) bytes[at++] = BACKSLASH;
      bytes[at++] = byte;
    }
    this.#length = at;
  }

  /** What was written. */
  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
