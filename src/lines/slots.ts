import type { InSlot } from './protocol.ts';

/** What a batch of long lines becomes when it is masked and written as JSON. */
const SLOT_BYTES = 1024 * 1024;

/**
 * Memory that is shared with one worker. What lies in it is neither copied between threads nor collected as garbage. It
 * is not part of a `BlockMemory`, because a worker gets all memory that it shares when it starts, and a task and its
 * result name it by number.
 */
export class Slots {
  readonly memory: readonly SharedArrayBuffer[];
  readonly #free: number[];

  constructor(count: number) {
    this.memory = Array.from({ length: count }, () => new SharedArrayBuffer(SLOT_BYTES));
    this.#free = this.memory.map((_, slot) => slot);
  }

  /** Puts bytes into a free slot; undefined if there is none, or they have no room in it. */
  put(bytes: Uint8Array): InSlot | undefined {
    if (bytes.length > SLOT_BYTES) return undefined;
    const slot = this.#free.pop();
    if (slot === undefined) return undefined;
    const { lines } = areasOf(this.memory[slot] as SharedArrayBuffer, bytes.length);
    lines.set(bytes);
    return { slot, length: bytes.length };
  }

  /** The documents that a worker has written to a slot. */
  read({ slot, length }: InSlot): Buffer {
    return Buffer.from(this.memory[slot] as SharedArrayBuffer, 0, length);
  }

  free(slot: number): void {
    this.#free.push(slot);
  }
}

/** A slot with lines of so many bytes, which lie at its end, and what is free for documents: they do not meet. */
export function areasOf(memory: SharedArrayBuffer, length: number): { lines: Buffer; free: Buffer } {
  const begin = memory.byteLength - length;
  return { lines: Buffer.from(memory, begin, length), free: Buffer.from(memory, 0, begin) };
}

/**
 * `bytes` with a buffer of their own, which can be handed to another thread; copied only if they have none. A small
 * `Buffer` lies in a pool together with others: Node refuses to hand that over, up to 20 silently, since with an error.
 *
 * @example
 * const bytes = withOwnBuffer(Buffer.from('a'));
 * bytes.buffer.byteLength; // 1
 * structuredClone(bytes, { transfer: [bytes.buffer] }).length; // 1
 */
export function withOwnBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isAlone = bytes.byteLength === bytes.buffer.byteLength;
  return isAlone ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
