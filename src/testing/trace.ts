import { asyncScheduler } from 'rxjs';
import type { EventsOf, JoinedEvent, PipelineObserver, StagePlace } from '../engine/observer.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { DropReason, PipelineState } from '../sdk/status.ts';
import { FlightCounter, type FlightLevel } from './flight-counter.ts';
import { FIRST_UNSHOWN_LETTER } from './marbles.ts';

/**
 * The collected event that an event was made of: the collector, and its position in what that emits, from 0. What a
 * collector with checkpoints emits again after a restart has the position that it had before.
 */
export interface EventOrigin {
  readonly collector: string;
  readonly position: number;
}

/** Something that happened at a stage, at a virtual time in milliseconds. */
export type TraceMark =
  /** An event left the stage: admitted from a collector, out of a processor, delivered by a forwarder. */
  | {
      readonly kind: 'event';
      readonly at: number;
      readonly letter: string;
      readonly event: CollectedEvent;
      /** The number of the call that delivered it together with others; undefined if it was alone. */
      readonly batch?: number;
      /** The events that a processor joined to it. */
      readonly parts?: readonly JoinedPart[];
      /** What it was made of. Undefined for an event that a processor emits of no event. */
      readonly origin?: EventOrigin | undefined;
    }
  | {
      readonly kind: 'drop';
      readonly at: number;
      readonly letter: string;
      readonly event: CollectedEvent;
      readonly reason: DropReason | 'given_up';
    }
  | {
      readonly kind: 'dead_letter';
      readonly at: number;
      readonly letter: string;
      readonly event: CollectedEvent;
    }
  /** A forwarder failed and tries again after `wait` ms. */
  | { readonly kind: 'retry'; readonly at: number; readonly attempt: number; readonly wait: number }
  /** A collector failed. */
  | { readonly kind: 'error'; readonly at: number }
  /** A collector completed. */
  | { readonly kind: 'end'; readonly at: number };

/** An event that was joined with others to a new one. */
interface JoinedPart {
  readonly letter: string;
  readonly event: CollectedEvent;
}

/** What happened at one stage. */
export interface TraceRow {
  readonly place: StagePlace;
  readonly plugin: string;
  /** The entry's settings, without `plugin` and without defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly marks: readonly TraceMark[];
  /** What a forwarder of the test was given, at every attempt: also what it has not delivered. */
  readonly handed?: readonly HandedEvent[];
}

interface HandedEvent {
  readonly at: number;
  readonly event: CollectedEvent;
}

/** An error of a plugin that an event went no further for, or of a run. It may quote events of the test. */
export interface PluginFailure {
  readonly at: number;
  /** The entry, or the pipeline whose run failed. */
  readonly place: StagePlace | { readonly kind: 'pipeline'; readonly name: string };
  readonly error: unknown;
}

/** A run of a pipeline, stage by stage in the order of the data's way; what pictures are drawn from. */
export interface Trace {
  readonly pipeline: string;
  readonly rows: readonly TraceRow[];
  /** The number of events in flight, wherever it changes. */
  readonly flight?: readonly FlightLevel[];
  readonly states: readonly { readonly at: number; readonly state: TraceState }[];
  /** What the test did to virtual files, and to the process. */
  readonly files?: readonly { readonly at: number; readonly text: string }[];
}

/** The state of a pipeline, or of one whose process was killed. */
export type TraceState = PipelineState | 'crashed';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Gives every event a letter, and remembers its origin. What a processor makes of an event keeps both, so that one can
 * follow it through the picture.
 */
export class Letters {
  /** Not a WeakMap, which costs time in each garbage collection: the trace holds most events anyway. */
  readonly #marks = new Map<CollectedEvent, EventMark>();
  readonly #free: string[];

  /** @param taken letters that the test gives itself */
  constructor(taken: ReadonlySet<string>) {
    this.#free = [...ALPHABET].filter((letter) => !taken.has(letter));
  }

