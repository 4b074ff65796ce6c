import type { BlockLease } from './block-memory.ts';
import type { CuttableLine, MemoryBudget } from './memory-budget.ts';

const NOTHING = Buffer.alloc(0);
const LEAST_MEMORY = 256;

/** Bytes of a line whose end has not come. Keeps `limit` of them at most, fewer if `budget` is used up. */
export class PartialLine implements CuttableLine {
  readonly #most: number;
  readonly #budget: MemoryBudget | undefined;
  /** Lower than `most` once the line was cut. */
  #limit: number;
  /** Grows by doubling, so that a line of many small writes takes no more memory than one of few. */
  #memory = NOTHING;
  #kept = 0;
  #length = 0;

  constructor(limit: number, budget?: MemoryBudget) {
    this.#most = limit;
    this.#limit = limit;
    this.#budget = budget;
  }

  /** Bytes of the line, kept or not. */
  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#memory.length;
  }

  /** Copies the bytes: the memory that they are in is about to be reused. */
  add(bytes: Buffer): void {
    this.#length += bytes.length;
    const kept = Math.min(bytes.length, this.#limit - this.#kept);
    if (kept <= 0) return;
    const wanted = this.#kept + kept;
    if (wanted > this.bytes) {
      this.#resize(Math.max(LEAST_MEMORY, Math.min(this.#most, Math.max(wanted, 2 * this.bytes))));
    }
    // It may have been cut for that.
    this.#kept += bytes.copy(
      this.#memory,
      this.#kept,
      0,
      Math.min(kept, Math.max(0, this.#limit - this.#kept)),
    );
  }

  /** Keeps the first half only, and nothing of what comes. */
  cut(): void {
    this.#kept = Math.min(this.#kept, this.bytes >>> 1);
    this.#limit = this.#kept;
    this.#resize(this.bytes >>> 1);
  }

  /** Whether all of the line would be kept if its last `length` bytes were these. */
  hasRoomFor(length: number): boolean {
    return this.#length + length <= this.#limit;
  }

  /** How many more bytes would be kept. */
  get room(): number {
    return this.#limit - this.#kept;
  }

  /** Copies the bytes kept, and `rest` behind them. The next line starts empty. */
  take(rest: Buffer, memory: BlockLease): Buffer {
    const bytes = memory.take(this.#kept + rest.length);
    const end = this.#memory.copy(bytes, 0, 0, this.#kept);
    rest.copy(bytes, end);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#budget?.giveAll(this);
    this.#memory = NOTHING;
    this.#limit = this.#most;
    this.#kept = 0;
    this.#length = 0;
  }

  #resize(bytes: number): void {
    const more = bytes - this.bytes;
    const memory = Buffer.allocUnsafeSlow(bytes);
    this.#memory.copy(memory, 0, 0, this.#kept);
    this.#memory = memory;
    if (more > 0) this.#budget?.takeFor(this, more);
    else this.#budget?.give(-more);
  }
}
