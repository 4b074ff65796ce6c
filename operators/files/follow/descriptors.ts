import fs from 'node:fs';
import { closeFile, fileSystem, perFileSystem } from '../../support/file-system.ts';
import type { FollowedFile } from './followed-file.ts';

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
