import type { MemoryBudget } from './memory-budget.ts';

const UNIT = 64 * 1024;
/** Smaller blocks are not used again: a batch of one line must not hold a whole unit. */
const LEAST = 4096;
const MOST_FREE = 16;
/** Larger blocks are rare, and not used again either. */
const LARGEST = 32 * UNIT;

/**
 * Reuses the memory of blocks: files are read so fast that new memory for each block would be a lot of garbage to collect.
 * Free memory counts in `budget`.
 */
export class BlockMemory {
  readonly #budget: MemoryBudget | undefined;
  readonly #free: Buffer[] = [];
  /** The size of the blocks that are kept: that of the largest so far, so that each fits in the memory of another. */
  #usual = UNIT;
  #isClosed = false;

  constructor(budget?: MemoryBudget) {
    this.#budget = budget;
  }

  take(bytes: number): Buffer {
    if (bytes < LEAST || bytes > LARGEST) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.#usual) {
      this.#drop();
      this.#usual = Math.ceil(bytes / UNIT) * UNIT;
    }
    const free = this.#free.pop();
    if (free !== undefined) this.#budget?.give(free.length);
    return (free ?? Buffer.allocUnsafeSlow(this.#usual)).subarray(0, bytes);
  }

  give({ buffer }: Buffer): void {
    const bytes = buffer.byteLength;
    if (this.#isClosed || this.#free.length >= MOST_FREE || bytes !== this.#usual) return;
    if (this.#budget?.hasRoomFor(bytes) === false) return;
    this.#budget?.take(bytes);
    this.#free.push(Buffer.from(buffer));
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    for (const { length } of this.#free.splice(0)) this.#budget?.give(length);
  }
}

/** Memory that is taken for one batch, and given back together. */
export class BlockLease {
  readonly #memory: BlockMemory;
  readonly #taken: Buffer[] = [];

  constructor(memory: BlockMemory) {
    this.#memory = memory;
  }

  take(bytes: number): Buffer {
    const taken = this.#memory.take(bytes);
    this.#taken.push(taken);
    return taken;
  }

  giveBack(): void {
    for (const taken of this.#taken.splice(0)) this.#memory.give(taken);
  }
}
