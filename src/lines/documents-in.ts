/**
 * Documents of several writers, one behind the other: in `memory` if all have room there, otherwise elsewhere. A writer
 * gets what is left of it, and writes to its begin, or to memory of its own.
 *
 * @example
 * const write = (text) => (room) => (room.write(text), room.subarray(0, text.length));
 * documentsIn(Buffer.alloc(8), [write('{}\n'), write('[]\n')]).toString(); // '{}\n[]\n'
 */
export function documentsIn(memory: Buffer, writers: readonly ((room: Buffer) => Buffer)[]): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const write of writers) {
    const room = memory.subarray(end);
    const part = write(room);
    if (writers.length === 1) return part;
    const isThere = part.buffer === room.buffer && part.byteOffset === room.byteOffset;
    if (!isThere) part.copy(room);
    end += part.length;
    parts.push(part);
  }
  return end <= memory.length ? memory.subarray(0, end) : Buffer.concat(parts);
}
