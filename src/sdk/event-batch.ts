import type { CollectedEvent } from './events.ts';
import { type Rows, rowsOf } from './rows.ts';

/**
 * How the delivery of an event ended. The worst outcome of a batch is the batch's.
 *
 * After the last two, nothing of the batch is stored. Only collectors with the trait `answers` get them, in a pipeline whose
 * buffer has `when_full: reject`.
 */
export type Outcome =
  | 'forwarded'
  /** A processor filtered it. */
  | 'dropped'
  | 'dead_lettered'
  /** A plugin failed on it for good, and there is no dead letter: it is counted as lost. Sent again, it would fail again. */
  | 'refused'
  /** It was given up after `delivery.attempts`: the source is to send it again. */
  | 'failed'
  /** The buffer has no room for the batch: the source is to send it again later. */
  | 'rejected'
  /** The batch is larger than the whole buffer: the source is to send less at a time. */
  | 'too_large';

/** Where in a file events come from. Bytes. */
export interface EventOrigin {
  /** Names the file whatever its path. Default: the path. */
  readonly id?: string | undefined;
  readonly path: string;
  readonly startOffset: number;
  readonly endOffset: number;
}

/** Marks a batch for other installed copies of millrace, whose classes are not these. */
const BRAND = Symbol.for('millrace.EventBatch');

/**
 * Events that came in together and are acknowledged together. A collector may emit one instead of single
 * events: it costs the engine far less, and `acknowledge` tells the collector, in the order of emission,
 * that everything that came of the events is forwarded, dropped on purpose or given to the dead letter. An error of it
 * is one of the collector, and fails the run. `origin` is logged where a plugin fails on one of them.
 *
 * @example
 * const batch = new EventBatch([collectedEvent({ n: 1 }), collectedEvent({ n: 2 })], (outcome) => note(outcome));
 * batch.events.length; // 2
 */
export class EventBatch {
  static {
    Object.defineProperty(EventBatch.prototype, BRAND, { value: true });
  }

  readonly rows: Rows;
  readonly acknowledge: ((outcome: Outcome) => void) | undefined;
  readonly origin: EventOrigin | undefined;
  /** Why the collector cannot take its only event, which then goes to the dead letter: see {@link EventBatch.refused}. */
  readonly refusal: unknown;

  constructor(
    content: readonly CollectedEvent[] | Rows,
    acknowledge?: (outcome: Outcome) => void,
    origin?: EventOrigin,
    refusal?: unknown,
  ) {
    this.rows = rowsOf(content);
    this.acknowledge = acknowledge;
    this.origin = origin;
    this.refusal = refusal;
  }

  /**
   * What a collector has got and cannot make events of: `event` says what is known of it. It goes to the dead letter if
   * there is one, and is logged and counted as `collector_failed`. Where the pipeline masks, the entry has only the error.
   *
   * @example
   * const error = new PluginError('the message is not JSON');
   * EventBatch.refused(collectedEvent({ message: '{' }), error, () => {}).size; // 1
   */
  static refused(
    event: CollectedEvent,
    error: unknown,
    acknowledge?: (outcome: Outcome) => void,
    origin?: EventOrigin,
  ): EventBatch {
    return new EventBatch([event], acknowledge, origin, error);
  }

  get size(): number {
    return this.rows.size;
  }

  get events(): readonly CollectedEvent[] {
    return this.rows.events;
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
