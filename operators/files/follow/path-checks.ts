import { type SchedulerLike, Subscription, timer } from 'rxjs';
import type { FollowedFile } from './followed-file.ts';

/** Milliseconds to the next look at a path where nothing is, and how often: a rotation has a gap in its midst. */
const GAP_MS = 20;
const LOOKS_INTO_A_GAP = 50;

type Look = (path: string, done: (found: FollowedFile | undefined) => void) => void;

/** Looks at the paths of files that changed between two polls. Changes during a look make one more. */
export class PathChecks {
  readonly #look: Look;
  readonly #scheduler: SchedulerLike;
  /** The files that are being looked at; true if they changed meanwhile. */
  readonly #changed = new Map<FollowedFile, boolean>();
  readonly #timers = new Subscription();

  constructor(look: Look, scheduler: SchedulerLike) {
    this.#look = look;
    this.#scheduler = scheduler;
  }

  check(file: FollowedFile): void {
    if (this.#changed.has(file)) this.#changed.set(file, true);
    else this.#begin(file, LOOKS_INTO_A_GAP);
  }

  close(): void {
    this.#timers.unsubscribe();
  }

  #begin(file: FollowedFile, looks: number): void {
    this.#changed.set(file, false);
    this.#look(file.path, (found) => {
      if (this.#timers.closed) return;
      if (found === undefined && looks > 0) {
        this.#timers.add(timer(GAP_MS, this.#scheduler).subscribe(() => this.#begin(file, looks - 1)));
        return;
      }
      const hasChanged = this.#changed.get(file) === true;
      this.#changed.delete(file);
      if (hasChanged) this.#begin(file, LOOKS_INTO_A_GAP);
    });
  }
}
