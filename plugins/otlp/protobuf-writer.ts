import { Buffer } from 'node:buffer';
import { BYTES, FIXED32, FIXED64, VARINT } from './protobuf-reader.ts';

/**
 * Writes messages of Protocol Buffers. The length of a message stands in front of it, so a message is written from its end to
 * its start, and its fields in the opposite order.
 */
export class ProtobufWriter {
  #bytes: Buffer;
  /** Of the same bytes: V8 writes a number of 64 bits through it without a call. */
  #view: DataView;
  #start: number;

  /** `capacity`: bytes that fit without another allocation. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
    this.#view = viewOf(this.#bytes);
    this.#start = capacity;
  }

  /** What was written. */
  done(): Buffer {
    return this.#bytes.subarray(this.#start);
  }

  /** A field that is a message, whose fields `write` writes. */
  message(field: number, write: () => void): void {
    const end = this.#bytes.length - this.#start;
    write();
    this.#varint(this.#bytes.length - this.#start - end);
    this.#tag(field, BYTES);
  }

  /** Fields that are encoded already. */
  encoded(fields: Buffer): void {
    this.#reserve(fields.length);
    this.#start -= fields.length;
    fields.copy(this.#bytes, this.#start);
  }

  string(field: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#start -= length;
    this.#bytes.write(text, this.#start, length);
    this.#varint(length);
    this.#tag(field, BYTES);
  }

  /** Bytes, in hexadecimal. */
  hex(field: number, digits: string): void {
    const length = digits.length / 2;
    this.#reserve(length);
    this.#start -= length;
    this.#bytes.write(digits, this.#start, 'hex');
    this.#varint(length);
    this.#tag(field, BYTES);
  }

  /** A whole number of up to 64 bits, which may be negative. */
  integer(field: number, value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) this.#varint(value);
    else this.#longVarint(BigInt.asUintN(64, BigInt(value)));
    this.#tag(field, VARINT);
  }

  double(field: number, value: number): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#view.setFloat64(this.#start, value, true);
    this.#tag(field, FIXED64);
  }

  fixed32(field: number, value: number): void {
    this.#reserve(4);
    this.#start -= 4;
    this.#view.setUint32(this.#start, value, true);
    this.#tag(field, FIXED32);
  }

  fixed64(field: number, value: bigint): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#view.setBigUint64(this.#start, value, true);
    this.#tag(field, FIXED64);
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type);
  }

  #varint(value: number): void {
    if (value < 128) {
      this.#reserve(1);
      this.#bytes[--this.#start] = value;
      return;
    }
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++;
    this.#reserve(length);
    this.#start -= length;
    let rest = value;
    for (let at = this.#start; ; at++) {
      const isLast = rest < 128;
      this.#bytes[at] = (rest % 128) + (isLast ? 0 : 128);
      if (isLast) return;
      rest = Math.floor(rest / 128);
    }
  }

  #longVarint(value: bigint): void {
    const digits: number[] = [];
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) digits.push(Number(rest & 127n) + 128);
    digits.push(Number(rest));
    this.#reserve(digits.length);
    this.#start -= digits.length;
    this.#bytes.set(digits, this.#start);
  }

  #reserve(count: number): void {
    if (count <= this.#start) return;
    const used = this.done();
    const size = Math.max(this.#bytes.length * 2, used.length + count);
    const larger = Buffer.allocUnsafe(size);
    used.copy(larger, size - used.length);
    this.#bytes = larger;
    this.#view = viewOf(larger);
    this.#start = size - used.length;
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer) => new DataView(buffer, byteOffset, byteLength);
