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
  readonly #open = new Map<FollowedFile, number>();
  /** How many operations are under way on a file: its descriptor must stay open, for its number could be used again. */
  readonly #busy = new Map<FollowedFile, number>();
  #isClosed = false;

  constructor(limit = Infinity) {
    this.#limit = limit;
    budget ??= descriptorBudget();
  }

  get hasRoom(): boolean {
    return this.#open.size < this.#limit && openFiles().size < (budget as number);
  }

  /** The descriptor of a file; undefined if it is not open. */
  of(file: FollowedFile): number | undefined {
    return this.#open.get(file);
  }

  isBusy(file: FollowedFile): boolean {
    return this.#busy.has(file);
  }

  attach(file: FollowedFile, fd: number): void {
    if (this.#open.has(file)) {
      closeFile(fd);
      return;
    }
    if (!this.hasRoom) this.makeRoom();
    this.#open.set(file, fd);
    openFiles().set(file, this);
  }

  /** An operation on the file starts: it is not closed until `letGo` is called. */
  hold(file: FollowedFile): void {
    this.#busy.set(file, (this.#busy.get(file) ?? 0) + 1);
  }

  letGo(file: FollowedFile): void {
    const others = (this.#busy.get(file) ?? 0) - 1;
    if (others > 0) {
      this.#busy.set(file, others);
      return;
    }
    this.#busy.delete(file);
    if (this.#isClosed) this.release(file);
  }

  /** It is read now: others are closed before it. */
  touch(file: FollowedFile): void {
    const fd = this.#open.get(file);
    if (fd === undefined) return;
    this.#open.delete(file);
    this.#open.set(file, fd);
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

  /** Closes all files, the busy ones when their operations end. */
  close(): void {
    this.#isClosed = true;
    for (const file of [...this.#open.keys()]) if (!this.isBusy(file)) this.release(file);
  }

  /** Closes the least recently read file that is at its end: one of its own if it has too many, otherwise any. */
  makeRoom(): void {
    const all = openFiles();
    let victim: FollowedFile | undefined;
    for (const file of this.#open.size < this.#limit ? all.keys() : this.#open.keys()) {
      if (all.get(file)?.isBusy(file) === true || !file.canBeReopened) continue;
      victim ??= file;
      if (file.end.isReached) {
        victim = file;
        break;
      }
    }
    if (victim !== undefined) all.get(victim)?.release(victim);
  }

  #detach(file: FollowedFile): number | undefined {
    const fd = this.#open.get(file);
    this.#open.delete(file);
    openFiles().delete(file);
    return fd;
  }
}
