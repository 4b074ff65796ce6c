import { Fifo } from '../../operators/internal.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import { Delivery } from './delivery.ts';

/** The collector whose events are acknowledged. */
export interface AckOwner {
  /** So many of its events are done. */
  readonly release: (events: number) => void;
  /** It failed as it was told that events are acknowledged. */
  readonly failed: (error: unknown) => void;
}

interface Entry {
  readonly events: number;
  readonly owner: AckOwner;
  readonly onAcknowledged: (outcome: Outcome) => unknown;
  outcome: Outcome | undefined;
}

/** Opens the deliveries of one collector, in the order in which they are acknowledged. */
export interface CollectorQueue {
  open(events: number, onAcknowledged: (outcome: Outcome) => unknown): Delivery;
}

/**
 * Acknowledges the deliveries of one source in the order in which they were opened, whatever order they end in:
 * a checkpoint never moves past what is still open.
 *
 * `onAcknowledged` is code of a collector that runs in the stage of whoever acknowledges last, such as a forwarder. Its
 * error, or that of a promise that it returns, goes to the owner alone. Nothing is acknowledged after that: a later
 * checkpoint would cover what this one lacks.
 */
export class AckQueue {
  readonly #entries = new Fifo<Entry>();
  #hasFailed = false;

  /** Whether nothing is acknowledged any more. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  open(events: number, owner: AckOwner, onAcknowledged: (outcome: Outcome) => unknown): Delivery {
    const entry: Entry = { events, owner, onAcknowledged, outcome: undefined };
    this.#entries.push(entry);
    return new Delivery(events, (outcome) => {
      entry.outcome = outcome;
      this.#advance();
    });
  }

  #advance(): void {
    for (let head = this.#entries.peek(); head?.outcome !== undefined; head = this.#entries.peek()) {
      this.#entries.shift();
      if (!this.#hasFailed) this.#acknowledge(head, head.outcome);
      head.owner.release(head.events);
    }
  }

  #acknowledge({ onAcknowledged, owner }: Entry, outcome: Outcome): void {
    const fail = (error: unknown) => {
      this.#hasFailed = true;
      owner.failed(error);
    };
    try {
      const returned = onAcknowledged(outcome);
      if (isPromise(returned)) returned.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  }
}

/** A queue of its own for one collector. */
export function queueOf(owner: AckOwner): CollectorQueue {
  const queue = new AckQueue();
  return { open: (events, onAcknowledged) => queue.open(events, owner, onAcknowledged) };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
