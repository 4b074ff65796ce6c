import type { LineEnvelope } from '../models/line-events.ts';

/** A processor as a worker makes it. */
export interface WorkerMask {
  readonly plugin: string;
  /** A copy of the entry, without what belongs to the main thread. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Lines to be masked and written as JSON. */
export interface LineTask {
  readonly id: number;
  /** UTF-8, each line with its terminator. */
  readonly bytes: Uint8Array;
  /** The number of lines. */
  readonly size: number;
  readonly envelope: LineEnvelope;
}

/** What came of a task. */
export interface LineResult {
  readonly id: number;
  /** Events as `serialise` writes them, each with a newline behind it, in UTF-8. */
  readonly documents: Uint8Array;
  /** The number of events. */
  readonly size: number;
  readonly masked: readonly (readonly [processor: number, rule: string, count: number])[];
  /** One for each event that a processor failed on. `reason` may be logged. */
  readonly failures: readonly { readonly processor: number; readonly reason: string }[];
}
