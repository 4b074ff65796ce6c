import type { LineEnvelope } from '../sdk/line-events.ts';

/** A processor as a worker creates it. */
export interface WorkerProcessor {
  /** The name of a built-in plugin, or the URL of the module of another one. */
  readonly plugin: string;
  /** A copy of the entry, without what belongs to the main thread. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** What a worker is started with. */
export interface WorkerSetup {
  readonly processors: readonly WorkerProcessor[];
  /** Memory that both threads see. Each is used for one task at a time. */
  readonly slots: readonly SharedArrayBuffer[];
}

/** Lines to be masked and written as JSON. */
export interface LineTask {
  readonly id: number;
  /** UTF-8, each line with its terminator; or where it lies. */
  readonly bytes: Uint8Array | InSlot;
  /** The number of lines. */
  readonly size: number;
  readonly envelope: LineEnvelope;
}

/** Lines at the end of a slot, or documents at its begin. */
export interface InSlot {
  readonly slot: number;
  readonly length: number;
}

/** What came of a task. */
export interface LineResult<Documents = Uint8Array> {
  readonly id: number;
  /** Events as `serialise` writes them, each with a newline behind it, in UTF-8. */
  readonly documents: Documents;
  /** The number of events. */
  readonly size: number;
  readonly masked: readonly (readonly [processor: number, rule: string, count: number])[];
  /** The number of events that processors dropped. */
  readonly filtered: number;
  /** One for each event that a processor failed on. `reason` may be logged. */
  readonly failures: readonly { readonly processor: number; readonly reason: string }[];
}

/** A task that a worker cannot do: a processor used a member of `ctx` that only the main thread has. */
export interface RefusedTask {
  readonly id: number;
  readonly processor: number;
  /** The name of the member. */
  readonly member: string;
}

/** What a worker sends: once `ready`, then an answer to each task. A result lies in the slot of the task if it fits. */
export type WorkerMessage = 'ready' | LineResult<Uint8Array | InSlot> | RefusedTask;
