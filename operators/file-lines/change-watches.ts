import type { FSWatcher } from 'node:fs';
import { Tail } from 'tail';
import type { FollowedFile } from './followed-file.ts';

type Changed = (mayHaveMoved: boolean) => void;

/**
 * The `tail` library, told to read nothing: it would lose bytes at a rotation and wedge on its first read error.
 * What remains is its watch on one file. A hint only: the poll finds what a watch misses.
 */
class ChangeTail extends Tail {
  declare protected readonly watcher?: FSWatcher;
  readonly #changed: Changed;

  constructor(path: string, changed: Changed) {
    super(path, { fromBeginning: false, follow: false });
    this.#changed = changed;
    this.on('error', () => {});
    this.watcher?.on('error', () => this.unwatch());
  }

  /** Replaces tail's own, which reads on a change and follows a rename to any name. */
  protected watchEvent(event: string): void {
    this.#changed(event === 'rename');
  }
}

/** Watches on files that tell when one may have grown, shrunk, moved or gone. The kernel has few: `limit` them. */
export class ChangeWatches {
  readonly #limit: number;
  readonly #tails = new Map<FollowedFile, Tail>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Calls `changed` from now on; not at all where no watch can be had. */
  start(file: FollowedFile, changed: Changed): void {
    if (this.#tails.size >= this.#limit) return;
    try {
      this.#tails.set(file, new ChangeTail(file.path, changed));
    } catch {
      // The file is gone already, or the system has no watches left: the poll serves.
    }
  }

  end(file: FollowedFile): void {
    this.#tails.get(file)?.unwatch();
    this.#tails.delete(file);
  }

  endAll(): void {
    for (const tail of this.#tails.values()) tail.unwatch();
    this.#tails.clear();
  }
}
