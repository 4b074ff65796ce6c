import type { StagePlace } from '../engine/probe.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { DropReason, PipelineState, PipelineStats } from '../sdk/status.ts';
import type { MarbleEntry } from './marbles.ts';
import type { PluginFailure, Trace, TraceMark } from './trace.ts';

/** An event that went no further: when, where and why. */
export interface DroppedEntry extends MarbleEntry {
  /** The entry at which it was dropped. */
  readonly by: string;
  /** `given_up`: it was in flight when a run failed, or when the deadline of a stop passed. */
  readonly reason: DropReason | 'given_up';
}

/** What became of a pipeline in virtual time. Times are milliseconds from the start. */
export class PipelineRun {
  readonly trace: Trace;
  readonly stats: PipelineStats;
  /** What the engine and the plugins logged, as `level message`. */
  readonly log: readonly string[];
  /** What plugins threw on events, and what made a run fail, with the whole error: it may quote events of the test. */
  readonly failures: readonly PluginFailure[];

  constructor(
    trace: Trace,
    stats: PipelineStats,
    log: readonly string[],
    failures: readonly PluginFailure[] = [],
  ) {
    this.trace = trace;
    this.stats = stats;
    this.log = log;
    this.failures = failures;
  }

  /** The last state: `running` if the pipeline had not ended when virtual time did. */
  get state(): PipelineState {
    return this.trace.states.at(-1)?.state ?? 'idle';
  }

  /** When the run ended; undefined if it did not. */
  get endedAt(): number | undefined {
    const last = this.trace.states.at(-1);
    return last !== undefined && ['completed', 'failed', 'stopped'].includes(last.state)
      ? last.at
      : undefined;
  }

  get states(): Trace['states'] {
    return this.trace.states;
  }

  /** What a forwarder has delivered, and when. The dead letter is a forwarder too. */
  forwarded(forwarder: string): MarbleEntry[] {
    return this.#entries((place) => isForwarder(place) && place.name === forwarder, 'event', forwarder);
  }

  /** The events that a forwarder has delivered, whole: with their timestamps and all fields. */
  events(forwarder: string): CollectedEvent[] {
    const marks = this.trace.rows.filter(({ place }) => isForwarder(place) && place.name === forwarder);
    return marks.flatMap(({ marks }) => marks).flatMap((mark) => (mark.kind === 'event' ? [mark.event] : []));
  }

  /** What left a processor or was admitted from a collector, and when. */
  left(entry: string): MarbleEntry[] {
    return this.#entries((place) => !isForwarder(place) && place.name === entry, 'event', entry);
  }

  /** What went no further, and why. */
  get dropped(): DroppedEntry[] {
    return this.trace.rows
      .flatMap(({ place, marks }) => marks.map((mark) => ({ place, mark })))
      .flatMap(({ place, mark }) =>
        mark.kind === 'drop'
          ? [{ at: mark.at, data: mark.event.data, by: place.name, reason: mark.reason }]
          : [],
      )
      .sort((a, b) => a.at - b.at);
  }

  #entries(isMeant: (place: StagePlace) => boolean, kind: TraceMark['kind'], name: string): MarbleEntry[] {
    const rows = this.trace.rows.filter(({ place }) => isMeant(place));
    if (rows.length === 0) {
      const names = this.trace.rows.map(({ place }) => place.name).join(', ');
      throw new RangeError(`the pipeline ${this.trace.pipeline} has no such entry ${name}; it has ${names}`);
    }
    return rows
      .flatMap(({ marks }) => marks)
      .flatMap((mark) =>
        mark.kind === kind && 'event' in mark ? [{ at: mark.at, data: mark.event.data }] : [],
      )
      .sort((a, b) => a.at - b.at);
  }
}

function isForwarder({ kind }: StagePlace): boolean {
  return kind === 'forward' || kind === 'dead_letter';
}
