import type { CollectedEvent } from './events.ts';
import { LineEvents } from './line-events.ts';

/** How the delivery of an event ended. The worst outcome of a batch is the batch's. */
export type Outcome = 'forwarded' | 'dropped' | 'dead_lettered' | 'failed';

/** Where in a file events come from. Bytes. */
export interface EventOrigin {
  readonly path: string;
  readonly startOffset: number;
  readonly endOffset: number;
}

/** Marks a batch for other installed copies of millrace, whose classes are not these. */
const BRAND = Symbol.for('millrace.EventBatch');

/**
 * Events that came in together and are acknowledged together. A collector may emit one instead of single
 * events: it costs the engine far less, and `acknowledge` tells the collector, in the order of emission,
 * that everything that came of the events is forwarded, dropped on purpose or given to the dead letter. `origin` is
 * logged where a plugin fails on one of them.
 *
 * @example
 * const batch = new EventBatch([collectedEvent({ n: 1 }), collectedEvent({ n: 2 })], (outcome) => note(outcome));
 * batch.events.length; // 2
 */
export class EventBatch {
  static {
    Object.defineProperty(EventBatch.prototype, BRAND, { value: true });
  }

  readonly content: readonly CollectedEvent[] | LineEvents;
  readonly acknowledge: ((outcome: Outcome) => void) | undefined;
  readonly origin: EventOrigin | undefined;

  constructor(
    content: readonly CollectedEvent[] | LineEvents,
    acknowledge?: (outcome: Outcome) => void,
    origin?: EventOrigin,
  ) {
    this.content = content;
    this.acknowledge = acknowledge;
    this.origin = origin;
  }

  get size(): number {
    return this.content instanceof LineEvents ? this.content.size : this.content.length;
  }

  get events(): readonly CollectedEvent[] {
    return this.content instanceof LineEvents ? this.content.events : this.content;
  }
}

/**
 * Whether a value is an EventBatch, of this or of another installed copy of millrace: a plugin may bring its own.
 *
 * @example
 * isEventBatch(new EventBatch([collectedEvent({ n: 1 })])); // true
 * isEventBatch(collectedEvent({ n: 1 })); // false
 */
export function isEventBatch(value: unknown): value is EventBatch {
  return typeof value === 'object' && value !== null && BRAND in value;
}

// In a file of its own, because workers need it, and must not load the schemas and zod with it.

/**
 * Whether a plugin's value is an event: an object whose `data` is an object.
 *
 * @example
 * isEvent({ data: { user: 'ada' } }); // true
 * isEvent({ user: 'ada' }); // false
 */
export function isEvent(value: unknown): value is CollectedEvent {
  if (typeof value !== 'object' || value === null) return false;
  const data = (value as { data?: unknown }).data;
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
