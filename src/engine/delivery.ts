import { Fifo } from '../../operators/internal.ts';
import type { EventOrigin, Outcome } from '../sdk/event-batch.ts';

const RANK: Readonly<Record<Outcome, number>> = { forwarded: 0, dropped: 1, dead_lettered: 2, failed: 3 };

/**
 * Counts the events of one batch that are not acknowledged yet, once for each forwarder that has them. Its outcome is the
 * worst of all.
 */
export class Delivery {
  /** The delivery of the whole batch: this one, unless it is a part. */
  readonly root: Delivery;
  /** Where the events of the root come from, if that is known. */
  origin: EventOrigin | undefined;
  #open: number;
  #outcome: Outcome = 'forwarded';
  readonly #onAcknowledged: (outcome: Outcome) => void;

  constructor(events: number, onAcknowledged: (outcome: Outcome) => void, root?: Delivery) {
    this.root = root ?? this;
    this.#open = events;
    this.#onAcknowledged = onAcknowledged;
  }

  /** More came of the batch: further events, or further forwarders that have them. */
  add(count: number): void {
    this.#open += count;
  }

  /** One more event came of the batch. `onAcknowledged` is called when it is acknowledged. */
  part(onAcknowledged: () => void): Delivery {
    this.add(1);
    const acknowledged = (outcome: Outcome) => {
      this.acknowledge(1, outcome);
      onAcknowledged();
    };
    return new Delivery(1, acknowledged, this.root);
  }

  acknowledge(count: number, outcome: Outcome): void {
    if (RANK[outcome] > RANK[this.#outcome]) this.#outcome = outcome;
    this.#open -= count;
    if (this.#open === 0) this.#onAcknowledged(this.#outcome);
  }
}

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
  readonly onAcknowledged: ((outcome: Outcome) => unknown) | undefined;
  outcome: Outcome | undefined;
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

  open(events: number, owner: AckOwner, onAcknowledged?: (outcome: Outcome) => unknown): Delivery {
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
      const returned = onAcknowledged?.(outcome);
      if (isPromise(returned)) returned.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  }
}

/** For the log alone: an entry of a dead letter leaves the machine, and masks have not seen this path. */
export function originOf({ root: { origin } }: Delivery): string {
  if (origin === undefined) return '';
  const { path, startOffset, endOffset } = origin;
  return ` of ${path} (bytes ${startOffset} to ${endOffset})`;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
