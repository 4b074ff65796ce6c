import type { InSlot } from './protocol.ts';

/** What a batch of long lines becomes when it is masked and written as JSON. */
const SLOT_BYTES = 512 * 1024;

/** Memory that is shared with one worker. What lies in it is neither copied between threads nor collected as garbage. */
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
    bytesIn(this.memory, { slot, length: bytes.length }).set(bytes);
    return { slot, length: bytes.length };
  }

  read(place: InSlot): Buffer {
    return bytesIn(this.memory, place);
  }

  free(slot: number): void {
    this.#free.push(slot);
  }
}

/** The begin of a slot, in place. */
export function bytesIn(slots: readonly SharedArrayBuffer[], { slot, length }: InSlot): Buffer {
  return Buffer.from(slots[slot] as SharedArrayBuffer, 0, length);
}
