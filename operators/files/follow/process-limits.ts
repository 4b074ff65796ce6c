import fs from 'node:fs';
import { closeFile, fileSystem, perFileSystem } from '../../support/file-system.ts';
import type { FollowedFile } from './followed-files.ts';

/** Half of what the process may open is for everything else. */
const SHARE = 2;
const MOST_OPEN = 8192;
/** The usual limit of open files, if the system does not tell. */
const USUAL_LIMIT = 1024;

/** How many files all sessions of this process keep open together. */
function descriptorBudget(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(limitsOfProcess())?.[1];
  return Math.max(1, Math.min(MOST_OPEN, Math.floor(Number(limit ?? USUAL_LIMIT) / SHARE)));
}

function limitsOfProcess(): string {
  try {
    return fs.readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

let budget: number | undefined;
/** All open files with their owners, the least recently read first. */
const openFiles = perFileSystem(() => new Map<FollowedFile, Descriptors>());

/**
 * The open descriptors of one session: at most `limit`, and over all sessions of the process at most half of what it may
 * open. Files stay open while there is room, so that a rotated file can be read to its end. Beyond the limit the least
 * recently read file of any session is closed.
 */
export class Descriptors {
  readonly #limit: number;
  readonly #open = new Set<FollowedFile>();

  constructor(limit = Infinity) {
    this.#limit = limit;
    budget ??= descriptorBudget();
  }

  get hasRoom(): boolean {
    return this.#open.size < this.#limit && openFiles().size < (budget as number);
  }

  attach(file: FollowedFile, fd: number): void {
    if (file.fd !== undefined) {
      closeFile(fd);
      return;
    }
    if (!this.hasRoom) this.makeRoom();
    file.fd = fd;
    this.#open.add(file);
    openFiles().set(file, this);
  }

  touch(file: FollowedFile): void {
    if (!this.#open.delete(file)) return;
    this.#open.add(file);
    openFiles().delete(file);
    openFiles().set(file, this);
  }

  release(file: FollowedFile): void {
    const fd = this.#detach(file);
    if (fd !== undefined) closeFile(fd);
  }

  /** Closes a file that is gone; `deleted` is called if no name is left of it. */
  releaseGone(file: FollowedFile, deleted: () => void): void {
    const fd = this.#detach(file);
    if (fd === undefined) return;
    fileSystem.fstat(fd, (_, stats) => {
      closeFile(fd);
      if (stats?.nlink === 0) deleted();
    });
  }

  /** Closes all but the busy ones, which are released when their operation ends. */
  releaseAll(): void {
    for (const file of [...this.#open]) if (!file.isBusy) this.release(file);
  }

  #detach(file: FollowedFile): number | undefined {
    const { fd } = file;
    file.fd = undefined;
    this.#open.delete(file);
    openFiles().delete(file);
    return fd;
  }

  /** Closes the least recently read file that is at its end: one of its own if it has too many, otherwise any. */
  makeRoom(): void {
    let victim: FollowedFile | undefined;
    for (const file of this.#open.size < this.#limit ? openFiles().keys() : this.#open) {
      // A file that is gone cannot be opened again, unless it was found by a new name.
      if (file.isBusy || (file.isGone && file.isMoved !== true)) continue;
      victim ??= file;
      if (file.isAtEnd) {
        victim = file;
        break;
      }
    }
    if (victim !== undefined) openFiles().get(victim)?.release(victim);
  }
}

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