  /** An event of a collector; without a letter of its own, it gets a free one when it is first shown. */
  add(event: CollectedEvent, origin: EventOrigin, letter?: string): void {
    const isShown = (letter?.codePointAt(0) ?? 0) < FIRST_UNSHOWN_LETTER;
    this.#marks.set(event, { letter: isShown ? letter : '·', origin });
  }

  /** The event's letter; a free one if it came from nowhere known. Beyond 62 of them it is `·`. */
  of(event: CollectedEvent): string {
    const mark = this.#markOf(event);
    mark.letter ??= this.#free.shift() ?? '·';
    return mark.letter;
  }

  originOf(event: CollectedEvent): EventOrigin | undefined {
    return this.#marks.get(event)?.origin;
  }

  inherit(child: unknown, parent: CollectedEvent): void {
    if (typeof child !== 'object' || child === null || this.#marks.has(child as CollectedEvent)) return;
    this.of(parent);
    this.#marks.set(child as CollectedEvent, this.#markOf(parent));
  }

  #markOf(event: CollectedEvent): EventMark {
    let mark = this.#marks.get(event);
    if (mark === undefined) {
      mark = { letter: undefined, origin: undefined };
      this.#marks.set(event, mark);
    }
    return mark;
  }
}

/** Shared by an event and all that processors make of it. */
interface EventMark {
  letter: string | undefined;
  readonly origin: EventOrigin | undefined;
}

/** Writes down what happens at every stage. */
export class TraceRecorder implements PipelineObserver {
  readonly #letters: Letters;
  readonly #rows = new Map<string, { row: Omit<TraceRow, 'marks'>; marks: TraceMark[] }>();
  /** The marks of the rows, by the stages that the engine passes, because each event has several marks. */
  readonly #marks = new WeakMap<StagePlace, TraceMark[]>();
  readonly #handed = new Map<string, HandedEvent[]>();
  readonly #failures: PluginFailure[] = [];
  /** Events that were collected and are not acknowledged, with their collectors. */
  readonly #open = new Map<CollectedEvent, StagePlace>();
  readonly #parts = new WeakMap<CollectedEvent, readonly JoinedPart[]>();
  readonly #batches = new Map<string, WeakMap<CollectedEvent, number>>();
  readonly #flight: FlightCounter;
  #calls = 0;
  #markCount = 0;
  /** Nothing is written down, because the process was killed, or the run was given up. */
  isPaused = false;
  /** Gets the context of each plugin. */
  onOpened: ((entry: string, context: PipelineRunContext) => void) | undefined;

  constructor(letters: Letters, rows: readonly Omit<TraceRow, 'marks'>[]) {
    this.#letters = letters;
    for (const row of rows) this.#rows.set(keyOf(row.place), { row, marks: [] });
    this.#flight = new FlightCounter(rows);
  }

  /** A collector emitted an event. */
  emitted(): void {
    if (!this.isPaused) this.#flight.emitted();
  }

  get flight(): readonly FlightLevel[] {
    return this.#flight.levels;
  }

  /** How many marks there are in all rows, those that were cut off again included. */
  get marks(): number {
    return this.#markCount;
  }

