import * as z from 'zod';
import { bytes as bytesField, integer, seconds as secondsField } from './schema-parts.ts';

/** Marks the limits for other installed copies of millrace, whose classes are not these. */
const BRAND = Symbol.for('millrace.BatchLimits');

/** Events that a call of `forwardBatch` takes at most where nothing else is said. */
export const MOST_BATCH_EVENTS = 1024;

/** When a batch leaves for a forwarder: as soon as it reaches any of these. */
export class BatchLimits {
  static {
    Object.defineProperty(BatchLimits.prototype, BRAND, { value: true });
  }

  readonly events: number;
  /** Bytes of the events as JSON, one event a line; undefined: any number. */
  readonly bytes: number | undefined;
  /** Seconds after the first event of the batch; 0: as soon as a call is free. */
  readonly seconds: number;

  constructor({ events, bytes, seconds }: { events: number; bytes?: number | undefined; seconds: number }) {
    this.events = events;
    this.bytes = bytes;
    this.seconds = seconds;
    Object.freeze(this);
  }
}

/** The limits of batches that a plugin sets for entries that do not give their own. */
export interface BatchDefaults {
  /** Events in a batch. Default: 1024. */
  readonly events?: number | undefined;
  /** Bytes of the events as JSON, one event a line. An event that is larger is sent alone. Default: no limit. */
  readonly bytes?: number | undefined;
  /** Seconds that a batch waits for more events after its first one. Default: 0, so it leaves when a call is free. */
  readonly seconds?: number | undefined;
}

export interface BatchingDefaults extends BatchDefaults {
  /** Calls of `forwardBatch` that are under way at a time. Default: 1. */
  readonly concurrency?: number | undefined;
}

/**
 * The fields `batch` (`events`, `bytes`, `seconds`) and `concurrency`, for the schema of a forwarder with `forwardBatch`.
 * The engine then gathers its batches within these limits, and keeps that many calls under way. With a `concurrency`
 * above 1, batches may arrive in another order than they were sent in.
 *
 * @param defaults what an entry gets that does not set a field itself.
 *
 * @example
 * const schema = ForwardConfigBase.extend(batching({ events: 500, seconds: 1 }));
 * const { batch, concurrency } = schema.parse({ plugin: 'webhook', batch: { events: 100 } });
 * [batch.events, batch.seconds, concurrency]; // [100, 1, 1]
 */
export function batching(defaults: BatchingDefaults = {}): BatchingFields {
  const { events = MOST_BATCH_EVENTS, bytes, seconds = 0, concurrency = 1 } = defaults;
  const atLeast1 = (description: string) => integer().min(1).describe(description);
  const ofEvents = atLeast1('Events in a batch at most.');
  const ofBytes = bytesField()
    .min(1)
    .describe('Bytes of a batch at most, of the events as JSON. A larger event is sent alone.');
  const ofSeconds = secondsField()
    .min(0)
    .describe('Seconds that a batch waits for more events after its first one.');
  return {
    batch: z
      .strictObject({
        events: ofEvents.default(events),
        bytes: bytes === undefined ? ofBytes.optional() : ofBytes.default(bytes),
        seconds: ofSeconds.default(seconds),
      })
      .prefault({})
      .transform((limits) => new BatchLimits(limits))
      .describe('When a batch leaves: as soon as it reaches any of these limits.'),
    concurrency: atLeast1(
      'Batches that are sent at a time; above 1 they may arrive in another order.',
    ).default(concurrency),
  };
}

/** What {@link batching} adds to a schema. */
type BatchingFields = {
  batch: z.ZodType<BatchLimits, BatchDefaults | undefined>;
  concurrency: z.ZodType<number, number | undefined>;
};

/** How the batches of a forwarder are gathered and sent. */
export interface Batching extends BatchLimits {
  readonly concurrency: number;
}

/** What an entry says by the fields of {@link batching}; undefined if its schema does not have them. */
export function batchingOf(config: Readonly<Record<string, unknown>>): Batching | undefined {
  const { batch, concurrency } = config;
  if (typeof batch !== 'object' || batch === null || !(BRAND in batch)) return undefined;
  const { events, bytes, seconds } = batch as object as BatchLimits;
  return { events, bytes, seconds, concurrency: typeof concurrency === 'number' ? concurrency : 1 };
}
