import { perFileSystem } from '../../support/file-system.ts';

/** Bytes: lines are not cut below that, whatever the budget. */
const LEAST_LINE_BYTES = 4 * 1024;
const DEFAULT_BYTES = 64 * 1024 * 1024;

/** A line whose end has not come. */
export interface CuttableLine {
  readonly bytes: number;
  /** Keeps only the first half of it. */
  cut(): void;
}

/**
 * Limits the memory for reading files: unfinished lines, chunks, and memory that is kept for reuse. Beyond the limit,
 * nothing is read ahead or kept, and the longest unfinished line is cut by half.
 *
 * @example
 * const memory = new MemoryBudget(1024 * 1024);
 * memory.take(1000);
 * memory.hasRoomFor(1024 * 1024); // false
 */
export class MemoryBudget {
  limit: number;
  #used = 0;
  readonly #lines = new Set<CuttableLine>();

  constructor(limit: number) {
    this.limit = limit;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#used + bytes <= this.limit;
  }

  take(bytes: number): void {
    this.#used += bytes;
    while (this.#used > this.limit) {
      const longest = this.#longestLine();
      if (longest === undefined) return;
      longest.cut();
    }
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }

  /** A line that is held takes `bytes` more. */
  takeFor(line: CuttableLine, bytes: number): void {
    this.#lines.add(line);
    this.take(bytes);
  }

  giveAll(line: CuttableLine): void {
    if (this.#lines.delete(line)) this.give(line.bytes);
  }

  #longestLine(): CuttableLine | undefined {
    let longest: CuttableLine | undefined;
    for (const line of this.#lines) {
      if (line.bytes > (longest?.bytes ?? LEAST_LINE_BYTES)) longest = line;
    }
    return longest;
  }
}

/** {@link readMemory}, or that of a test. */
export const sharedMemory = perFileSystem(() => new MemoryBudget(DEFAULT_BYTES));

/** The default budget, which all followers of this process share. */
export const readMemory = sharedMemory();
