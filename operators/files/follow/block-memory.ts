import type { MemoryBudget } from './memory-budget.ts';

const UNIT = 64 * 1024;
const MOST_FREE = 16;
/** Larger blocks are rare. */
const LARGEST = 16 * UNIT;

/**
 * Memory of blocks, used again: what comes and goes as fast as files are read is much garbage to collect. What is free
 * counts in `budget`.
 */
export class BlockMemory {
  readonly #budget: MemoryBudget | undefined;
  readonly #free: Buffer[] = [];
  /** As much as any block has taken yet, if it was not one of the largest: so that each fits where another was. */
  #usual = UNIT;
  #isClosed = false;

  constructor(budget?: MemoryBudget) {
    this.#budget = budget;
  }

  /** For so many bytes, of any content. */
  take(bytes: number): Buffer {
    if (bytes > LARGEST) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.#usual) {
      this.#drop();
      this.#usual = Math.ceil(bytes / UNIT) * UNIT;
    }
    const free = this.#free.pop();
    if (free !== undefined) this.#budget?.give(free.length);
    return (free ?? Buffer.allocUnsafeSlow(this.#usual)).subarray(0, bytes);
  }

  /** What `take` gave is not needed any more. */
  give({ buffer }: Buffer): void {
    const bytes = buffer.byteLength;
    if (this.#isClosed || this.#free.length >= MOST_FREE || bytes !== this.#usual) return;
    if (this.#budget?.hasRoomFor(bytes) === false) return;
    this.#budget?.take(bytes);
    this.#free.push(Buffer.from(buffer));
  }

  /** Keeps nothing any more. */
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

  /** For so many bytes, of any content. */
  take(bytes: number): Buffer {
    const taken = this.#memory.take(bytes);
    this.#taken.push(taken);
    return taken;
  }

  giveBack(): void {
    for (const taken of this.#taken.splice(0)) this.#memory.give(taken);
  }
}
