import { inspect, isDeepStrictEqual } from 'node:util';
import type { PipelineRunContext } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { PipelineStats } from '../sdk/status.ts';
import { type Duration, durationText, toMilliseconds } from './duration.ts';
import { PipelineRun } from './pipeline-run.ts';
import type { Trace } from './trace.ts';

/** At most so many instants are recorded: each of them holds the counters and what has changed in the caches. */
const MOST_INSTANTS = 10_000;

/** What a run was like when an instant of virtual time had passed, apart from its trace. */
interface Instant {
  readonly at: number;
  readonly stats: PipelineStats;
  /** Lines of the log so far. */
  readonly logged: number;
  /** Marks of the trace so far, and changes of the state. */
  readonly marks: number;
  readonly caches: Caches;
}

/** Copies of caches, by the names of entries. */
interface Caches {
  readonly shared: unknown;
  readonly own: Readonly<Record<string, unknown>>;
}

const NO_CACHES: Caches = { shared: {}, own: {} };

/** A forwarder that has failed and waits. */
export interface PendingRetry {
  readonly forwarder: string;
  /** The attempt that comes next; the first one is 1. */
  readonly attempt: number;
  /** When it comes: milliseconds from the start. */
  readonly at: number;
}

/** Writes down a run instant by instant, so that a {@link SteppedRun} can go back and forth in it. */
export class InstantRecorder {
  readonly instants: Instant[] = [];
  readonly #contexts = new Map<string, PipelineRunContext>();
  #last: { readonly text: string; readonly caches: Caches } | undefined;

  /** A plugin got its context; after a restart of the pipeline it is a new one, with the same caches. */
  opened(entry: string, context: PipelineRunContext): void {
    this.#contexts.set(entry, context);
  }

  /** All that happens at a time has happened. */
  record(at: number, stats: PipelineStats, logged: number, marks: number): void {
    const { at: _, ...last } = this.instants.at(-1) ?? { at: undefined };
    const instant = { stats, logged, marks, caches: this.#caches() };
    // A timer that only looks whether there is something to do is none.
    if (isDeepStrictEqual(instant, last)) return;
    if (this.instants.at(-1)?.at === at) this.instants.pop();
    if (this.instants.length < MOST_INSTANTS) this.instants.push({ at, ...instant });
  }

  /** Caches are copied only if they have changed: most plugins have none. */
  #caches(): Caches {
    const contexts = [...this.#contexts];
    const shared = contexts[0]?.[1].shared_cache ?? {};
    const isEmpty = (cache: object) => Object.keys(cache).length === 0;
    if (isEmpty(shared) && contexts.every(([, { cache }]) => isEmpty(cache))) return NO_CACHES;
    const own = Object.fromEntries(contexts.map(([name, { cache }]) => [name, cache]));
    const text = inspect({ shared, own }, { depth: 8, maxArrayLength: null, maxStringLength: null });
    if (this.#last?.text !== text) {
      const copies = Object.entries(own).map(([name, cache]) => [name, copyOf(cache)]);
      this.#last = { text, caches: { shared: copyOf(shared), own: Object.fromEntries(copies) } };
    }
    return this.#last.caches;
  }
}

/** A copy of a cache; of values that cannot be copied, such as functions, it has what Node shows of them. */
function copyOf(cache: object): unknown {
  const entries = Object.entries(cache).map(([key, value]) => {
    try {
      return [key, structuredClone(value)];
    } catch {
      return [key, inspect(value)];
    }
  });
  return Object.fromEntries(entries);
}

/**
 * A run in virtual time that is looked at step by step. All that a {@link PipelineRun} tells is told as of `now`: events
 * that were delivered later have not been delivered yet. The whole run has been recorded, so time can go back, too.
 *
 * `advance` and `goTo` move to a time, `next` and `previous` to the nearest instant at which something happened. No time
 * is before the start or after the last instant.
 */
export class SteppedRun extends PipelineRun {
  readonly #whole: PipelineRun;
  readonly #instants: readonly Instant[];
  #instant!: Instant;
  #now!: number;