  get rows(): TraceRow[] {
    return [...this.#rows.values()].map(({ row, marks }) => {
      const handed = isForwarder(row.place) ? this.#handed.get(row.place.name) : undefined;
      return { ...row, marks, ...(handed === undefined ? {} : { handed }) };
    });
  }

  get failures(): readonly PluginFailure[] {
    return this.#failures;
  }

  opened({ name }: StagePlace, context: PipelineRunContext): void {
    this.onOpened?.(name, context);
  }

  left(place: StagePlace, count: number, eventsOf: EventsOf): void {
    if (this.isPaused) return;
    const events = eventsOf();
    const batches = isForwarder(place) ? this.#batches.get(place.name) : undefined;
    for (const event of events) {
      if (place.kind === 'collect') this.#open.set(event, place);
      const batch = batches?.get(event);
      const parts = this.#parts.get(event);
      this.#mark(place, {
        ...this.#markOf('event', event),
        origin: this.#letters.originOf(event),
        ...(batch !== undefined && { batch }),
        ...(parts !== undefined && { parts }),
      });
    }
    this.#flight.left(place, count);
  }

  joined(_place: StagePlace, count: number, made?: JoinedEvent): void {
    if (this.isPaused || count === 0 || made === undefined) return;
    const parts = made.parts.map((event) => ({ letter: this.#letters.of(event), event }));
    this.#parts.set(made.event, parts);
  }

  rejected(place: StagePlace, count: number, _outcome: string, eventsOf: EventsOf): void {
    this.dropped(place, 'buffer_full', count, eventsOf);
  }

  acknowledged({ kind }: StagePlace, count: number, events: EventsOf): void {
    // What a buffer has was acknowledged when it was written.
    if (this.isPaused || kind === 'buffer') return;
    for (const event of events()) this.#open.delete(event);
    this.#flight.acknowledged(count);
  }

  /**
   * A run has ended: what it left open is given up, unless its collector emits it again in the next run.
   */
  runEnded(comesAgain: (collector: string) => boolean): void {
    for (const [event, place] of this.#open) {
      if (!comesAgain(place.name)) {
        this.#mark(place, { ...this.#markOf('drop', event), reason: 'given_up' });
      }
    }
    this.#open.clear();
    this.#flight.emptied();
  }

  /** One call of a forwarder is about to deliver these events. */
  delivering(forwarder: string, events: readonly CollectedEvent[]): void {
    if (events.length < 2) return;
    const batches = this.#batches.get(forwarder) ?? new WeakMap<CollectedEvent, number>();
    this.#batches.set(forwarder, batches);
    this.#calls++;
    for (const event of events) batches.set(event, this.#calls);
  }

  /** All but the first events that a forwarder delivered were cut off its output. */
  cutBack(forwarder: string, count: number): void {
    const marks = this.#rows.get(keyOf({ kind: 'forward', name: forwarder }))?.marks;
    const delivered = marks?.filter(({ kind }) => kind === 'event').slice(count) ?? [];
    for (const mark of delivered) marks?.splice(marks.indexOf(mark), 1);
  }

  dropped(place: StagePlace, reason: DropReason, count: number, events: EventsOf): void {
    if (this.isPaused) return;
    for (const event of events()) this.#mark(place, { ...this.#markOf('drop', event), reason });
    this.#flight.finished(place, count);
  }

  deadLettered(place: StagePlace, event: CollectedEvent, entry: CollectedEvent): void {
    if (this.isPaused) return;
    this.#letters.inherit(entry, event);
    this.#mark(place, this.#markOf('dead_letter', event));
    this.#flight.finished(place, 1);
  }

  handed(forwarder: string, event: CollectedEvent): void {
    if (this.isPaused) return;
    const before = this.#handed.get(forwarder) ?? [];
    this.#handed.set(forwarder, before);
    before.push({ at: now(), event });
  }

  retried(place: StagePlace, attempt: number, wait: number): void {
    this.#mark(place, { kind: 'retry', at: now(), attempt, wait });
  }

  pluginFailed(place: PluginFailure['place'], { error }: { readonly error: unknown }): void {
    if (!this.isPaused) this.#failures.push({ at: now(), place, error });
  }

  failed(place: StagePlace): void {
    this.#mark(place, { kind: 'error', at: now() });
  }

  ended(place: StagePlace): void {
    this.#mark(place, { kind: 'end', at: now() });
  }

  #markOf<K extends TraceMark['kind']>(kind: K, event: CollectedEvent) {
    return { kind, at: now(), letter: this.#letters.of(event), event };
  }

  #mark(place: StagePlace, mark: TraceMark): void {
    if (this.isPaused) return;
    let marks = this.#marks.get(place);
    if (marks === undefined) {
      marks = this.#rows.get(keyOf(place))?.marks ?? [];
      this.#marks.set(place, marks);
    }
    marks.push(mark);
    this.#markCount++;
  }
}

const now = () => asyncScheduler.now();

/** The dead letter is a forwarder too. */
export const isForwarder = ({ kind }: StagePlace) => kind === 'forward' || kind === 'dead_letter';

function keyOf({ kind, name }: StagePlace): string {
  return `${kind} ${name}`;
}
