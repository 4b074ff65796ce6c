import type { EventOrigin, Outcome } from '../sdk/event-batch.ts';

const RANK: Readonly<Record<Outcome, number>> = {
  forwarded: 0,
  dropped: 1,
  dead_lettered: 2,
  refused: 3,
  failed: 4,
  rejected: 5,
  too_large: 6,
};

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

/** For the log alone: an entry of a dead letter leaves the machine, and masks have not seen this path. */
export function originOf({ root: { origin } }: Delivery): string {
  if (origin === undefined) return '';
  const { path, startOffset, endOffset } = origin;
  return ` of ${path} (bytes ${startOffset} to ${endOffset})`;
}
