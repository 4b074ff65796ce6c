import { asyncScheduler } from 'rxjs';
import { steadyClock } from '../../../operators/internal.ts';
import type {
  CallEnded,
  CallPart,
  Calls,
  EventsOf,
  PipelineObserver,
  StagePlace,
} from '../../engine/observer.ts';
import {
  failedEventsOf,
  isFatal,
  isPermanent,
  isUnfinished,
  retryAfterOf,
  safeReason,
} from '../../sdk/errors.ts';
import type { Outcome } from '../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { toJson } from '../../sdk/serialise.ts';

/** What a collector emitted in one run of the pipeline. Times are milliseconds from the start of the recording. */
export interface RecordedRun {
  readonly startedAt: number;
  readonly events: RecordedEvent[];
  end: { readonly at: number; readonly kind: 'completed' | 'failed' } | undefined;
}

/** An event as it was collected: no mask has seen it. */
export interface RecordedEvent {
  readonly at: number;
  readonly event: CollectedEvent;
  /** What its timestamp is if the collector stamped it when it emitted it: ISO 8601 UTC. */
  readonly stamp: number;
}

/** Calls of a forwarder that started at one time and went the same way. */
export interface RecordedCall {
  readonly count: number;
  readonly startedAt: number;
  /** Undefined while it goes on. */
  endedAt: number | undefined;
  failure: RecordedFailure | undefined;
}

interface RecordedFailure {
  /** Whether nothing is tried again. */
  readonly permanent: boolean;
  /** The run failed because of it. */
  readonly fatal: boolean;
  /** Whether anything else happened during the call. */
  readonly isConcurrent: boolean;
  /** The positions of the events that failed, from 0 on; undefined if all did. */
  readonly rejected: readonly number[] | undefined;
  /** The rejected events that are not retried. */
  readonly rejectedForGood: readonly number[];
  /** Milliseconds for which the forwarder asked not to be called. */
  readonly retryAfter: number | undefined;
  /** Milliseconds until the next attempt; undefined if there was none. */
  wait: number | undefined;
}

/** What a recorder has seen. */
export interface Recording {
  readonly collectors: ReadonlyMap<string, readonly RecordedRun[]>;
  readonly calls: ReadonlyMap<string, readonly RecordedCall[]>;
  /** When it ended: milliseconds from its start. */
  readonly endedAt: number;
  /** Why forwarders failed, and how often, by forwarder. Messages hold nothing of events. */
  readonly reasons: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** What came and is not in the recording. */
  readonly leftOut: {
    /** Events beyond the limits. */
    readonly events: number;
    /** What collectors could not make events of. */
    readonly refused: number;
    readonly calls: number;
  };
}

interface RecorderOptions {
  readonly collectors: readonly string[];
  /** Whether the pipeline has been running for some time. */
  readonly isRunning: boolean;
  /** Whether a collector emits what was not acknowledged again after a restart. */
  readonly redelivers: (collector: string) => boolean;
  /** Whether events that failed come again after so many deliveries. */
  readonly comesAgain: (collector: string, deliveries: number) => boolean;
  /** Whether the pipeline goes on from its last commit after a restart, instead of from what was acknowledged. */
  readonly commits: boolean;
  readonly mostEvents: number;
  /** Of all events as JSON. */
  readonly mostBytes: number;
  /** Called once, when a limit is reached. */
  readonly onFull: () => void;
}

const MAX_CALLS = 20_000;

/**
 * Records what the collectors of a pipeline emit, and what each call of its forwarders does. It holds events as they were
 * collected, so that masking takes no time while the pipeline runs: mask them before anything is shown.
 */
