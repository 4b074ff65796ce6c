import {
  BehaviorSubject,
  concat,
  defer,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  Subject,
  startWith,
  take,
  tap,
} from 'rxjs';
import type { WatchedPipeline } from '../admin/engine-metrics.ts';
import type { Manager } from '../engine/manager.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import { MillraceError } from '../sdk/errors.ts';
import { isFinal, type PipelineHealth, type PipelineStats, type PipelineStatus } from '../sdk/status.ts';
import type { LiveSource } from './live-line.ts';
import type { PipelineChanges } from './reload.ts';

/** One pipeline as it runs. */
interface Member {
  readonly manager: Manager;
  /** Its counters under previous managers. */
  readonly before: PipelineStats | undefined;
  /** Whether a new configuration has removed it. */
  readonly isRemoved: boolean;
}

/**
 * The pipelines of one process, each with the Manager that it runs in. A new configuration gets a Manager of its own,
 * and the pipelines that it changes move there; the others run on where they are.
 */
export class ReloadablePipelines implements LiveSource {
  readonly #members = new Map<string, Member>();
  readonly #states$ = new Subject<PipelineStatus>();
  /** The number of moves under way. A pipeline that is moving has stopped, but has not ended. */
  readonly #moves$ = new BehaviorSubject(0);
  #isStopping = false;

