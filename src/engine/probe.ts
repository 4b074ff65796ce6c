import type { PipelineRunContext } from '../sdk/context.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { DropReason } from '../sdk/status.ts';

/** Where in a pipeline something happened. */
export interface StagePlace {
  readonly kind: 'collect' | 'process' | 'forward' | 'dead_letter';
  /** The entry's name. */
  readonly name: string;
}

/** Counts events that go no further, and shows those that `events` returns to the probe, if there is one. */
export type Drop = (reason: DropReason, count: number, events: () => readonly CollectedEvent[]) => void;

/** Events of one call that were made from one emission of a collector. */
export interface CallPart {
  /** Identifies what was emitted: see `admitted`. */
  readonly root: object;
  /** The number of events. */
  readonly size: number;
}

/** Told when a call of a forwarder has ended, with its error if it has failed. */
export type CallEnded = (failure?: { readonly cause: unknown }) => void;

/**
 * Watches the runs of a pipeline, for tests, pictures and recordings. A run pays nothing for what a probe does not watch.
 * Functions that return events are to be called at once or not at all: they may have to create the events.
 */
export interface PipelineProbe {
  /** A plugin gets its context, once for each run of the pipeline. */
  opened?(place: StagePlace, context: PipelineRunContext): void;
  /** A collector is started, once for each run of the pipeline. */
  started?(place: StagePlace): void;
  /** A collector emitted events, which may have to wait for room. */
  collected?(place: StagePlace, events: () => readonly CollectedEvent[]): void;
  /** Collected events are in flight from now on. In calls of forwarders, all that is made from them has this root. */
  admitted?(place: StagePlace, events: () => readonly CollectedEvent[], root: object): void;
  /** A collector could not make an event of what it got. */
  refused?(place: StagePlace): void;
  /** A collector has completed by itself. */
  completed?(place: StagePlace): void;
  /** A collector failed: the run ends once what is in flight has drained. */
  failed?(place: StagePlace): void;
  /**
   * Events left a stage: were admitted from a collector, left a processor, or were delivered by a forwarder. With a probe
   * that has this, processors run in this thread only.
   */
  left?(place: StagePlace, events: readonly CollectedEvent[]): void;
  /** Events went no further. Values that are not events are left out. */
  dropped?(place: StagePlace, reason: DropReason, events: readonly CollectedEvent[]): void;
  /** Everything that came of these events of a collector was delivered, dropped or dead-lettered: the worst of it is `outcome`. */
  acknowledged?(place: StagePlace, events: () => readonly CollectedEvent[], outcome: Outcome): void;
  /**
   * A pipeline that delivers exactly once commits what was acknowledged before. What is returned is called when that is
   * committed. If a run fails, its collectors emit again what was not.
   */
  committing?(): (() => void) | undefined;
  /** An event goes to the dead letter, as this entry, because of a failure at this place. */
  deadLettered?(place: StagePlace, event: CollectedEvent, entry: CollectedEvent): void;
  /**
   * Calls of a forwarder start: one with all of these events, or as many as there are events, with one each. What is
   * returned is called when they have ended.
   */
  called?(place: StagePlace, parts: readonly CallPart[], calls: number): CallEnded | undefined;
  /** A forwarder failed and will be tried again in `wait` milliseconds. */
  retried?(place: StagePlace, attempt: number, wait: number): void;
  /** A plugin failed on an event. The error may quote it. */
  pluginFailed?(place: StagePlace, error: unknown): void;
}
