import fs, { type FSWatcher } from 'node:fs';
import { Tail } from 'tail';
import { type FileWatch, fileSystem } from '../../support/file-system.ts';

type Changed = (mayHaveMoved: boolean) => void;

/**
 * The `tail` library, told to read nothing: it would lose bytes at a rotation and wedge on its first read error.
 * What remains is its watch on one file. A hint only: the poll finds what a watch misses.
 */
class ChangeTail extends Tail implements FileWatch {
  declare protected readonly watcher?: FSWatcher;
  declare protected readonly isWatching: boolean;
  readonly #changed: Changed;

  constructor(path: string, changed: Changed) {
    super(path, { fromBeginning: false, follow: false });
    this.#changed = changed;
    this.on('error', () => {});
    this.watcher?.on('error', () => this.unwatch());
  }

  /** Whether changes are still told of. */
  get isAlive(): boolean {
    return this.isWatching && this.watcher !== undefined;
  }

  /** Replaces tail's own, which reads on a change and follows a rename to any name. */
  protected watchEvent(event: string): void {
    this.#changed(event === 'rename');
  }
}

function watchFile(path: string, changed: Changed): FileWatch {
  return fileSystem.watchChanges?.(path, changed) ?? new ChangeTail(path, changed);
}

/** At most this part of the user's watches: other programs need some. */
const SHARE = 4;
const FEWEST_WATCHES = 1024;
const MOST_WATCHES = 16 * 1024;

/** How many watches to use. Not every system tells how many the kernel allows. */
function fairLimit(): number {
  try {
    const allowed = Number(fs.readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
    return Math.min(MOST_WATCHES, Math.max(FEWEST_WATCHES, Math.floor(allowed / SHARE)));
  } catch {
    return FEWEST_WATCHES;
  }
}

/** Watches on files that tell when one may have grown, shrunk, moved or gone. The kernel has few. */
export class ChangeWatches {
  readonly #limit = fairLimit();
  readonly #watches = new Set<FileWatch>();

  /** Calls `changed` from now on; undefined where no watch can be had. */
  start(path: string, changed: Changed): FileWatch | undefined {
    if (this.#watches.size >= this.#limit) return undefined;
    try {
      const watch = watchFile(path, changed);
      this.#watches.add(watch);
      return watch;
    } catch {
      // The file is gone already, or the system has no watches left: the poll serves.
      return undefined;
    }
  }

  end(watch: FileWatch): void {
    watch.unwatch();
    this.#watches.delete(watch);
  }

  endAll(): void {
    for (const watch of this.#watches) watch.unwatch();
    this.#watches.clear();
  }
}