  /** All names, also of those that were removed. */
  get names(): string[] {
    return [...this.#members.keys()];
  }

  /** The configuration that each pipeline runs with, or ran with last. */
  configs(): Map<string, AnalyticsConfig> {
    return new Map(Array.from(this.#members, ([name, { manager }]) => [name, manager.config]));
  }

  /** {@link configs} without the removed pipelines. */
  running(): Map<string, AnalyticsConfig> {
    return new Map([...this.configs()].filter(([name]) => !this.#members.get(name)?.isRemoved));
  }

  /** Every change of a state. Never completes. */
  get states$(): Observable<PipelineStatus> {
    return this.#states$;
  }

  /** Emits once, when every pipeline has ended; then completes. */
  get finished$(): Observable<void> {
    return merge(this.#states$, this.#moves$).pipe(
      map(() => undefined),
      startWith(undefined),
      filter(() => this.#moves$.value === 0 && this.#members.size > 0 && this.names.every(this.#hasEnded)),
      take(1),
    );
  }

  states(): Record<string, PipelineStatus> {
    return this.#each(({ manager }, name) => manager.state(name) as PipelineStatus);
  }

  /** Counters since the start, including those under previous managers. */
  stats(): Record<string, PipelineStats> {
    const counted = new Map<Manager, Record<string, PipelineStats>>();
    return this.#each(({ manager, before }, name) => {
      if (!counted.has(manager)) counted.set(manager, manager.stats());
      return addStats(before, counted.get(manager)?.[name] as PipelineStats);
    });
  }

  /** The pipelines that have not been removed, for metrics and health. */
  watched(stalledAfter: number): WatchedPipeline[] {
    const health = new Map<Manager, Record<string, PipelineHealth>>();
    return [...this.#members].flatMap(([name, { manager, isRemoved }]) => {
      if (!health.has(manager)) health.set(manager, manager.health(stalledAfter));
      const status = manager.state(name);
      const counters = manager.counters(name);
      const found = health.get(manager)?.[name];
      if (isRemoved || status === undefined || counters === undefined || found === undefined) return [];
      return [{ status, counters, health: found }];
    });
  }

  /** Starts pipelines that are new, all in one Manager. */
  start(manager: Manager, names: readonly string[]): void {
    this.#follow(manager);
    for (const name of names) this.#enlist(manager, name);
    for (const name of names) manager.start(name);
  }

  /**
   * Stops and drains the pipelines that a new configuration changes, and starts each in the new Manager as soon as it
   * has stopped, and those that have failed. Emits and completes when all have been moved.
   */
  change(manager: Manager, { added, changed, failed, removed }: PipelineChanges): Observable<void> {
    return defer(() => {
      this.#moves$.next(this.#moves$.value + 1);
      this.#follow(manager);
      const restarted = [...added, ...changed, ...failed].map((name) =>
        this.#stopOne(name).pipe(tap({ complete: () => this.#startIn(manager, name) })),
      );
      for (const name of removed) {
        this.#members.set(name, { ...(this.#members.get(name) as Member), isRemoved: true });
      }
      return concat(
        merge(...restarted, ...removed.map((name) => this.#stopOne(name))).pipe(ignoreElements()),
        of(undefined),
      );
    }).pipe(finalize(() => this.#moves$.next(this.#moves$.value - 1)));
  }

  /**
   * Starts a pipeline that has failed, completed or stopped, and returns its status. One that runs goes on.
   *
   * @throws MillraceError if there is no such pipeline, or it is being stopped
   */
  startAgain(name: string): PipelineStatus {
    const member = this.#members.get(name);
    if (member === undefined || member.isRemoved) {
      const known = [...this.running().keys()].join(', ');
      throw new MillraceError(
        'MILLRACE_PIPELINE_UNKNOWN',
        `this process runs no pipeline ${JSON.stringify(name)}; it runs ${known}`,
      );
    }
    if (this.#isStopping) {
      throw new MillraceError('MILLRACE_PIPELINE_STOPPING', 'the process is being stopped');
    }
    member.manager.start(name);
    return member.manager.state(name) as PipelineStatus;
  }

  /** Stops all pipelines for good. Starts at once; the result emits when all have stopped. */
  stop(): Observable<void> {
    this.#isStopping = true;
    return this.stopThose(this.names);
  }

  /** {@link stop} for some pipelines. */
  stopThose(names: readonly string[]): Observable<void> {
    const stopping = names.map((name) => this.#stopOne(name));
    return concat(merge(...stopping).pipe(ignoreElements()), of(undefined));
  }

  #stopOne(name: string): Observable<void> {
    const member = this.#members.get(name);
    return member === undefined ? of(undefined) : member.manager.stop(name);
  }

  #startIn(manager: Manager, name: string): void {
    if (this.#isStopping) return;
    this.#enlist(manager, name);
    manager.start(name);
  }

  #enlist(manager: Manager, name: string): void {
    const before = this.#members.has(name) ? this.stats()[name] : undefined;
    this.#members.set(name, { manager, before, isRemoved: false });
  }

  /** Reports the states of a manager's pipelines, except those that have moved to another one. */
  #follow(manager: Manager): void {
    manager.states$
      .pipe(filter(({ pipeline }) => this.#members.get(pipeline)?.manager === manager))
      .subscribe((status) => this.#states$.next(status));
  }

  #hasEnded = (name: string): boolean => {
    const state = this.#members.get(name)?.manager.state(name)?.state;
    return state !== undefined && isFinal(state);
  };

  #each<T>(of: (member: Member, name: string) => T): Record<string, T> {
    return Object.fromEntries([...this.#members].map(([name, member]) => [name, of(member, name)]));
  }
}

type Counts = Readonly<Record<string, number>>;

/** The counters of a pipeline over a reload: the sums of those before and since. */
function addStats(before: PipelineStats | undefined, since: PipelineStats): PipelineStats {
  if (before === undefined) return since;
  return {
    ...since,
    collected: before.collected + since.collected,
    forwarded: addCounts(before.forwarded, since.forwarded),
    dropped: addCounts(before.dropped, since.dropped),
    masked: addCounts(before.masked, since.masked),
    rejected: before.rejected + since.rejected,
    dead_lettered: before.dead_lettered + since.dead_lettered,
    retries: before.retries + since.retries,
    given_up: before.given_up + since.given_up,
    lost_bytes: before.lost_bytes + since.lost_bytes,
    lost_files: before.lost_files + since.lost_files,
    joined: before.joined + since.joined,
    truncations: before.truncations + since.truncations,
  };
}

function addCounts(before: Counts, since: Counts): Record<string, number> {
  // A Map, because a rule may be called `__proto__`.
  const sum = new Map(Object.entries(before));
  for (const [name, count] of Object.entries(since)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
}
