import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { PipelineRunContext } from '../sdk/context.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { DropReason } from '../sdk/status.ts';
import type { Batch } from './batches.ts';

/** Where in a pipeline something happened. */
export interface StagePlace {
  readonly kind: 'collect' | 'process' | 'buffer' | 'forward' | 'dead_letter';
  /** The name of the entry; `buffer` for the buffer on disk. */
  readonly name: string;
}

const KINDS: Readonly<Record<StagePlace['kind'], string>> = {
  collect: 'collector',
  process: 'processor',
  buffer: 'the',
  forward: 'forwarder',
  dead_letter: 'dead letter',
};

/** A place as messages name it: `forwarder archive`, or `the buffer`. */
export function placeText({ kind, name }: StagePlace): string {
  return `${KINDS[kind]} ${name}`;
}

/** The events that something happened to. They may have to be created: call it at once or not at all. */
export type EventsOf = () => readonly CollectedEvent[];

/** Events of one call that were made from one emission of a collector. */
export interface CallPart {
  /** Identifies what was emitted: see `admitted`. */
  readonly root: object;
  /** The number of events. */
  readonly size: number;
}

/** Calls of a forwarder that start together. */
export interface Calls {
  /** One with all events, or as many as there are events, with one each. */
  readonly count: number;
  readonly events: number;
  /** When they started: milliseconds by the clock of the pipeline. */
  readonly startedAt: number;
  readonly parts: () => readonly CallPart[];
}

/** An event that was joined, and the events that it was made of. */
export interface JoinedEvent {
  readonly event: CollectedEvent;
  readonly parts: readonly CollectedEvent[];
}

/**
 * How events come to a processor or a forwarder: without being created, as `lines` or `rows`, as lines to `workers`, or as
 * `bytes` of JSON; or created, as `events` one by one, or as a `batch` of events.
 */
export type TravelForm = 'lines' | 'rows' | 'workers' | 'bytes' | 'events' | 'batch';

/** Told when calls of a forwarder have ended, with their error if they have failed. */
export type CallEnded = (failure?: { readonly cause: unknown }) => void;

/** How a plugin failed on an event. */
export interface PluginFailure {
  /** It may quote the event. */
  readonly error: unknown;
  /** The reason under which it is counted if there is no dead letter. */
  readonly reason: 'collector_failed' | 'processor_failed' | 'forwarder_failed' | 'route_failed';
  /** What the plugin did, for the log: `gave up on an event of app.log (bytes 0 to 12)`. */
  readonly what: string;
}

/**
 * What can be known about the runs of a pipeline. The stages tell all of it to one observer, which passes it on to the
 * counters, the log, and whoever else watches: tests, pictures, recordings.
 *
 * The life of an event: collected, admitted, left the collector; received by and left each processor; received by and
 * left (delivered by) each forwarder; acknowledged. On its way it may be joined, dropped or dead-lettered.
 */
export interface PipelineObserver {
  /** A plugin gets its context, once for each run of the pipeline. */
  opened?(place: StagePlace, context: PipelineRunContext): void;
  /** The stage may hold events back on purpose for so many seconds, to gather a batch or to join lines. */
  holds?(place: StagePlace, seconds: number): void;
  /** A collector is started, once for each run of the pipeline. */
  started?(place: StagePlace): void;
  /** A collector emitted events, which may have to wait for room. */
  collected?(place: StagePlace, count: number, events: EventsOf): void;
  /** A collector could not make an event of what it got. */
  refused?(place: StagePlace): void;
  /** What a collector emitted is in flight from now on. In calls of forwarders, all that is made from it has this root. */
  admitted?(place: StagePlace, count: number, events: EventsOf, root: object): void;
  /** A collector has completed by itself. */
  completed?(place: StagePlace): void;
  /** A collector failed: the run ends once what is in flight has drained. */
  failed?(place: StagePlace): void;
  /** Events reached a processor or a forwarder. */
  received?(place: StagePlace, count: number): void;
  /** A processor or a forwarder takes events in a form for the first time in this run. `why` says why they had to be created. */
  travelled?(place: StagePlace, form: TravelForm, why?: string): void;
  /**
   * Events left a stage: were admitted from a collector, left a processor, or were delivered by a forwarder. Where
   * processors run in workers, their events cannot be had, and `events` returns none.
   */
  left?(place: StagePlace, count: number, events: EventsOf): void;
  /** Events became a part of another one, which is `made`. Undefined if they are lines that were not created as events. */
  joined?(place: StagePlace, count: number, made?: JoinedEvent): void;
  /** Events went no further. Values that are not events are left out. */
  dropped?(place: StagePlace, reason: DropReason, count: number, events: EventsOf): void;
  /** A buffer has refused events of a collector, whose source is told to send them again: all at once, or less at a time. */
  rejected?(place: StagePlace, count: number, outcome: 'rejected' | 'too_large', events: EventsOf): void;
  /** A buffer has no room for what comes, or has room again. */
  bufferFull?(place: StagePlace, isFull: boolean): void;
  /** A plugin failed on an event, which is then dropped or dead-lettered. */
  pluginFailed?(place: StagePlace, failure: PluginFailure): void;
  /** An event goes to the dead letter, as this entry, because of a failure at this place. */
  deadLettered?(place: StagePlace, event: CollectedEvent, entry: CollectedEvent): void;
  /** Calls of a forwarder start. What is returned is called when they have ended. */
  called?(place: StagePlace, calls: Calls): CallEnded | undefined;
  /** A forwarder failed and will be tried again in `wait` milliseconds: attempt `attempt` of `most`, if there is a limit. */
  retried?(place: StagePlace, attempt: number, wait: number, error: unknown, most: number | undefined): void;
  /** A call of a forwarder is to be tried again for the first time, or its attempts have ended. */
  retrying?(place: StagePlace, isRetrying: boolean): void;
  /**
   * Everything that came of these events of a collector was delivered, dropped or dead-lettered: the worst of it is
   * `outcome`. They were admitted `ms` milliseconds ago.
   */
  acknowledged?(place: StagePlace, count: number, events: EventsOf, outcome: Outcome, ms: number): void;
  /**
   * A pipeline that delivers exactly once commits what was acknowledged before. What is returned is called when that is
   * committed. If a run fails, its collectors emit again what was not.
   */
  committing?(): (() => void) | undefined;
}

