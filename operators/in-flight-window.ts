import { Observable, type Subscriber } from 'rxjs';
import { argumentError, COUNT, checkValue, FROM_0 } from './support/check-options.ts';
import type { Demand } from './support/demand.ts';
import { Pump } from './support/pump.ts';

/** Weights may be fractions, of which sums are not exact. */
const ROUNDING = 1e-6;

/**
 * Limits the number of values in flight: at most `size` values are open at a time.
 *
 * `take` opens values, and `release` closes them. Sources listen to `room$` and pause while there is no room.
 * Notifications are trampolined: if a source emits during a notification, and its value is acknowledged at once, the
 * same loop notifies it of the new room, without recursion.
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
  readonly #waiting = new Set<Subscriber<number>>();
  readonly #notifying = new Pump(() => this.#notify());

  /** @throws RangeError if `size` is not an integer of at least 1. */
  constructor(size: number) {
    checkValue('InFlightWindow', 'size', size, COUNT);
    this.size = size;
    this.room$ = new Observable((subscriber) => {
      this.#waiting.add(subscriber);
      subscriber.add(() => this.#waiting.delete(subscriber));
      if (this.room > 0) subscriber.next(this.room);
    });
  }

  get open(): number {
    return this.#open;
  }

  get room(): number {
    return Math.max(0, this.size - this.#open);
  }

  /**
   * Opens `count` values. The caller checks `room` first; values beyond it still count.
   *
   * @throws RangeError if `count` is not a finite number of at least 0.
   */
  take(count: number): void {
    checkValue('InFlightWindow', 'count', count, FROM_0);
    this.#open += count;
  }

  /**
   * Closes `count` values and notifies the sources of the room.
   *
   * @throws RangeError if `count` is not a finite number of at least 0, or more than is open.
   */
  release(count: number): void {
    checkValue('InFlightWindow', 'count', count, FROM_0);
    if (count > this.#open + ROUNDING) {
      throw argumentError(RangeError, `InFlightWindow: cannot release ${count}, only ${this.#open} are open`);
    }
    this.#open = Math.max(0, this.#open - count);
    this.#notifying.run();
  }

  /** Tells all sources once. Room that is made meanwhile is told in another step. */
  #notify(): boolean {
    // A copy, because the order changes meanwhile; most windows have one source.
    for (const subscriber of this.#waiting.size === 1 ? this.#waiting : [...this.#waiting]) {
      if (this.room === 0) break;
      this.#rotate(subscriber);
      subscriber.next(this.room);
    }
    return false;
  }

  /** The one served now goes to the end, so that no source starves another. */
  #rotate(subscriber: Subscriber<number>): void {
    if (this.#waiting.size > 1 && this.#waiting.delete(subscriber)) this.#waiting.add(subscriber);
  }
}
