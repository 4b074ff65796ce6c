import { steadyClock } from '../../operators/support/steady-clock.ts';

/**
 * A clock in milliseconds that is read once in each turn of the event loop, however often it is asked: reading the
 * clock of the system can take as long as the work on an event.
 *
 * @example
 * const clock = new TurnClock();
 * clock.now === clock.now; // true
 */
export class TurnClock {
  readonly #elapsed = steadyClock();
  #now = 0;
  #isCurrent = false;

  /** Milliseconds since the clock was made, at most a turn ago. */
  get now(): number {
    return this.#isCurrent ? this.#now : this.read();
  }

  /** The same, read now. */
  read(): number {
    this.#now = this.#elapsed();
    if (!this.#isCurrent) {
      this.#isCurrent = true;
      void Promise.resolve().then(() => {
        this.#isCurrent = false;
      });
    }
    return this.#now;
  }
}
