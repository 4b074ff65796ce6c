import type { PipelineRunContext } from '../sdk/context.ts';
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

/** Watches a run stage by stage, for tests and pictures. A run without one pays nothing for it. */
export interface PipelineProbe {
  /** A plugin gets its context, once for each run of the pipeline. */
  opened?(place: StagePlace, context: PipelineRunContext): void;
  /** Events left a stage: were admitted from a collector, left a processor, or were delivered by a forwarder. */
  left(place: StagePlace, events: readonly CollectedEvent[]): void;
  /** Events went no further. Values that are no events are left out. */
  dropped(place: StagePlace, reason: DropReason, events: readonly CollectedEvent[]): void;
  /** Everything that came of these events of a collector was delivered, dropped or dead-lettered. */
  acknowledged(place: StagePlace, events: readonly CollectedEvent[]): void;
  /** An event goes to the dead letter, as this entry, because of a failure at this place. */
  deadLettered(place: StagePlace, event: CollectedEvent, entry: CollectedEvent): void;
  /** A forwarder failed and will be tried again in `wait` milliseconds. */
  retried(place: StagePlace, attempt: number, wait: number): void;
  /** A plugin failed on an event. The error may quote it. */
  pluginFailed(place: StagePlace, error: unknown): void;
  /** A collector failed: the run ends once what is in flight has drained. */
  failed(place: StagePlace): void;
}
