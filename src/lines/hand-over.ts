/**
 * `bytes` with a buffer of their own, which can be handed to another thread; copied only if they have none. A small
 * `Buffer` lies in a pool together with others: Node refuses to hand that over, up to 20 silently, since with an error.
 *
 * @example
 * const bytes = alone(Buffer.from('a'));
 * bytes.buffer.byteLength; // 1
 * structuredClone(bytes, { transfer: [bytes.buffer] }).length; // 1
 */
export function alone(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isAlone = bytes.byteLength === bytes.buffer.byteLength;
  return isAlone ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
