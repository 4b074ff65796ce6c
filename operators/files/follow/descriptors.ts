import fs from 'node:fs';
import { closeFile } from '../../support/fs-calls.ts';
import type { FollowedFile } from './followed-file.ts';

/** Half of what the process may open is for everything else. */
const SHARE = 2;
const MOST_OPEN = 8192;
/** What a process may usually open, where the system does not tell. */
const USUAL_LIMIT = 1024;

/** How many files all of this process that follow some keep open together. */
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
/** All files that are open, with whoever opened them; the one read the longest ago comes first. */
const openFiles = new Map<FollowedFile, Descriptors>();

/**
 * The open descriptors of one following: at most `limit` of them, and of all in this process together at most half of
 * what it may open, as far as that is safe. Files stay open while there is room, so that one which is rotated away can
 * be read to its end; beyond it the one that was read the longest ago is closed, whoever opened it.
 */
export class Descriptors {
  readonly #limit: number;
  /** The one read the longest ago comes first. */
  readonly #open = new Set<FollowedFile>();

  constructor(limit = Infinity) {
    this.#limit = limit;
    budget ??= descriptorBudget();
  }

  get hasRoom(): boolean {
    return this.#open.size < this.#limit && openFiles.size < (budget as number);
  }

  attach(file: FollowedFile, fd: number): void {
    if (file.fd !== undefined) {
      closeFile(fd);
      return;
    }
    if (!this.hasRoom) this.makeRoom();
    file.fd = fd;
    this.#open.add(file);
    openFiles.set(file, this);
  }

  touch(file: FollowedFile): void {
    if (!this.#open.delete(file)) return;
    this.#open.add(file);
    openFiles.delete(file);
    openFiles.set(file, this);
  }

  release(file: FollowedFile): void {
    const fd = this.#detach(file);
    if (fd !== undefined) closeFile(fd);
  }

  /** Closes a file that is gone; `deleted` is called if no name is left of it. */
  releaseGone(file: FollowedFile, deleted: () => void): void {
    const fd = this.#detach(file);
    if (fd === undefined) return;
    fs.fstat(fd, (_, stats) => {
      closeFile(fd);
      if (stats?.nlink === 0) deleted();
    });
  }

  /** Closes all but the busy ones, which whoever is busy with them has to release. */
  releaseAll(): void {
    for (const file of [...this.#open]) if (!file.isBusy) this.release(file);
  }

  #detach(file: FollowedFile): number | undefined {
    const { fd } = file;
    file.fd = undefined;
    this.#open.delete(file);
    openFiles.delete(file);
    return fd;
  }

  /** Closes the file that is missed least: one of its own if it has too many, else any. */
  makeRoom(): void {
    let victim: FollowedFile | undefined;
    for (const file of this.#open.size < this.#limit ? openFiles.keys() : this.#open) {
      // A file that is gone cannot be opened again, unless it was found by a new name.
      if (file.isBusy || (file.isGone && file.isMoved !== true)) continue;
      victim ??= file;
      if (file.isAtEnd) {
        victim = file;
        break;
      }
    }
    if (victim !== undefined) openFiles.get(victim)?.release(victim);
  }
}
