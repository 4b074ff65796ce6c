import type { BlockMemory } from './block-memory.ts';

const NOTHING = Buffer.alloc(0);

/** Bytes of a line whose end has not come; a list, so that a long line is joined once. Keeps `limit` of them. */
export class HeldLine {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #kept = 0;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of the line, kept or not. */
  get length(): number {
    return this.#length;
  }

  /** Copies the bytes: the memory that they are in is about to be reused. */
  add(bytes: Buffer): void {
    this.#length += bytes.length;
    const kept = bytes.subarray(0, this.#limit - this.#kept);
    if (kept.length === 0) return;
    this.#pieces.push(Buffer.from(kept));
    this.#kept += kept.length;
  }

  /** The line as far as it is kept, with `end` as its last bytes; and whether that is not all of it. Begins anew. */
  take(end: Buffer = NOTHING): { line: string; isTruncated: boolean } {
    const isTruncated = this.#length + end.length > this.#limit;
    const line = Buffer.concat([...this.#pieces, end.subarray(0, this.#limit - this.#kept)]).toString();
    this.clear();
    return { line, isTruncated };
  }

  /** Whether all of the line would be kept if its last `length` bytes were these. */
  hasRoomFor(length: number): boolean {
    return this.#length + length <= this.#limit;
  }

  /** Copies the bytes kept, and `rest` behind them. Begins anew. */
  takeBytes(rest: Buffer, memory: BlockMemory): Buffer {
    const bytes = memory.take(this.#kept + rest.length);
    let end = 0;
    for (const piece of this.#pieces) end += piece.copy(bytes, end);
    rest.copy(bytes, end);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#pieces = [];
    this.#kept = 0;
    this.#length = 0;
  }
}
