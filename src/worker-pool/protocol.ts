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
  /** The module that sets flags of V8. Undefined where none is set, as in a program that embeds millrace. */
  readonly v8Flags: string | undefined;
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
  /** Events as `serialise` writes them, each with a newline after it, in UTF-8. Nothing else is in its buffer. */
  readonly documents: Uint8Array<ArrayBuffer>;
  /** The number of events. */
  readonly size: number;
  readonly masked: readonly (readonly [processor: number, rule: string, count: number])[];
  /** The number of events that reached each processor. */
  readonly received: readonly number[];
  /** The number of events that each processor dropped. */
  readonly filtered: readonly number[];
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

/** What a worker sends: once `ready`, then an answer to each task. */
export type WorkerMessage = 'ready' | LineResult | RefusedTask;

/** The members of `ctx` that a worker does not have: they belong to the run, which is in the main thread. */
export const MAIN_THREAD_ONLY = [
  'cache',
  'shared_cache',
  'pipeline_config',
  'pipeline',
  'signal',
  'ended',
  'logger',
  'host',
  'info',
  'metrics',
  'demand',
  'state',
  'reopen$',
  'once',
  'random',
] as const;
