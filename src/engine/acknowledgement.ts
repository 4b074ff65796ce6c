import type { Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { Batch, Batches } from './batches.ts';
import type { Delivery } from './delivery.ts';
import type { Observers, StagePlace } from './observer.ts';

/** Why an event is given up: it can never be delivered, or its attempts are used up. */
export type GivenUp = 'refused' | 'failed';

export interface AcknowledgementOptions {
  readonly place: StagePlace;
  readonly observer: Observers;
  /** The outcome of events that were delivered: `dead_lettered` for the dead letter's own stage. */
  readonly outcome: Outcome;
  /** Called in the order of delivery, before the events are acknowledged. */
  readonly onDelivered?: ((count: number, delivery: Delivery) => void) | undefined;
  /** Takes an event that could not be delivered, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown, how: GivenUp) => void;
}

/** Where the events of a forwarder end: acknowledged, or given up. */
export class Acknowledgement {
  readonly #options: AcknowledgementOptions;

  constructor(options: AcknowledgementOptions) {
    this.#options = options;
  }

  deliveredAll({ list }: Batches): void {
    for (const batch of list) this.delivered(batch);
  }

  delivered({ rows, delivery }: Batch): void {
    const { place, observer, outcome, onDelivered } = this.#options;
    const { size } = rows;
    onDelivered?.(size, delivery);
    observer.left(place, size, () => rows.events);
    delivery.acknowledge(size, outcome);
  }

  /** Gives up the events at the positions of `errors`. */
  giveUp(batches: Batches, errors: ReadonlyMap<number, unknown>, how: GivenUp): void {
    if (errors.size === 0) return;
    let position = 0;
    for (const [event, delivery] of batches.each()) {
      if (errors.has(position)) this.#options.onFailure(event, delivery, errors.get(position), how);
      position++;
    }
  }
}
