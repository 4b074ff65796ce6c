import { Fifo } from '../../operators/support/fifo.ts';
import type { Outcome } from '../sdk/models.ts';
import { Delivery } from './delivery.ts';

interface Entry {
  readonly events: number;
  readonly onSettled: ((outcome: Outcome) => void) | undefined;
  outcome: Outcome | undefined;
}

/**
 * Settles the deliveries of one source in the order in which they were opened, whatever order they end in:
 * a checkpoint never moves past what is still open. `release` gets the numbers of events that are settled.
 */
export class SettleQueue {
  readonly #entries = new Fifo<Entry>();
  readonly #release: (events: number) => void;

  constructor(release: (events: number) => void) {
    this.#release = release;
  }

  open(events: number, onSettled?: (outcome: Outcome) => void): Delivery {
    const entry: Entry = { events, onSettled, outcome: undefined };
    this.#entries.push(entry);
    return new Delivery(events, (outcome) => {
      entry.outcome = outcome;
      this.#advance();
    });
  }

  #advance(): void {
    for (let head = this.#entries.peek(); head?.outcome !== undefined; head = this.#entries.peek()) {
      this.#entries.shift();
      head.onSettled?.(head.outcome);
      this.#release(head.events);
    }
  }
}
