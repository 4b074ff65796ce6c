import { asyncScheduler } from 'rxjs';
import type { PipelineProbe, StagePlace } from '../engine/probe.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { DropReason, PipelineState } from '../sdk/status.ts';
import { FIRST_UNSHOWN_LETTER } from './marbles.ts';

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
  readonly states: readonly { readonly at: number; readonly state: PipelineState }[];
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Gives every event a letter. What a processor makes of an event keeps its letter, so that one can follow it
 * through the picture.
 */
export class Letters {
  readonly #letters = new WeakMap<CollectedEvent, string>();
  readonly #free: string[];

  /** @param taken letters that the test gives itself */
  constructor(taken: ReadonlySet<string>) {
    this.#free = [...ALPHABET].filter((letter) => !taken.has(letter));
  }

  set(event: CollectedEvent, letter: string): void {
    const isShown = (letter.codePointAt(0) ?? 0) < FIRST_UNSHOWN_LETTER;
    this.#letters.set(event, isShown ? letter : '·');
  }

  /** The event's letter; a free one if it came from nowhere known. Beyond 62 of them it is `·`. */
  of(event: CollectedEvent): string {
    const known = this.#letters.get(event);
    if (known !== undefined) return known;
    const letter = this.#free.shift() ?? '·';
    this.#letters.set(event, letter);
    return letter;
  }

  inherit(child: unknown, parent: CollectedEvent): void {
    if (typeof child !== 'object' || child === null || this.#letters.has(child as CollectedEvent)) return;
    this.#letters.set(child as CollectedEvent, this.of(parent));
  }
}

/** Writes down what happens at every stage. */
export class TraceRecorder implements PipelineProbe {
  readonly #letters: Letters;
  readonly #rows = new Map<string, { row: Omit<TraceRow, 'marks'>; marks: TraceMark[] }>();
  readonly #handed = new Map<string, HandedEvent[]>();
  readonly #failures: PluginFailure[] = [];
  /** Events that were collected and are not acknowledged, with their collectors. */
  readonly #open = new Map<CollectedEvent, StagePlace>();
  readonly #batches = new Map<string, WeakMap<CollectedEvent, number>>();
  #calls = 0;
  #isClosed = false;
  /** Gets the context of each plugin. */
  onOpened: ((entry: string, context: PipelineRunContext) => void) | undefined;

  constructor(letters: Letters, rows: readonly Omit<TraceRow, 'marks'>[]) {
    this.#letters = letters;
    for (const row of rows) this.#rows.set(keyOf(row.place), { row, marks: [] });
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

  /** From now on nothing is written down. */
  close(): void {
    this.#isClosed = true;
  }

  opened({ name }: StagePlace, context: PipelineRunContext): void {
    this.onOpened?.(name, context);
  }

  left(place: StagePlace, events: readonly CollectedEvent[]): void {
    const batches = isForwarder(place) ? this.#batches.get(place.name) : undefined;
    for (const event of events) {
      if (place.kind === 'collect') this.#open.set(event, place);
      const batch = batches?.get(event);
      const letter = this.#letters.of(event);
      this.#mark(place, {
        kind: 'event',
        at: now(),
        letter,
        event,
        ...(batch === undefined ? {} : { batch }),
      });
    }
  }

  acknowledged(_place: StagePlace, events: readonly CollectedEvent[]): void {
    for (const event of events) this.#open.delete(event);
  }

  /**
   * A run has ended: what it left open is given up, unless its collector emits it again in the next run.
   */
  runEnded(comesAgain: (collector: string) => boolean): void {
    for (const [event, place] of this.#open) {
      if (!comesAgain(place.name)) {
        this.#mark(place, {
          kind: 'drop',
          at: now(),
          letter: this.#letters.of(event),
          event,
          reason: 'given_up',
        });
      }
    }
    this.#open.clear();
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

  dropped(place: StagePlace, reason: DropReason, events: readonly CollectedEvent[]): void {
    for (const event of events) {
      this.#mark(place, { kind: 'drop', at: now(), letter: this.#letters.of(event), event, reason });
    }
  }

  deadLettered(place: StagePlace, event: CollectedEvent, entry: CollectedEvent): void {
    this.#letters.inherit(entry, event);
    this.#mark(place, { kind: 'dead_letter', at: now(), letter: this.#letters.of(event), event });
  }

  handed(forwarder: string, event: CollectedEvent): void {
    if (this.#isClosed) return;
    const before = this.#handed.get(forwarder) ?? [];
    this.#handed.set(forwarder, before);
    before.push({ at: now(), event });
  }

  retried(place: StagePlace, attempt: number, wait: number): void {
    this.#mark(place, { kind: 'retry', at: now(), attempt, wait });
  }

  pluginFailed(place: PluginFailure['place'], error: unknown): void {
    if (!this.#isClosed) this.#failures.push({ at: now(), place, error });
  }

  failed(place: StagePlace): void {
    this.#mark(place, { kind: 'error', at: now() });
  }

  ended(place: StagePlace): void {
    this.#mark(place, { kind: 'end', at: now() });
  }

  #mark(place: StagePlace, mark: TraceMark): void {
    if (!this.#isClosed) this.#rows.get(keyOf(place))?.marks.push(mark);
  }
}

const now = () => asyncScheduler.now();

const isForwarder = ({ kind }: StagePlace) => kind === 'forward' || kind === 'dead_letter';

function keyOf({ kind, name }: StagePlace): string {
  return `${kind} ${name}`;
}