export class Recorder implements PipelineObserver {
  readonly #options: RecorderOptions;
  readonly #now = steadyClock();
  readonly #collectors = new Map<string, RecordedRun[]>();
  readonly #calls = new Map<string, RecordedCall[]>();
  readonly #reasons = new Map<string, Map<string, number>>();
  readonly #lastFailures = new Map<string, RecordedFailure>();
  /** Events that are not acknowledged yet, by collector. */
  readonly #pending = new Map<string, Set<CollectedEvent>>();
  /** Acknowledged events that the pipeline has not committed yet, by collector, if it commits. */
  readonly #uncommitted = new Map<string, Set<CollectedEvent>>();
  /** Events, as JSON, that a collector emits again after a restart: how many times each. */
  readonly #expectedAgain = new Map<string, Map<string, number>>();
  /** How often events, as JSON, have failed, by collector. */
  readonly #failures = new Map<string, Map<string, number>>();
  /** The roots of recorded events. */
  readonly #recordedRoots = new WeakSet<object>();
  /** Collectors that this run of the pipeline has started. */
  readonly #startedNow = new Set<string>();
  /** Whether the recording shows why this run failed. */
  #hasFailed = false;
  /** Fatal failures of calls that were not made again: one of them has failed the run. */
  readonly #fatalFailures = new Set<RecordedFailure>();
  /** How often collectors have emitted, and calls have started or ended, and when last. */
  #acts = 0;
  #activeAt = 0;
  readonly #leftOut = { events: 0, refused: 0, calls: 0 };
  #events = 0;
  #bytes = 0;
  #callCount = 0;
  #endedAt: number | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    if (!options.isRunning) return;
    for (const name of options.collectors) this.#startRun(name);
  }

  get recording(): Recording {
    return {
      collectors: this.#collectors,
      calls: this.#calls,
      reasons: this.#reasons,
      endedAt: this.#endedAt ?? this.#now(),
      leftOut: { ...this.#leftOut },
    };
  }

  /** Events that were recorded and are not acknowledged. */
  get inFlight(): number {
    return [...this.#pending.values()].reduce((sum, events) => sum + events.size, 0);
  }

  get isFull(): boolean {
    const { mostEvents, mostBytes } = this.#options;
    return this.#events >= mostEvents || this.#bytes >= mostBytes;
  }

  /** From now on no further events are recorded. Calls are, because they deliver what was collected before. */
  endCollecting(): void {
    this.#endedAt ??= this.#now();
  }

  started({ name }: StagePlace): void {
    if (this.#endedAt !== undefined) return;
    if (this.#startedNow.has(name)) this.#endPipelineRun();
    const pending = this.#pending.get(name);
    if (pending !== undefined && this.#options.redelivers(name)) {
      const again = new Map<string, number>();
      const uncommitted = this.#uncommitted.get(name) ?? [];
      for (const event of [...uncommitted, ...pending]) add(again, keyOf(event), 1);
      this.#expectedAgain.set(name, again);
    }
    this.#startRun(name);
  }

  /** The pipeline is about to run again. */
  #endPipelineRun(): void {
    this.#startedNow.clear();
    const open = [...this.#collectors.values()]
      .map((runs) => runs.at(-1))
      .find((run) => run?.end === undefined);
    // It failed on what is not in the recording, such as a commit. In the test, a collector fails in its place.
    if (!this.#hasFailed && this.#fatalFailures.size === 0 && open !== undefined) {
      open.end = { at: Math.max(open.startedAt, this.#activeAt), kind: 'failed' };
    }
    this.#hasFailed = false;
    this.#fatalFailures.clear();
  }

  #startRun(name: string): void {
    this.#startedNow.add(name);
    const runs = this.#collectors.get(name) ?? [];
    this.#collectors.set(name, runs);
    this.#pending.set(name, new Set());
    this.#uncommitted.set(name, new Set());
    runs.push({ startedAt: this.#now(), events: [], end: undefined });
  }

  collected({ name }: StagePlace, count: number, events: EventsOf): void {
    const run = this.#collectors.get(name)?.at(-1);
    if (run === undefined || this.#endedAt !== undefined) return;
    if (this.isFull) {
      this.#leftOut.events += count;
      return;
    }
    this.#acted();
    const at = this.#activeAt;
    const stamp = asyncScheduler.now();
    const pending = this.#pending.get(name) as Set<CollectedEvent>;
    const again = this.#expectedAgain.get(name);
    for (const event of events()) {
      pending.add(event);
      const key = keyOf(event);
      const expected = again?.get(key) ?? 0;
      if (expected > 0) {
        again?.set(key, expected - 1);
        continue;
      }
      run.events.push({ at, event, stamp });
      this.#events++;
      this.#bytes += key.length;
    }
    if (this.isFull) this.#options.onFull();
  }

  admitted({ kind, name }: StagePlace, _count: number, events: EventsOf, root: object): void {
    // What a buffer on disk gives to the forwarders comes of what was recorded, or was there before.
    if (kind === 'buffer') this.#recordedRoots.add(root);
    const pending = this.#pending.get(name);
    if (pending === undefined || pending.size === 0) return;
    if (events().some((event) => pending.has(event))) this.#recordedRoots.add(root);
  }

  refused(): void {
    if (this.#endedAt === undefined) this.#leftOut.refused++;
  }

  acknowledged({ name }: StagePlace, _count: number, events: EventsOf, outcome: Outcome): void {
    const pending = this.#pending.get(name);
    if (pending === undefined || pending.size === 0) return;
    const uncommitted = this.#options.commits ? this.#uncommitted.get(name) : undefined;
    for (const event of events()) {
      if (!pending.delete(event)) continue;
      if (outcome === 'failed' || outcome === 'rejected') this.#failed(name, event);
      uncommitted?.add(event);
    }
  }

  /** The stand-in of its collector emits it again, as the collector does. */
  #failed(name: string, event: CollectedEvent): void {
    const key = keyOf(event);
    const failures = this.#failures.get(name) ?? new Map<string, number>();
    this.#failures.set(name, failures);
    add(failures, key, 1);
    if (!this.#options.comesAgain(name, failures.get(key) ?? 0)) return;
    const again = this.#expectedAgain.get(name) ?? new Map<string, number>();
    this.#expectedAgain.set(name, again);
    add(again, key, 1);
  }

  committing(): () => void {
    const committing = Array.from(this.#uncommitted.values(), (events) => ({ events, taken: [...events] }));
    return () => {
      for (const { events, taken } of committing) for (const event of taken) events.delete(event);
    };
  }

  completed({ name }: StagePlace): void {
    this.#endRun(name, 'completed');
  }

  failed({ name }: StagePlace): void {
    this.#hasFailed = true;
    this.#endRun(name, 'failed');
  }

  #endRun(name: string, kind: 'completed' | 'failed'): void {
    const run = this.#collectors.get(name)?.at(-1);
    if (run !== undefined && this.#endedAt === undefined) run.end ??= { at: this.#now(), kind };
  }

  called({ kind, name }: StagePlace, { parts, count }: Calls): CallEnded {
    // How long the disk takes is no part of a test.
    if (kind === 'buffer') return () => {};
    this.#acted();
    const ended = this.#recordCall(name, parts(), count);
    return (failure) => {
      ended(failure);
      this.#acted();
    };
  }

  #acted(): void {
    this.#activeAt = this.#now();
    this.#acts++;
  }

  #recordCall(name: string, parts: readonly CallPart[], calls: number): CallEnded {
    // The wait after a call that is left out is not that of an earlier one.
    const isLeftOut = () => void this.#lastFailures.delete(name);
    const isRecorded = parts.flatMap(({ root, size }) =>
      new Array<boolean>(size).fill(this.#recordedRoots.has(root)),
    );
    const size = isRecorded.length;
    /** The positions of recorded events in the call. */
    const recorded = isRecorded.flatMap((is, position) => (is ? position : []));
    // It delivers what the test does not have: what was collected before the recording, or beyond its limits.
    if (recorded.length === 0) return isLeftOut;
    const count = calls === 1 ? 1 : recorded.length;
    if (this.#callCount >= MAX_CALLS) {
      this.#leftOut.calls += count;
      return isLeftOut;
    }
    this.#callCount++;
    const call: RecordedCall = { count, startedAt: this.#now(), endedAt: undefined, failure: undefined };
    const known = this.#calls.get(name) ?? [];
    this.#calls.set(name, known);
    known.push(call);
    const actsBefore = this.#acts;
    return (failure) => {
      call.endedAt = this.#now();
      if (failure === undefined) return;
      const { cause } = failure;
      const named = failedEventsOf(cause, size);
      // Their positions among the recorded events: the call of the test has no others.
      const positions = recorded.map((_, index) => index);
      const rejected = named && positions.filter((index) => named.has(recorded[index] as number));
      if (rejected?.length === 0) return isLeftOut();
      const isForGood = (index: number) => named?.get(recorded[index] as number)?.permanent === true;
      const rejectedForGood = rejected?.filter(isForGood) ?? [];
      const permanent =
        rejected === undefined ? isPermanent(cause) : rejectedForGood.length === rejected.length;
      const seconds = retryAfterOf(cause);
      const retryAfter = seconds && seconds * 1000;
      const fatal = isFatal(cause);
      const isConcurrent = this.#acts > actsBefore;
      call.failure = {
        permanent,
        fatal,
        isConcurrent,
        rejected,
        rejectedForGood,
        retryAfter,
        wait: isUnfinished(cause) && !permanent ? 0 : undefined,
      };
      if (fatal) this.#fatalFailures.add(call.failure);
      // Of a permanent failure, only events from before the recording can be tried again.
      if (permanent) isLeftOut();
      else this.#lastFailures.set(name, call.failure);
      const reasons = this.#reasons.get(name) ?? new Map<string, number>();
      this.#reasons.set(name, reasons);
      add(reasons, safeReason(cause), 1);
    };
  }

  /** Comes after the failure of the call that is made again. */
  retried({ name }: StagePlace, _attempt: number, wait: number): void {
    const failure = this.#lastFailures.get(name);
    if (failure === undefined) return;
    failure.wait = wait;
    this.#fatalFailures.delete(failure);
  }
}

/** Identifies an event, and is about as long as the event is large. */
function keyOf({ data }: CollectedEvent): string {
  try {
    return toJson(data);
  } catch {
    return '';
  }
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
