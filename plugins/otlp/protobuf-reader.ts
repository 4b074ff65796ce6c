import { isUtf8 } from 'node:buffer';

/** Bytes that are no message of protobuf. Its message holds nothing of them. */
export class MalformedMessage extends Error {}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

const LARGEST_BYTE = 0x7f;
const MOST_VARINT_BYTES = 10;

/** Reads one message of protobuf, a field after the other. */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;
  /** Of the field that {@link next} found. */
  number = 0;
  wire = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Reads the same fields again. */
  copy(): ProtobufReader {
    return new ProtobufReader(this.#bytes, this.#at, this.#end);
  }

  /** Goes to the next field; false at the end. */
  next(): boolean {
    if (this.#at === this.#end) return false;
    const tag = this.uint32();
    this.number = tag >>> 3;
    this.wire = tag & 7;
    if (this.number === 0) throw new MalformedMessage('a field has the number 0');
    return true;
  }

  /** @throws MalformedMessage if the field is not written in this way */
  expect(wire: number): void {
    if (this.wire !== wire) throw new MalformedMessage(`the field ${this.number} has another type`);
  }

  skip(): void {
    if (this.wire === VARINT) this.uint32();
    else if (this.wire === FIXED64) this.#advance(8);
    else if (this.wire === BYTES) this.#advance(this.uint32());
    else if (this.wire === FIXED32) this.#advance(4);
    else throw new MalformedMessage(`the field ${this.number} has an unknown type`);
  }

  /** The lower 32 bits of a varint. */
  uint32(): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let read = 0; read < MOST_VARINT_BYTES; read++) {
      if (this.#at >= this.#end) break;
      const byte = bytes[this.#at++] as number;
      if (read < 5) value |= (byte & LARGEST_BYTE) << (7 * read);
      if (byte <= LARGEST_BYTE) return value >>> 0;
    }
    throw new MalformedMessage('a number has no end');
  }

  /** A varint of 64 bits with a sign. */
  int64(): number | bigint {
    const first = this.#bytes[this.#at] as number;
    if (this.#at < this.#end && first <= LARGEST_BYTE) {
      this.#at++;
      return first;
    }
    let value = 0n;
    for (let read = 0; read < MOST_VARINT_BYTES; read++) {
      if (this.#at >= this.#end) break;
      const byte = this.#bytes[this.#at++] as number;
      value |= BigInt(byte & LARGEST_BYTE) << BigInt(7 * read);
      if (byte <= LARGEST_BYTE) return BigInt.asIntN(64, value);
    }
    throw new MalformedMessage('a number has no end');
  }

  fixed32(): number {
    return this.#bytes.readUInt32LE(this.#advance(4));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#advance(8));
  }

  /** Bytes as text. */
  encoded(encoding: 'hex' | 'base64'): string {
    const length = this.uint32();
    const start = this.#advance(length);
    return this.#bytes.toString(encoding, start, start + length);
  }

  string(): string {
    const length = this.uint32();
    const start = this.#advance(length);
    const text = this.#bytes.toString('utf8', start, start + length);
    if (text.includes('\ufffd') && !isUtf8(this.#bytes.subarray(start, start + length)))
      throw new MalformedMessage('a string is not UTF-8');
    return text;
  }

  /** The message in a field. */
  message(): ProtobufReader {
    const length = this.uint32();
    const start = this.#advance(length);
    return new ProtobufReader(this.#bytes, start, start + length);
  }

  /** Returns the offset of the bytes that were passed. */
  #advance(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) throw new MalformedMessage('a field goes beyond the end of its message');
    this.#at = start + length;
    return start;
  }
}

/** A field of a message: a number, or bytes. */
export interface ProtobufField {
  readonly field: number;
  readonly value: number | Buffer;
}

/** The fields of a message. Undefined if it is not one. Numbers are exact up to 2^53. */
export function protobufFields(bytes: Buffer): readonly ProtobufField[] | undefined {
  const fields: ProtobufField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; at < bytes.length; shift *= 128) {
      const byte = bytes[at++] as number;
      value += (byte % 128) * shift;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const type = tag % 8;
    if (type === VARINT) {
      fields.push({ field, value: varint() });
      continue;
    }
    const length = type === BYTES ? varint() : type === FIXED64 ? 8 : type === FIXED32 ? 4 : Number.NaN;
    if (!(at + length <= bytes.length)) return undefined;
    fields.push({ field, value: bytes.subarray(at, at + length) });
    at += length;
  }
  return fields;
}
