// Writes protobuf by hand, so that a decoder is not checked with tables of its own.

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}
const tag = (number: number, wire: number) => varint(BigInt((number << 3) | wire));
export const bytes = (number: number, content: string | Uint8Array) => {
  const buffer = Buffer.from(content as string);
  return Buffer.concat([tag(number, 2), varint(BigInt(buffer.length)), buffer]);
};
export const int = (number: number, value: bigint) => Buffer.concat([tag(number, 0), varint(value)]);
export const fixed64 = (number: number, value: bigint) => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(value);
  return Buffer.concat([tag(number, 1), buffer]);
};
export const fixed32 = (number: number, value: number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return Buffer.concat([tag(number, 5), buffer]);
};
export const double = (number: number, value: number) => {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleLE(value);
  return Buffer.concat([tag(number, 1), buffer]);
};
export const all = (...parts: readonly Buffer[]) => Buffer.concat(parts);
export const keyValue = (number: number, key: string, any: Buffer) =>
  bytes(number, all(bytes(1, key), bytes(2, any)));
export const string = (text: string) => bytes(1, text);