  constructor(whole: PipelineRun, instants: readonly Instant[]) {
    super(
      whole.trace,
      whole.stats,
      whole.log,
      whole.failures,
      whole.disk,
      whole.maskingRules,
      whole.assumptions,
    );
    this.#whole = whole;
    this.#instants = instants;
    this.#moveTo(0);
  }

  /** Milliseconds from the start. */
  get now(): number {
    return this.#now;
  }

  /** The times at which something happened. */
  get instants(): readonly number[] {
    return this.#instants.map(({ at }) => at);
  }

  /** Moves on by a time. */
  advance(duration: Duration): this {
    return this.#moveTo(this.#now + toMilliseconds(duration));
  }

  /** Moves to a time from the start. */
  goTo(time: Duration): this {
    return this.#moveTo(toMilliseconds(time));
  }

  /** Moves to the next instant; false if this is the last one. */
  next(): boolean {
    const next = this.#instants.find(({ at }) => at > this.#now);
    if (next !== undefined) this.#moveTo(next.at);
    return next !== undefined;
  }

  /** Moves to the instant before; false if this is the first one. */
  previous(): boolean {
    const previous = this.#instants.findLast(({ at }) => at < this.#now);
    if (previous !== undefined) this.#moveTo(previous.at);
    return previous !== undefined;
  }

  /** The cache of an entry. */
  cache(entry: string): unknown {
    return this.#instant.caches.own[entry] ?? {};
  }

  get sharedCache(): unknown {
    return this.#instant.caches.shared;
  }

  /** Events that collectors have emitted, and that wait because `max_in_flight` events are in flight. */
  get waiting(): number {
    const started = this.trace.states.findLast(({ state }) => state === 'running')?.at ?? 0;
    if (this.endedAt !== undefined) return 0;
    const before = this.#instants.findLast(({ at }) => at < started)?.stats;
    const marks = this.trace.rows.flatMap(({ place, marks }) => (place.kind === 'collect' ? marks : []));
    const admitted = marks.filter(({ kind, at }) => at >= started && (kind === 'event' || kind === 'drop'));
    return this.stats.collected - (before?.collected ?? 0) - admitted.length;
  }

  /** Forwarders that have failed and wait for their next attempt. */
  get retries(): PendingRetry[] {
    if (this.endedAt !== undefined) return [];
    return this.trace.rows.flatMap(({ place, marks }) =>
      marks.flatMap((mark) =>
        mark.kind === 'retry' && mark.at + mark.wait > this.#now
          ? [{ forwarder: place.name, attempt: mark.attempt + 1, at: mark.at + mark.wait }]
          : [],
      ),
    );
  }

  #moveTo(time: number): this {
    const last = this.#instants.at(-1) as Instant;
    if (time > last.at && this.#instants.length === MOST_INSTANTS) {
      const message = `only the first ${MOST_INSTANTS} instants of a run are recorded; the last one is at ${durationText(last.at)}`;
      throw new MillraceError('MILLRACE_ARGUMENT', message);
    }
    this.#now = Math.max(0, Math.min(time, last.at));
    this.#instant = this.#instants.findLast(({ at }) => at <= this.#now) ?? (this.#instants[0] as Instant);
    const { trace, log, failures } = this.#whole;
    const isPast = ({ at }: { readonly at: number }) => at <= this.#now;
    Object.assign(this, {
      trace: pastOf(trace, isPast),
      stats: this.#instant.stats,
      log: log.slice(0, this.#instant.logged),
      failures: failures.filter(isPast),
    });
    return this;
  }
}

function pastOf(trace: Trace, isPast: (item: { readonly at: number }) => boolean): Trace {
  const rows = trace.rows.map((row) => ({
    ...row,
    marks: row.marks.filter(isPast),
    ...(row.handed === undefined ? {} : { handed: row.handed.filter(isPast) }),
  }));
  const { files, flight, states } = trace;
  return {
    ...trace,
    rows,
    states: states.filter(isPast),
    ...(flight === undefined ? {} : { flight: flight.filter(isPast) }),
    ...(files === undefined ? {} : { files: files.filter(isPast) }),
  };
}
