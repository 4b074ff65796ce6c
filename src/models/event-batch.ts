import type { CollectedEvent } from './events.ts';

/** How the delivery of an event ended. The worst outcome of a batch is the batch's. */
export type Outcome = 'forwarded' | 'dropped' | 'dead_lettered' | 'failed';

/**
 * Events that came in together and are settled together. A collector may emit one instead of single
 * events: it costs the engine far less, and `settled` tells the collector, in the order of emission,
 * that everything that came of the events is forwarded, dropped on purpose or given to the dead letter.
 *
 * @example
 * const batch = new EventBatch([collectedEvent({ n: 1 }), collectedEvent({ n: 2 })], (outcome) => note(outcome));
 * batch.events.length; // 2
 */
export class EventBatch {
  readonly events: readonly CollectedEvent[];
  readonly settled: ((outcome: Outcome) => void) | undefined;

  constructor(events: readonly CollectedEvent[], settled?: (outcome: Outcome) => void) {
    this.events = events;
    this.settled = settled;
  }
}
