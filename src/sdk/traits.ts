import type { ProcessPlugin } from './contract.ts';
import type { WrittenFile } from './written-file.ts';

/** What a collector is. Each trait is optional, and false unless it says otherwise. */
export interface CollectTraits {
  /** Whether it uses `ctx.state`. A run needs no state folder if none of its collectors does. Default: true. */
  readonly usesState?: boolean;
  /**
   * It emits at most `ctx.demand.room` events and otherwise waits, so that it never overflows the buffer of its pipeline.
   * Tests in virtual time predict that. Default: true for a generator.
   */
  readonly waits?: boolean;
  /** It receives again what it did not acknowledge, by other means than `ctx.state`: from a broker. */
  readonly redelivers?: boolean;
  /**
   * It answers its senders, and tells them what they are to send again. With `when_full: reject` of a buffer on disk, its
   * batches may then have the outcomes `rejected` and `too_large`. Those of other collectors wait for room.
   */
  readonly answers?: boolean;
  /**
   * It continues exactly where `ctx.state` says that the last run ended, in the same order, as `exactly_once` requires.
   */
  readonly resumes?: boolean;
  /** It emits `LineEvents`, which `workers` can take. */
  readonly emitsLines?: boolean;
  /**
   * It reads standard input, which ends once and for all, and which only one pipeline can read. A pipeline without other
   * collectors completes when it ends, also with `restart: true`.
   */
  readonly readsStdin?: boolean;
  /**
   * The address that it listens on, such as `tcp 127.0.0.1:8088`; undefined if that is left to the system. Two collectors
   * cannot have the same one.
   */
  listens?(args: { config: never }): string | undefined;
  /** Whether it reads a file that is written. What a pipeline writes must not come back to it. */
  reads?(args: { config: never; path: string; file: WrittenFile }): boolean;
  /**
   * It reads and writes files only through `operators/files` and `ctx.state`. Tests with virtual files run it as it is.
   */
  readonly virtualFiles?: boolean;
}

/** What a processor is. Each trait is optional, and false by default. */
export interface ProcessTraits {
  /**
   * It removes secrets: from strings, numbers and keys, or with `strings` from strings alone. An event that has not passed
   * it is never put into a dead letter.
   */
  readonly masks?: boolean | 'strings';
  /** It drops events on purpose: in tests, the law `nothing_lost` does not count those as lost. */
  readonly filters?: boolean;
  /**
   * Its results depend on the event and its configuration alone, and are returned at once: pipelines with `workers` then
   * run it in worker threads as well. There, `ctx` has `config` and `stats` only. A plugin that is not built in has to be a
   * module of its own, which every worker loads.
   */
  readonly pure?: boolean;
  /**
   * Its results depend on the events before, perhaps only with some configurations. It receives its events one batch after
   * the other, and runs in no worker.
   */
  readonly needsOrder?: boolean | ((args: { config: never }) => boolean);
}

/** What a forwarder is. Each trait is optional, and false by default. */
export interface ForwardTraits {
  /**
   * Its sink stores nothing twice under one `id`, as long as an outage is short. Then it may be used with `exactly_once`:
   * after a crash, the same events come again with the same `id`.
   */
  readonly deduplicates?: boolean;
  /** It delivers nothing, such as `noop`: an event that reaches it without masks shows no secret. */
  readonly discards?: boolean;
  /** It writes events to standard output. */
  readonly writesStdout?: boolean;
  /** The file that it writes, or one that is like all that it writes. */
  writes?(args: { config: never }): string | undefined;
  /** It writes files only through `operators/files`. Tests with virtual files run it as it is. */
  readonly virtualFiles?: boolean;
}

/** Whether a processor removes secrets. */
export function isMask(plugin: Pick<ProcessPlugin, 'traits'> | undefined): boolean {
  return Boolean(plugin?.traits?.masks);
}

/** Whether the results of a processor depend on the events before, with this configuration. */
export function needsOrder({ traits }: Pick<ProcessPlugin, 'traits'>, config: object): boolean {
  const trait = traits?.needsOrder;
  return typeof trait === 'function' ? trait({ config: config as never }) : trait === true;
}
