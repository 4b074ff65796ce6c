import {
  catchError,
  concat,
  connect,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  finalize,
  forkJoin,
  identity,
  ignoreElements,
  type MonoTypeOperatorFunction,
  map,
  merge,
  type Observable,
  type OperatorFunction,
  pipe,
  ReplaySubject,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import { InFlightWindow } from '../../operators/index.ts';
import { withholderFor } from '../sdk/checks/shown-values.ts';
import { collectedBy } from '../sdk/collected-by.ts';
import { type AnalyticsConfig, forwardersOf, type PipelineConfig, type PluginConfig } from '../sdk/config.ts';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import { moduleUrlOf } from '../sdk/import-module.ts';
import { type PluginMetrics, silentMetrics } from '../sdk/metrics.ts';
import { isMask, needsOrder } from '../sdk/plugin.ts';
import { memoryState } from '../state/state-store.ts';
import type { Batch } from './batches.ts';
import { CallPlan } from './call-plan.ts';
import { collectStage, TruncatedLines } from './collect-stage.ts';
import { createContext, type SharedContext } from './context.ts';
import { DeadLetters } from './dead-letters.ts';
import { ExactlyOnce } from './exactly-once.ts';
import { OutputRecord } from './exactly-once-state.ts';
import { forwardTo } from './forward-stage.ts';
import { type JoinStageOptions, joinStage } from './join-stage.ts';
import { Observers, type PipelineObserver, type StagePlace, tellLeft } from './observer.ts';
import { processStage } from './process-stage.ts';
import { RetryLog } from './retry-log.ts';
import { type RoutedBatch, routeBatches } from './route-batches.ts';
import { RunLog } from './run-log.ts';
import type { PipelineCounters } from './stats.ts';
import { inWorkers } from './worker-stage.ts';

interface PluginMemory {
  readonly cache: Record<string, unknown>;
  readonly state: CollectorState;
}

/** All that one run of a pipeline needs. */
export interface PipelineSetup {
  readonly config: PipelineConfig;
  readonly analytics: AnalyticsConfig;
  readonly shared: SharedContext;
  readonly counters: PipelineCounters;
  /** What the plugin entries keep in memory, by kind and name: it outlives a restart of the pipeline. */
  readonly memories: Map<string, PluginMemory>;
  /** Watches the run beside the counters and the log. */
  readonly observer?: PipelineObserver | undefined;
  /** Milliseconds of continuous failure of a forwarder after which the run fails; undefined: never. */
  readonly giveUpAfter?: number | undefined;
  /** Metrics of the plugin at a place; undefined if no metrics are served. */
  readonly metrics?: ((place: StagePlace, plugin: string) => PluginMetrics) | undefined;
  /** What a collector of this pipeline remembers over restarts of the process; undefined without a state folder. */
  readonly state?: ((collector: string) => CollectorState) | undefined;
}

/**
 * One run of a pipeline as one Observable: collectors → window → processors → forwarders → acknowledged. It emits
 * nothing. `stop$` ends the collectors; the run completes when what is in flight has drained; unsubscribing
 * cancels it at once.
 *
 * Errors: the first error of a collector, after what was in flight has drained.
 */
export function runPipeline(setup: PipelineSetup, stop$: Observable<unknown>): Observable<never> {
  return defer(() => new PipelineRun(setup).run(stop$));
}

type Processor = AnalyticsConfig['processors'][string];

class PipelineRun {
  readonly #setup: PipelineSetup;
  readonly #window: InFlightWindow;
  readonly #working = new AbortController();
  /** Replays: a collector that fails at once ends those too that are subscribed to after it. */
  readonly #collectorFailed$ = new ReplaySubject<void>(1);
  readonly #exactly: ExactlyOnce | undefined;
  readonly #plan: CallPlan | undefined;
  readonly #truncated: TruncatedLines;
  readonly #log: RunLog;
  readonly #observer: Observers;
  readonly #places = new Map<string, StagePlace>();
  readonly #beforeEnd: Observable<unknown>[] = [];
  #failure: { readonly cause: unknown } | undefined;

  constructor(setup: PipelineSetup) {
    this.#setup = setup;
    const { shared, counters, observer } = setup;
    this.#log = new RunLog(shared.pipeline, shared.logger, counters);
    this.#observer = new Observers([counters, this.#log, ...(observer === undefined ? [] : [observer])]);
    this.#truncated = new TruncatedLines(shared.pipeline, shared.logger);
    const { max_in_flight, workers } = setup.config;
    // Also in virtual time, where nothing else of workers can be seen.
    this.#window = new InFlightWindow(workers * max_in_flight);
    this.#exactly = this.#exactlyOnce();
    this.#plan = this.#callPlan();
  }

  run(stop$: Observable<unknown>): Observable<never> {
    const { config, analytics, shared } = this.#setup;
    const processors = (config.process ?? []).map((name) => analytics.processors[name] as Processor);
    const deadLetter = config.delivery.dead_letter;
    const deadLetters = new DeadLetters({
      pipeline: shared.pipeline,
      withheld: withholderFor(analytics),
      observer: this.#observer,
      isOpen: deadLetter !== undefined,
      masks: processors.map((entry) => isMask(entry.loaded_plugin)),
      processors: processors.map(({ name }) => this.#place('process', name)),
      cut: (event, delivery) => this.#truncated.cut(event, delivery),
    });

    const endCollecting$ = merge(stop$, this.#collectorFailed$);
    const batches$ = merge(...config.collect.map((name) => this.#collect(name, endCollecting$, deadLetters)));
    const forwarded$ = batches$.pipe(
      this.#processAll(processors, deadLetters),
      map((batch) => this.#truncated.cutBatch(batch, (...failure) => deadLetters.cutFailed(...failure))),
      filter(({ rows }) => rows.size > 0),
      this.#forwardToAll(deadLetters),
      tap({ complete: () => deadLetters.close() }),
    );
    const acknowledged$ =
      deadLetter === undefined
        ? forwarded$
        : merge(deadLetters.batch$.pipe(this.#forward(deadLetter, 'dead_letter', deadLetters)), forwarded$);

    return concat(
      this.#exactly?.around(acknowledged$) ?? acknowledged$,
      defer(() => merge(...this.#beforeEnd)).pipe(
        ignoreElements(),
        catchError(() => EMPTY),
      ),
      defer(() => (this.#failure === undefined ? EMPTY : throwError(() => this.#failure?.cause))),
    ).pipe(
      finalize(() => {
        this.#working.abort();
        this.#log.close();
      }),
    );
  }

  #collect(name: string, end$: Observable<unknown>, deadLetters: DeadLetters): Observable<Batch> {
    const { config, analytics, counters } = this.#setup;
    const observer = this.#observer;
    const place = this.#place('collect', name);
    const entry = analytics.collectors[name] as AnalyticsConfig['collectors'][string];
    return defer(() => {
      const collecting = new AbortController();
      const ctx = this.#context(place, entry, collecting.signal);
      const collect = () => {
        observer.started(place);
        return entry.loaded_plugin.collect({ ctx: ctx as never });
      };
      return collectedBy(collect, this.#window, name).pipe(
        tap({ complete: () => observer.completed(place) }),
        takeUntil(end$),
        finalize(() => collecting.abort()),
      );
    }).pipe(
      collectStage({
        place,
        window: this.#window,
        buffer: config.buffer,
        clock: counters.clock,
        observer,
        onRefused: (...refusal) => deadLetters.collectorFailed(place, ...refusal),
        makeQueue: this.#exactly
          ? (release) => (this.#exactly as ExactlyOnce).queueFor(release)
          : this.#plan && ((release) => (this.#plan as CallPlan).queueFor(name, release)),
      }),
      tap((batch) => this.#truncated.note(batch)),
      tellLeft(place, observer),
      catchError((cause) => {
        this.#failure ??= { cause };
        observer.failed(place);
        this.#collectorFailed$.next();
        return EMPTY;
      }),
    );
  }

  #processAll(processors: readonly Processor[], deadLetters: DeadLetters): MonoTypeOperatorFunction<Batch> {
    const inThisThread = processors
      .map((entry, index) => this.#process(entry, index, deadLetters))
      .reduce<MonoTypeOperatorFunction<Batch>>((before, stage) => pipe(before, stage), identity);
    const { config, shared, counters } = this.#setup;
    if (!this.#hasWorkers) return inThisThread;
    const places = processors.map(({ name }) => this.#place('process', name));
    return inWorkers({
      workers: config.workers,
      processors: processors.map((entry) => ({
        plugin: moduleUrlOf(entry.loaded_plugin) ?? entry.plugin,
        config: { ...entry },
      })),
      places,
      observer: this.#observer,
      pipeline: shared.pipeline,
      logger: shared.logger,
      ordered: config.ordered,
      inThisThread,
      onMasked: (index, rule, count) => counters.entry(places[index] as StagePlace).mask(rule, count),
      onFailure: (index, ...failure) => deadLetters.processorFailed(index, ...failure),
    });
  }

  /** Somebody who watches sees what leaves each processor only if they run in this thread. The result is the same. */
  get #hasWorkers(): boolean {
    const { config, observer } = this.#setup;
    return config.workers > 1 && observer?.left === undefined;
  }

  #process(entry: Processor, index: number, deadLetters: DeadLetters): MonoTypeOperatorFunction<Batch> {
    const place = this.#place('process', entry.name);
    const ctx = this.#context(place, entry, this.#working.signal) as PipelineRunContext<never>;
    const plugin = entry.loaded_plugin;
    const observer = this.#observer;
    const onFailure: JoinStageOptions['onFailure'] = (...failure) =>
      deadLetters.processorFailed(index, ...failure);
    const joining = plugin.joinLines?.({ ctx });
    if (joining !== undefined) {
      return joinStage({ place, observer, joining, isWindowFull: () => ctx.demand.room === 0, onFailure });
    }
    return processStage({
      place,
      observer,
      ordered: this.#setup.config.ordered,
      inTurn: needsOrder(plugin, entry),
      maxInFlight: this.#setup.config.max_in_flight,
      process: (event) => plugin.process({ ctx, event }),
      mapLines: plugin.mapLines && ((envelope) => plugin.mapLines?.({ ctx, envelope })),
      mapRows: plugin.mapRows && ((rows) => plugin.mapRows?.({ ctx, rows })),
      onFailure,
    });
  }

  #forwardToAll(deadLetters: DeadLetters): OperatorFunction<Batch, never> {
    const { config } = this.#setup;
    const stages = forwardersOf(config).map((name) => this.#forward(name, 'forward', deadLetters));
    if (config.forward.some((route) => typeof route !== 'string')) {
      const toEach = (batch$: Observable<RoutedBatch>) =>
        stages.map((stage, index) =>
          batch$.pipe(
            map((batches) => batches[index]),
            filter((batch) => batch !== undefined),
            stage,
          ),
        );
      return pipe(
        this.#route(deadLetters),
        connect((batch$) => merge(...toEach(batch$))),
      );
    }
    const [only, ...others] = stages;
    if (only !== undefined && others.length === 0) return only;
    return pipe(
      tap(({ rows, delivery }) => delivery.add(rows.size * (stages.length - 1))),
      connect((batch$) => merge(...stages.map((stage) => batch$.pipe(stage)))),
    );
  }

  #route(deadLetters: DeadLetters): OperatorFunction<Batch, RoutedBatch> {
    const { config, counters } = this.#setup;
    const places = forwardersOf(config).map((name) => this.#place('forward', name));
    const conditions = config.forward.map((route) =>
      typeof route === 'string' ? undefined : route.condition,
    );
    if (!conditions.includes(undefined)) counters.unrouted ??= 0;
    return routeBatches({
      conditions,
      // Routes have no place of their own.
      onUnrouted: (count, events) =>
        this.#observer.dropped(places[0] as StagePlace, 'no_route', count, events),
      onFailure: (index, ...failure) => deadLetters.routeFailed(places[index] as StagePlace, ...failure),
    });
  }

  #forward(name: string, kind: 'forward' | 'dead_letter', deadLetters: DeadLetters) {
    const { config, analytics, shared, counters, giveUpAfter } = this.#setup;
    const entry = analytics.forwarders[name] as AnalyticsConfig['forwarders'][string];
    const place = this.#place(kind, name);
    return forwardTo(entry, {
      place,
      config,
      shared,
      ctx: this.#context(place, entry, this.#working.signal),
      observer: this.#observer,
      clock: counters.clock,
      deadLetters,
      exactly: kind === 'forward' ? this.#exactly : undefined,
      plan: kind === 'forward' ? this.#plan : undefined,
      giveUpAfter,
    });
  }

  /** Undefined unless the pipeline delivers exactly once. */
  #exactlyOnce(): ExactlyOnce | undefined {
    const { config, analytics, shared, state, giveUpAfter } = this.#setup;
    const [forwarder] = forwardersOf(config);
    const entry = analytics.forwarders[forwarder as string] as AnalyticsConfig['forwarders'][string];
    const { exactly } = entry.loaded_plugin;
    if (!config.exactly_once || exactly === undefined || state === undefined) {
      // What is written from now on must not be cut off by a later run.
      if (state !== undefined) OutputRecord.forget(state);
      return undefined;
    }
    const place = this.#place('forward', entry.name);
    const ctx = this.#context(place, entry, this.#working.signal) as PipelineRunContext<never>;
    const name = `cutting ${entry.name} back`;
    const log = new RetryLog(`${shared.pipeline}: ${name}`, shared.logger);
    return new ExactlyOnce({
      state,
      collectors: config.collect,
      lostSources: () => this.#lostSources(state),
      output: (events) => exactly({ ctx, ...events }),
      random: shared.random,
      name,
      giveUpAfter,
      log,
      pipeline: shared.pipeline,
      logger: shared.logger,
      onCommit: () => this.#observer.committing(),
    });
  }

  #lostSources(state: (collector: string) => CollectorState): Observable<readonly string[]> {
    const { config, analytics } = this.#setup;
    const asked = config.collect.flatMap((name) => {
      const entry = analytics.collectors[name] as AnalyticsConfig['collectors'][string];
      return entry.loaded_plugin.lostSources?.({ config: entry as never, state: state(name) }) ?? [];
    });
    return forkJoin(asked).pipe(
      map((lost) => lost.flat()),
      defaultIfEmpty([]),
    );
  }

  /** Undefined unless the pipeline delivers exactly once to a forwarder that stores nothing twice. */
  #callPlan(): CallPlan | undefined {
    const { config, analytics, state } = this.#setup;
    if (state === undefined) return undefined;
    const [forwarder] = forwardersOf(config);
    const plugin = analytics.forwarders[forwarder as string]?.loaded_plugin;
    const calls = state('exactly_once');
    if (config.exactly_once && plugin?.exactly === undefined && plugin?.traits?.deduplicates === true) {
      return new CallPlan(calls);
    }
    CallPlan.forget(calls);
    return undefined;
  }

  /** One object for each place, so that its counters are found by it. */
  #place(kind: StagePlace['kind'], name: string): StagePlace {
    const key = `${kind} ${name}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const { analytics, counters } = this.#setup;
    const { collectors, processors, forwarders } = analytics;
    const section = {
      collect: collectors,
      process: processors,
      forward: forwarders,
      dead_letter: forwarders,
    }[kind];
    const place: StagePlace = { kind, name };
    counters.entry(place, section[name]?.plugin);
    this.#places.set(key, place);
    return place;
  }

  #context(place: StagePlace, config: PluginConfig, signal: AbortSignal): PipelineRunContext {
    const { memories, metrics, shared, counters } = this.#setup;
    const entry = counters.entry(place);
    const key = `${place.kind} ${place.name}`;
    const memory = memories.get(key) ?? { cache: {}, state: memoryState(shared.pipeline, config.name) };
    memories.set(key, memory);
    const context = createContext(shared, {
      config,
      cache: memory.cache,
      signal,
      ended: this.#working.signal,
      beforeEnd: (work$) => void this.#beforeEnd.push(work$),
      demand: this.#window,
      state: (place.kind === 'collect' ? this.#durableStateOf(config.name) : undefined) ?? memory.state,
      metrics: metrics?.(place, config.plugin) ?? silentMetrics,
      stats: {
        masked: (rule, count) => entry.mask(rule, count),
        bytes: (count) => {
          entry.bytes = (entry.bytes ?? 0) + count;
        },
        backlog: (bytes) => {
          entry.lagBytes = bytes;
        },
        pending: (messages) => {
          entry.lagMessages = messages;
        },
        lost: (bytes) => {
          entry.lostBytes += bytes;
        },
        lostFile: () => {
          entry.lostFiles++;
        },
        truncated: () => {
          entry.truncations++;
        },
      },
    });
    this.#observer.opened(place, context);
    return context;
  }

  #durableStateOf(collector: string): CollectorState | undefined {
    return this.#exactly?.stateOf(collector) ?? this.#setup.state?.(collector);
  }
}
