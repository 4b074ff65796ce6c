import { Fifo } from '../../operators/support/fifo.ts';
import type { Outcome } from '../sdk/models.ts';
import { Delivery } from './delivery.ts';

interface Entry {
  readonly events: number;
  readonly onAcknowledged: ((outcome: Outcome) => void) | undefined;
  outcome: Outcome | undefined;
}

/**
 * Acknowledges the deliveries of one source in the order in which they were opened, whatever order they end in:
 * a checkpoint never moves past what is still open. `release` gets the numbers of events that are acknowledged.
 */
export class AckQueue {
  readonly #entries = new Fifo<Entry>();
  readonly #release: (events: number) => void;

  constructor(release: (events: number) => void) {
    this.#release = release;
  }

  open(events: number, onAcknowledged?: (outcome: Outcome) => void): Delivery {
    const entry: Entry = { events, onAcknowledged, outcome: undefined };
    this.#entries.push(entry);
    return new Delivery(events, (outcome) => {
      entry.outcome = outcome;
      this.#advance();
    });
  }

  #advance(): void {
    for (let head = this.#entries.peek(); head?.outcome !== undefined; head = this.#entries.peek()) {
      this.#entries.shift();
      head.onAcknowledged?.(head.outcome);
      this.#release(head.events);
    }
  }
}