/** Tells several observers, one after the other. */
export class Observers implements Required<PipelineObserver> {
  readonly #all: readonly PipelineObserver[];

  constructor(all: readonly PipelineObserver[]) {
    this.#all = all;
  }

  opened(place: StagePlace, context: PipelineRunContext): void {
    for (const observer of this.#all) observer.opened?.(place, context);
  }

  holds(place: StagePlace, seconds: number): void {
    for (const observer of this.#all) observer.holds?.(place, seconds);
  }

  started(place: StagePlace): void {
    for (const observer of this.#all) observer.started?.(place);
  }

  collected(place: StagePlace, count: number, events: EventsOf): void {
    for (const observer of this.#all) observer.collected?.(place, count, events);
  }

  refused(place: StagePlace): void {
    for (const observer of this.#all) observer.refused?.(place);
  }

  admitted(place: StagePlace, count: number, events: EventsOf, root: object): void {
    for (const observer of this.#all) observer.admitted?.(place, count, events, root);
  }

  completed(place: StagePlace): void {
    for (const observer of this.#all) observer.completed?.(place);
  }

  failed(place: StagePlace): void {
    for (const observer of this.#all) observer.failed?.(place);
  }

  received(place: StagePlace, count: number): void {
    for (const observer of this.#all) observer.received?.(place, count);
  }

  travelled(place: StagePlace, form: TravelForm, why?: string): void {
    for (const observer of this.#all) observer.travelled?.(place, form, why);
  }

  left(place: StagePlace, count: number, events: EventsOf): void {
    for (const observer of this.#all) observer.left?.(place, count, events);
  }

  joined(place: StagePlace, count: number, made?: JoinedEvent): void {
    for (const observer of this.#all) observer.joined?.(place, count, made);
  }

  dropped(place: StagePlace, reason: DropReason, count: number, events: EventsOf): void {
    for (const observer of this.#all) observer.dropped?.(place, reason, count, events);
  }

  rejected(place: StagePlace, count: number, outcome: 'rejected' | 'too_large', events: EventsOf): void {
    for (const observer of this.#all) observer.rejected?.(place, count, outcome, events);
  }

  bufferFull(place: StagePlace, isFull: boolean): void {
    for (const observer of this.#all) observer.bufferFull?.(place, isFull);
  }

  pluginFailed(place: StagePlace, failure: PluginFailure): void {
    for (const observer of this.#all) observer.pluginFailed?.(place, failure);
  }

  deadLettered(place: StagePlace, event: CollectedEvent, entry: CollectedEvent): void {
    for (const observer of this.#all) observer.deadLettered?.(place, event, entry);
  }

  retried(place: StagePlace, attempt: number, wait: number, error: unknown, most: number | undefined): void {
    for (const observer of this.#all) observer.retried?.(place, attempt, wait, error, most);
  }

  retrying(place: StagePlace, isRetrying: boolean): void {
    for (const observer of this.#all) observer.retrying?.(place, isRetrying);
  }

  acknowledged(place: StagePlace, count: number, events: EventsOf, outcome: Outcome, ms: number): void {
    for (const observer of this.#all) observer.acknowledged?.(place, count, events, outcome, ms);
  }

  called(place: StagePlace, calls: Calls): CallEnded {
    const ended = this.#all.flatMap((observer) => observer.called?.(place, calls) ?? []);
    return (failure) => {
      for (const end of ended) end(failure);
    };
  }

  committing(): () => void {
    const committed = this.#all.flatMap((observer) => observer.committing?.() ?? []);
    return () => {
      for (const commit of committed) commit();
    };
  }
}

/** Tells of each form in which events come to a stage, once. */
export class TravelForms {
  readonly #place: StagePlace;
  readonly #observer: Observers;
  readonly #told = new Set<TravelForm>();

  constructor(place: StagePlace, observer: Observers) {
    this.#place = place;
    this.#observer = observer;
  }

  tell(form: TravelForm, why?: () => string): void {
    if (this.#told.has(form)) return;
    this.#told.add(form);
    this.#observer.travelled(this.#place, form, why?.());
  }
}

/** Tells of all that leaves a stage. */
export function tellLeft(place: StagePlace, observer: Observers): MonoTypeOperatorFunction<Batch> {
  return tap(({ rows }) => observer.left(place, rows.size, () => rows.events));
}
