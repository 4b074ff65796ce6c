import { Observable, type Subscriber } from 'rxjs';
import type { Demand } from './demand.ts';

/**
 * A window over what is in flight: at most `size` values are open at a time.
 *
 * `take` opens values, `release` closes them; sources listen to `room$` and pause while there is none.
 * Notifications are trampolined: a source that emits, and whose value settles, inside a notification
 * is told of the new room in the same loop, never by recursion.
 *
 * @example
 * const window = new InFlightWindow(2);
 * window.take(2);
 * window.room; // 0
 * window.release(1);
 * window.room; // 1
 */
export class InFlightWindow implements Demand {
  readonly size: number;
  readonly room$: Observable<number>;
  #open = 0;
  #notifying = false;
  #grown = false;
  readonly #waiting = new Set<Subscriber<number>>();

  /** @throws RangeError if `size` is not an integer of at least 1. */
  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) {
      throw new RangeError(`an in-flight window needs a size of at least 1 (an integer), not ${size}`);
    }
    this.size = size;
    this.room$ = new Observable((subscriber) => {
      this.#waiting.add(subscriber);
      subscriber.add(() => this.#waiting.delete(subscriber));
      if (this.room > 0) subscriber.next(this.room);
    });
  }

  /** Values that are open now. */
  get open(): number {
    return this.#open;
  }

  get room(): number {
    return Math.max(0, this.size - this.#open);
  }

  /** Opens `count` values. The caller looks at `room` first; what exceeds it still counts. */
  take(count: number): void {
    this.#open += count;
  }

  /** Closes `count` values and tells the sources of the room. */
  release(count: number): void {
    this.#open -= count;
    this.#grown = true;
    if (this.#notifying) return;
    this.#notifying = true;
    try {
      while (this.#grown) {
        this.#grown = false;
        for (const subscriber of [...this.#waiting]) {
          if (this.room === 0) break;
          this.#rotate(subscriber);
          subscriber.next(this.room);
        }
      }
    } finally {
      this.#notifying = false;
    }
  }

  /** The one served now goes to the end, so that no source starves another. */
  #rotate(subscriber: Subscriber<number>): void {
    if (this.#waiting.size > 1 && this.#waiting.delete(subscriber)) this.#waiting.add(subscriber);
  }
}
