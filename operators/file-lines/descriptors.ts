import type { FollowedFile } from './followed-file.ts';
import { closeFile } from './regular-file.ts';

/**
 * The open descriptors, at most `limit` of them as far as that is safe. Files stay open while there is room, so
 * that one which is rotated away can be read to its end; beyond it the one that was read the longest ago is closed.
 */
export class Descriptors {
  readonly #limit: number;
  /** The one read the longest ago comes first. */
  readonly #open = new Set<FollowedFile>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get hasRoom(): boolean {
    return this.#open.size < this.#limit;
  }

  attach(file: FollowedFile, fd: number): void {
    if (file.fd !== undefined) {
      closeFile(fd);
      return;
    }
    if (!this.hasRoom) this.#evict();
    file.fd = fd;
    this.#open.add(file);
  }

  touch(file: FollowedFile): void {
    if (this.#open.delete(file)) this.#open.add(file);
  }

  release(file: FollowedFile): void {
    if (file.fd === undefined) return;
    closeFile(file.fd);
    file.fd = undefined;
    this.#open.delete(file);
  }

  /** Closes all but the busy ones, which whoever is busy with them has to release. */
  releaseAll(): void {
    for (const file of [...this.#open]) if (!file.isBusy) this.release(file);
  }

  #evict(): void {
    let victim: FollowedFile | undefined;
    for (const file of this.#open) {
      // A file that is gone cannot be opened again.
      if (file.isGone || file.isBusy) continue;
      victim ??= file;
      if (file.isAtEnd) {
        victim = file;
        break;
      }
    }
    if (victim !== undefined) this.release(victim);
  }
}
