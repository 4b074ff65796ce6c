import type { StagePlace } from '../engine/observer.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { DropReason, PipelineStats } from '../sdk/status.ts';
import type { MarbleEntry } from './marbles.ts';
import { isForwarder, type PluginFailure, type Trace, type TraceState } from './trace.ts';
import type { DiskCall } from './virtual-machine.ts';

/** An event that went no further: when, where and why. */
export interface DroppedEntry extends MarbleEntry {
  /** The entry at which it was dropped. */
  readonly by: string;
  /** `given_up`: it was in flight when a run failed, or when the deadline of a stop passed. */
  readonly reason: DropReason | 'given_up';
}

/** The virtual files of a run. */
export interface DiskRecord {
  /** What each file holds at the end, by its path. */
  readonly contents: ReadonlyMap<string, string>;
  /** The calls of the process that have changed the disk, in their order. */
  readonly calls: readonly DiskCall[];
}

/** The rules that masked something, by the names of processors. */
type MaskingRules = ReadonlyMap<string, ReadonlySet<string>>;

/** What became of a pipeline in virtual time. Times are milliseconds from the start. */
export class PipelineRun {
  readonly trace: Trace;
  readonly stats: PipelineStats;
  /** What the engine and the plugins logged, as `level message`. */
  readonly log: readonly string[];
  /** What plugins threw on events, and what made a run fail, with the whole error: it may quote events of the test. */
  readonly failures: readonly PluginFailure[];
  readonly disk: DiskRecord;
  readonly maskingRules: MaskingRules;
  /**
   * What the result rests on, because a plugin of a collector does not say how it behaves: a run may be another. One
   * sentence each.
   */
  readonly assumptions: readonly string[];

  constructor(
    trace: Trace,
    stats: PipelineStats,
    log: readonly string[],
    failures: readonly PluginFailure[] = [],
    disk: DiskRecord = { contents: new Map(), calls: [] },
    maskingRules: MaskingRules = new Map(),
    assumptions: readonly string[] = [],
  ) {
    this.trace = trace;
    this.stats = stats;
    this.log = log;
    this.failures = failures;
    this.disk = disk;
    this.maskingRules = maskingRules;
    this.assumptions = assumptions;
  }

  /** What each virtual file holds at the end, by its path. */
  get files(): ReadonlyMap<string, string> {
    return this.disk.contents;
  }

  /** The last state: `running` if the pipeline had not ended when virtual time did. */
  get state(): TraceState {
    return this.trace.states.at(-1)?.state ?? 'idle';
  }

  /** When the run ended; undefined if it did not. */
  get endedAt(): number | undefined {
    const last = this.trace.states.at(-1);
    return last !== undefined && ['completed', 'failed', 'stopped', 'crashed'].includes(last.state)
      ? last.at
      : undefined;
  }

  get states(): Trace['states'] {
    return this.trace.states;
  }

  /** What a forwarder has delivered, and when. The dead letter is a forwarder too. */
  forwarded(forwarder: string): MarbleEntry[] {
    return this.#entries((place) => isForwarder(place) && place.name === forwarder, forwarder);
  }

  /** The events that a forwarder has delivered, whole: with their timestamps and all fields. */
  events(forwarder: string): CollectedEvent[] {
    const marks = this.trace.rows.filter(({ place }) => isForwarder(place) && place.name === forwarder);
    return marks.flatMap(({ marks }) => marks).flatMap((mark) => (mark.kind === 'event' ? [mark.event] : []));
  }

  /** What left a processor or was admitted from a collector, and when. */
  left(entry: string): MarbleEntry[] {
    return this.#entries((place) => !isForwarder(place) && place.name === entry, entry);
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

  #entries(isMeant: (place: StagePlace) => boolean, name: string): MarbleEntry[] {
    const rows = this.trace.rows.filter(({ place }) => isMeant(place));
    if (rows.length === 0) {
      const names = this.trace.rows.map(({ place }) => place.name).join(', ');
      throw new MillraceError(
        'MILLRACE_ARGUMENT',
        `the pipeline ${this.trace.pipeline} has no such entry ${name}; it has ${names}`,
      );
    }
    return rows
      .flatMap(({ marks }) => marks)
      .flatMap((mark) => (mark.kind === 'event' ? [{ at: mark.at, data: mark.event.data }] : []))
      .sort((a, b) => a.at - b.at);
  }
}

/** The runs of several pipelines as one: all that they did, the states of the last one, and the files that they share. */
export function joinedRun(runs: readonly PipelineRun[]): PipelineRun {
  const last = runs.at(-1) as PipelineRun;
  if (runs.length === 1) return last;
  const trace: Trace = {
    pipeline: runs.map(({ trace: { pipeline } }) => pipeline).join(' → '),
    rows: runs.flatMap(({ trace: { rows } }) => rows),
    states: last.trace.states,
    ...(last.trace.files === undefined ? {} : { files: last.trace.files }),
  };
  return new PipelineRun(
    trace,
    joinedStats(runs.map(({ stats }) => stats)),
    runs.flatMap(({ log }) => log),
    runs.flatMap(({ failures }) => failures),
    last.disk,
    last.maskingRules,
    runs.flatMap(({ assumptions }) => assumptions),
  );
}

/** The counters of several runs together. */
export function joinedStats(all: readonly PipelineStats[]): PipelineStats {
  return all.reduce((sum, stats) => added(sum, stats));
}

/** The sum of two numbers, or of the numbers under each name of two mappings. */
function added<T>(a: T, b: T): T {
  if (a === undefined || b === undefined) return a ?? b;
  if (typeof a === 'number') return (a + Number(b)) as T;
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  const names = Object.keys({ ...left, ...right });
  return Object.fromEntries(names.map((name) => [name, added(left[name], right[name])])) as T;
}
