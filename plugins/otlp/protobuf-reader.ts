import { isUtf8 } from 'node:buffer';
import type { ByteWriter } from '../http/byte-writer.ts';

/** Bytes that are no message of protobuf. The message of the error never contains them. */
export class MalformedMessage extends Error {}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

const LARGEST_BYTE = 0x7f;
const MOST_VARINT_BYTES = 10;
/** JavaScript has numbers of seven bytes exactly. */
const FIRST_LARGE_FACTOR = 2 ** 49;
const QUOTE = 0x22;
/** A prime number. */
const HASH_FACTOR = 16_777_619;

/** Reads one message of protobuf, a field after the other. */
export class ProtobufReader {
  readonly #view: DataView;
  #at: number;
  readonly #end: number;
  /** Of the field that {@link next} found. */
  number = 0;
  wire = 0;

  constructor(view: DataView, start = 0, end = view.byteLength) {
    this.#view = view;
    this.#at = start;
    this.#end = end;
  }

  /** Where it reads, which is valid in this message alone. */
  get position(): number {
    return this.#at;
  }

  set position(position: number) {
    this.#at = position;
  }

  /** Goes to the field at a place. */
  goTo(place: number): this {
    this.#at = place;
    this.next();
    return this;
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
    const view = this.#view;
    let value = 0;
    for (let read = 0; read < MOST_VARINT_BYTES; read++) {
      if (this.#at >= this.#end) break;
      const byte = view.getUint8(this.#at++);
      if (read < 5) value |= (byte & LARGEST_BYTE) << (7 * read);
      if (byte <= LARGEST_BYTE) return value >>> 0;
    }
    throw new MalformedMessage('a number has no end');
  }

  /** A varint of 64 bits with a sign. */
  int64(): number | bigint {
    const start = this.#at;
    let small = 0;
    for (let factor = 1; factor < FIRST_LARGE_FACTOR && this.#at < this.#end; factor *= 128) {
      const byte = this.#view.getUint8(this.#at++);
      small += (byte & LARGEST_BYTE) * factor;
      if (byte <= LARGEST_BYTE) return small;
    }
    this.#at = start;
    let value = 0n;
    for (let read = 0; read < MOST_VARINT_BYTES; read++) {
      if (this.#at >= this.#end) break;
      const byte = this.#view.getUint8(this.#at++);
      value |= BigInt(byte & LARGEST_BYTE) << BigInt(7 * read);
      if (byte <= LARGEST_BYTE) return BigInt.asIntN(64, value);
    }
    throw new MalformedMessage('a number has no end');
  }

  fixed32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Bytes as text. */
  base64(): string {
    const length = this.uint32();
    const start = this.#advance(length);
    return this.#part(start, length).toString('base64');
  }

  /** Writes bytes as a string of JSON with hexadecimal digits. */
  copyHex(json: ByteWriter): void {
    const length = this.uint32();
    const start = this.#advance(length);
    json.byte(QUOTE);
    json.hex(this.#view, start, start + length);
    json.byte(QUOTE);
  }

  string(): string {
    const length = this.uint32();
    const part = this.#part(this.#advance(length), length);
    expectUtf8(part);
    return part.toString();
  }

  /** Writes a string as JSON. */
  copyString(json: ByteWriter): void {
    const length = this.uint32();
    const start = this.#advance(length);
    const isAscii = json.string(this.#view, start, start + length);
    if (!isAscii) expectUtf8(this.#part(start, length));
  }

  /** A number of 32 bits for the bytes of a field; other bytes have another one, as a rule. */
  hash(): number {
    const length = this.uint32();
    const start = this.#advance(length);
    let hash = 0;
    for (let at = start; at < start + length; at++)
      hash = (Math.imul(hash, HASH_FACTOR) + this.#view.getUint8(at)) | 0;
    return hash;
  }

  /** The message in a field. */
  message(): ProtobufReader {
    const length = this.uint32();
    const start = this.#advance(length);
    return new ProtobufReader(this.#view, start, start + length);
  }

  #part(start: number, length: number): Buffer {
    const { buffer, byteOffset } = this.#view;
    return Buffer.from(buffer, byteOffset + start, length);
  }

  /** Returns the offset of the bytes that were passed. */
  #advance(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) throw new MalformedMessage('a field goes beyond the end of its message');
    this.#at = start + length;
    return start;
  }
}

function expectUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new MalformedMessage('a string is not UTF-8');
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
