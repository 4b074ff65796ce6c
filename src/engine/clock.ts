import { steadyClock } from '../../operators/internal.ts';

/** The clock of a pipeline: milliseconds since it was made. */
export interface Clock {
  /** At most a turn of the event loop ago. */
  readonly now: number;
  /** The same, read now. */
  read(): number;
}

/**
 * A clock in milliseconds that is read once in each turn of the event loop, however often it is asked: reading the
 * clock of the system can take as long as the work on an event.
 */
export class TurnClock implements Clock {
  readonly #elapsed = steadyClock();
  #now = 0;
  #isCurrent = false;

  get now(): number {
    return this.#isCurrent ? this.#now : this.read();
  }

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
