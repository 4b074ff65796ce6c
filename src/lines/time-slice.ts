import { asyncScheduler, Observable, type Subscription } from 'rxjs';
import { steadyClock } from '../../operators/support/steady-clock.ts';

/** Milliseconds of work in one turn of the event loop, after which signals, timers and input have theirs. */
const BUDGET_MS = 20;
/** Work between looks at the clock, which take as long as a third of a line: 40 lines of 100 characters. */
const UNWATCHED = 400_000;

const now = steadyClock();

/** Work in one turn of the event loop. To be asked often: it looks at the clock now and then. */
export class Turn {
  readonly #end = now() + BUDGET_MS;
  #unwatched = 0;

  /**
   * Whether the turn is used up, after work on a text of so many characters; infinite if it may have taken long. What
   * takes long grows with the square of the length, at least.
   */
  isSpent(characters: number): boolean {
    this.#unwatched += characters * characters;
    if (this.#unwatched < UNWATCHED) return false;
    this.#unwatched = 0;
    return now() >= this.#end;
  }
}

/** All that waits for a turn, in this thread: with a timer for each, those that are due would leave no time between. */
const waiting = new Set<() => void>();
let timer: Subscription | undefined;

/**
 * Emits in one of the next turns of the event loop, and again in later ones until it is unsubscribed from. Of all that
 * are subscribed to one has each turn, one after the other. It never ends.
 */
export const turn$: Observable<Turn> = new Observable<Turn>((subscriber) => {
  const take = () => {
    subscriber.next(new Turn());
    if (!subscriber.closed) waiting.add(take);
  };
  subscriber.add(() => {
    waiting.delete(take);
    if (waiting.size > 0) return;
    timer?.unsubscribe();
    timer = undefined;
  });
  waiting.add(take);
  schedule();
});

/** Behind the work, not ahead of it: a timer that is due by the end of the work would run before anything else. */
function schedule(): void {
  timer ??= asyncScheduler.schedule(() => {
    timer = undefined;
    const [take] = waiting;
    if (take === undefined) return;
    waiting.delete(take);
    try {
      take();
    } finally {
      if (waiting.size > 0) schedule();
    }
  });
}
