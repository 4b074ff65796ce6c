import type { FileWatch } from '../../support/file-system.ts';
import { ChangeWatches } from './change-watches.ts';
import type { FollowedFile } from './followed-file.ts';

/**
 * Polls that skip a quiet file whose watch works: one in five looks at it all the same, for changes that a watch does not
 * show, such as writes to a network file system from another machine.
 */
const SKIPPED_POLLS = 4;
/** Quiet files that a poll looks at. If there are more than in the polls above, they are looked at less often. */
const LOOKS_PER_POLL = 200;

/** When one file is looked at. */
interface Looks {
  watch: FileWatch | undefined;
  /** Polls until it is looked at again, as long as its watch reports nothing. */
  skippablePolls: number;
  /** The most polls that skip it after a look. */
  restPolls: number;
  /** Its watch has told of a change since the last look. */
  wasNotified: boolean;
}

/** Decides which files a poll need not look at, because nothing can have happened to them unnoticed. */
export class LookSchedule {
  readonly #watches = new ChangeWatches();
  readonly #looks = new Map<FollowedFile, Looks>();
  #rests = 0;

  /** `file` is followed from now on. */
  add(file: FollowedFile): void {
    // Spreads the looks at many files over the polls.
    const skippablePolls = (this.#looks.size + 1) % (SKIPPED_POLLS + 1);
    const restPolls = Number.POSITIVE_INFINITY;
    this.#looks.set(file, { watch: undefined, skippablePolls, restPolls, wasNotified: false });
  }

  /** Calls `changed` when the file changes; it may have moved then. */
  watch(file: FollowedFile, changed: (mayHaveMoved: boolean) => void): void {
    const looks = this.#looks.get(file);
    if (looks === undefined) return;
    looks.watch = this.#watches.start(file.path, (mayHaveMoved) => {
      looks.skippablePolls = 0;
      looks.wasNotified = true;
      changed(mayHaveMoved);
    });
  }

  /**
   * Whether this poll may skip a file at its path.
   *
   * @param mayRest whether it may be looked at less often because there are many
   */
  skips(file: FollowedFile, { mayRest }: { readonly mayRest: boolean }): boolean {
    // A link may be led elsewhere, which no watch on the file shows.
    if (!file.end.isReached || file.isLinked || file.isGone) return false;
    const looks = this.#looks.get(file);
    if (looks?.watch?.isAlive !== true) return false;
    if (looks.skippablePolls === 0) {
      looks.skippablePolls = mayRest ? this.#rest(looks) : SKIPPED_POLLS;
      return false;
    }
    looks.skippablePolls--;
    return true;
  }

  /** The next poll looks at `file`. */
  expect(file: FollowedFile): void {
    const looks = this.#looks.get(file);
    if (looks !== undefined) looks.skippablePolls = 0;
  }

  /** The next poll looks at all files. */
  expectAll(): void {
    for (const looks of this.#looks.values()) looks.skippablePolls = 0;
  }

  /** `file` was looked at. While looks find changes of which its watch did not tell, it is looked at as often as one of few. */
  looked(file: FollowedFile, { isTouched }: { readonly isTouched: boolean }): void {
    const looks = this.#looks.get(file);
    if (looks === undefined) return;
    if (isTouched && !looks.wasNotified) looks.restPolls = SKIPPED_POLLS;
    looks.wasNotified = false;
  }

  remove(file: FollowedFile): void {
    const watch = this.#looks.get(file)?.watch;
    if (watch !== undefined) this.#watches.end(watch);
    this.#looks.delete(file);
  }

  close(): void {
    this.#watches.endAll();
  }

  /** The polls that skip a file after this one: as many as the number of files allows, or fewer after an unnoticed change. */
  #rest(looks: Looks): number {
    const most = Math.max(SKIPPED_POLLS, Math.floor(this.#looks.size / LOOKS_PER_POLL));
    const rest = Math.min(looks.restPolls, most);
    looks.restPolls = rest + 1;
    // Many files found at once would otherwise be looked at in the same polls.
    const spread = rest > SKIPPED_POLLS ? this.#rests++ % Math.ceil(rest / 2) : 0;
    return rest - spread;
  }
}
