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
import { InFlightWindow } from '../../operators/in-flight-window.ts';
import { counted } from '../../operators/support/counted.ts';
import { withholderFor } from '../sdk/checks/shown-values.ts';
import { type AnalyticsConfig, forwardersOf, type PipelineConfig, type PluginConfig } from '../sdk/config.ts';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import type { EventBatch } from '../sdk/event-batch.ts';
import { moduleUrlOf } from '../sdk/import-module.ts';
import { type PluginMetrics, silentMetrics } from '../sdk/metrics.ts';
import { memoryState } from '../state/state-store.ts';
import { RetryLog } from './attempts.ts';
import { CallPlan } from './call-plan.ts';
import { collectedBy, collectStage, TruncatedLines } from './collect-stage.ts';
import { createContext, type SharedContext } from './context.ts';
import { DeadLetters } from './dead-letters.ts';
import { type Batch, sizeOf } from './delivery.ts';
import { ExactlyOnce } from './exactly-once.ts';
import { OutputRecord } from './exactly-once-state.ts';
import { FailureLog } from './failure-log.ts';
import { forwardTo } from './forward-stage.ts';
import { joinStage } from './join-stage.ts';
import type { Drop, PipelineProbe, StagePlace } from './probe.ts';
import { processStage } from './process-stage.ts';
import { type RoutedBatch, routeBatches } from './route-batches.ts';
import type { EntryCounters, PipelineCounters } from './stats.ts';
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
  readonly probe?: PipelineProbe | undefined;
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
  readonly #bufferLogs: FailureLog[] = [];
  readonly #beforeEnd: Observable<unknown>[] = [];
  #failure: { readonly cause: unknown } | undefined;

  constructor(setup: PipelineSetup) {
    this.#setup = setup;
    this.#truncated = new TruncatedLines(setup.shared.pipeline, setup.shared.logger);
    const { max_in_flight, workers } = setup.config;
    // Also in virtual time, where nothing else of workers can be seen.
    this.#window = new InFlightWindow(workers * max_in_flight);
    this.#exactly = this.#exactlyOnce();
    this.#plan = this.#callPlan();
  }

  run(stop$: Observable<unknown>): Observable<never> {
    const { config, analytics, shared, probe } = this.#setup;
    const processors = (config.process ?? []).map((name) => analytics.processors[name] as Processor);
    const deadLetter = config.delivery.dead_letter;
    const deadLetters = new DeadLetters({
      pipeline: shared.pipeline,
      logger: shared.logger,
      withheld: withholderFor(analytics),
      entryAt: (place) => this.#entryAt(place),
      probe,
      isOpen: deadLetter !== undefined,
      masks: processors.map((entry) => entry.loaded_plugin.masks === true),
      processors: processors.map((entry) => entry.name),
      cut: (event, delivery) => this.#truncated.cut(event, delivery),
    });

    const last = processors.at(-1);
    const lastCounters = last && this.#entryAt({ kind: 'process', name: last.name });
    const endCollecting$ = merge(stop$, this.#collectorFailed$);
    const batches$ = merge(...config.collect.map((name) => this.#collect(name, endCollecting$, deadLetters)));
    const forwarded$ = batches$.pipe(
      this.#processAll(processors, deadLetters),
      map((batch) => {
        const cut = this.#truncated.cutBatch(batch, (...failure) => deadLetters.cutFailed(...failure));
        if (lastCounters !== undefined) lastCounters.sent += sizeOf(cut);
        return cut;
      }),
      filter((batch) => sizeOf(batch) > 0),
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
        deadLetters.closeLogs();
        for (const log of this.#bufferLogs) log.close();
      }),
    );
  }

  #collect(name: string, end$: Observable<unknown>, deadLetters: DeadLetters): Observable<Batch> {
    const { config, analytics, counters, probe } = this.#setup;
    const place: StagePlace = { kind: 'collect', name };
    const entry = analytics.collectors[name] as AnalyticsConfig['collectors'][string];
    return defer(() => {
      const collecting = new AbortController();
      const ctx = this.#context('collect', entry, collecting.signal);
      const collect = () => {
        probe?.started?.(place);
        return entry.loaded_plugin.collect({ ctx: ctx as never });
      };
      return collectedBy(collect, this.#window, name).pipe(
        probe?.completed === undefined ? identity : tap({ complete: () => probe.completed?.(place) }),
        takeUntil(end$),
        finalize(() => collecting.abort()),
      );
    }).pipe(
      collectStage({
        name,
        window: this.#window,
        buffer: config.buffer,
        counters,
        entry: this.#entryAt(place),
        drop: this.#drop(place),
        onRefused: (...refusal) => deadLetters.collectorFailed(name, ...refusal),
        makeQueue: this.#exactly
          ? (release) => (this.#exactly as ExactlyOnce).queueFor(release)
          : this.#plan && ((release) => (this.#plan as CallPlan).queueFor(name, release)),
        onCollected: this.#watchCollected(place),
        onAdmitted:
          probe?.admitted && ((unit, delivery) => probe.admitted?.(place, () => unit.events, delivery)),
        onAcknowledged:
          probe?.acknowledged && ((unit, outcome) => probe.acknowledged?.(place, () => unit.events, outcome)),
      }),
      tap((batch) => this.#truncated.note(batch)),
      this.#watch(place),
      catchError((cause) => {
        this.#failure ??= { cause };
        probe?.failed?.(place);
        this.#collectorFailed$.next();
        return EMPTY;
      }),
    );
  }

  #processAll(processors: readonly Processor[], deadLetters: DeadLetters): MonoTypeOperatorFunction<Batch> {
    const counters = processors.map(({ name }) => this.#entryAt({ kind: 'process', name }));
    // What one processor receives, the one before it has sent.
    const onReceived = (index: number, events: number) => {
      const [before, own] = [counters[index - 1], counters[index]];
      if (before !== undefined) before.sent += events;
      if (own !== undefined) own.received += events;
    };
    const inThisThread = processors
      .map((entry, index) => this.#process(entry, index, (events) => onReceived(index, events), deadLetters))
      .reduce<MonoTypeOperatorFunction<Batch>>((before, stage) => pipe(before, stage), identity);
    const { config, shared } = this.#setup;
    if (!this.#hasWorkers) return inThisThread;
    return inWorkers({
      workers: config.workers,
      processors: processors.map((entry) => ({
        plugin: moduleUrlOf(entry.loaded_plugin) ?? entry.plugin,
        config: { ...entry },
      })),
      names: processors.map((entry) => entry.name),
      pipeline: shared.pipeline,
      logger: shared.logger,
      ordered: config.ordered,
      inThisThread,
      onMasked: (index, rule, count) => counters[index]?.mask(rule, count),
      onReceived,
      onFiltered: (index, count) => counters[index]?.drop('filtered', count),
      onFailure: (index, ...failure) => deadLetters.processorFailed(index, ...failure),
    });
  }

  /** A probe sees what leaves each processor only if they run in this thread. The result is the same. */
  get #hasWorkers(): boolean {
    const { config, probe } = this.#setup;
    return config.workers > 1 && probe?.left === undefined;
  }

  #process(entry: Processor, index: number, onReceived: (events: number) => void, deadLetters: DeadLetters) {
    const ctx = this.#context('process', entry, this.#working.signal) as PipelineRunContext<never>;
    const plugin = entry.loaded_plugin;
    const place: StagePlace = { kind: 'process', name: entry.name };
    const joining = plugin.joinLines?.({ ctx });
    if (joining !== undefined) {
      const counters = this.#entryAt(place);
      counters.holdSeconds = joining.seconds;
      const joined = joinStage({
        joining,
        isWindowFull: () => ctx.demand.room === 0,
        onReceived,
        onJoined: (events) => {
          counters.joined += events;
        },
        onFailure: (...failure) => deadLetters.processorFailed(index, ...failure),
      });
      return pipe(joined, this.#watch(place));
    }
    const stage = processStage({
      onReceived,
      name: entry.name,
      ordered: this.#setup.config.ordered,
      inTurn: plugin.needsOrder?.({ config: entry as never }) !== undefined,
      maxInFlight: this.#setup.config.max_in_flight,
      drop: this.#drop(place),
      process: (event) => plugin.process({ ctx, event }),
      mapLines: plugin.mapLines && ((envelope) => plugin.mapLines?.({ ctx, envelope })),
      onFailure: (...failure) => deadLetters.processorFailed(index, ...failure),
    });
    return pipe(stage, this.#watch(place));
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
      tap((batch) => batch.delivery.add(sizeOf(batch) * (stages.length - 1))),
      connect((batch$) => merge(...stages.map((stage) => batch$.pipe(stage)))),
    );
  }

  #route(deadLetters: DeadLetters): OperatorFunction<Batch, RoutedBatch> {
    const { config, counters, probe } = this.#setup;
    const names = forwardersOf(config);
    const conditions = config.forward.map((route) =>
      typeof route === 'string' ? undefined : route.condition,
    );
    if (!conditions.includes(undefined)) counters.unrouted ??= 0;
    return routeBatches({
      conditions,
      onUnrouted: (count, events) => {
        counters.unrouted = (counters.unrouted ?? 0) + count;
        // A drawing has no row for routes.
        probe?.dropped?.({ kind: 'forward', name: names[0] as string }, 'no_route', events());
      },
      onFailure: (index, ...failure) => deadLetters.routeFailed(names[index] as string, ...failure),
    });
  }

  #forward(name: string, kind: 'forward' | 'dead_letter', deadLetters: DeadLetters) {
    const { config, analytics, shared, counters, probe, giveUpAfter } = this.#setup;
    const entry = analytics.forwarders[name] as AnalyticsConfig['forwarders'][string];
    const ctx = this.#context(kind, entry, this.#working.signal);
    const exactly = kind === 'forward' ? this.#exactly : undefined;
    return forwardTo(entry, {
      kind,
      entry: this.#entryAt({ kind, name }),
      config,
      shared,
      ctx,
      counters,
      deadLetters,
      probe,
      exactly,
      plan: kind === 'forward' ? this.#plan : undefined,
      giveUpAfter,
    });
  }

  /** Undefined unless the pipeline delivers exactly once. */
  #exactlyOnce(): ExactlyOnce | undefined {
    const { config, analytics, shared, state, giveUpAfter, probe } = this.#setup;
    const [forwarder] = forwardersOf(config);
    const entry = analytics.forwarders[forwarder as string] as AnalyticsConfig['forwarders'][string];
    const { exactly } = entry.loaded_plugin;
    if (!config.exactly_once || exactly === undefined || state === undefined) {
      // What is written from now on must not be cut off by a later run.
      if (state !== undefined) OutputRecord.forget(state);
      return undefined;
    }
    const ctx = this.#context('forward', entry, this.#working.signal) as PipelineRunContext<never>;
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
      onCommit: probe?.committing && (() => probe.committing?.()),
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
    if (config.exactly_once && plugin?.exactly === undefined && plugin?.deduplicates === true) {
      return new CallPlan(calls);
    }
    CallPlan.forget(calls);
    return undefined;
  }

  #drop(place: StagePlace): Drop {
    const { probe } = this.#setup;
    const entry = this.#entryAt(place);
    const bufferLog = place.kind === 'collect' ? this.#bufferLog(entry) : undefined;
    return (reason, count, events) => {
      entry.drop(reason, count);
      if (reason === 'buffer_full') bufferLog?.failed((often) => bufferFull(count, often), count);
      probe?.dropped?.(place, reason, events());
    };
  }

  #bufferLog(entry: EntryCounters): FailureLog {
    const { pipeline, logger } = this.#setup.shared;
    const name = `${pipeline}: collector ${entry.name}`;
    const log = new FailureLog({
      warn: (message) => logger.warn(`${name}: ${message}`),
      info: (message) => logger.info(`${name}: ${message}`),
      verb: 'been dropped',
      received: () => entry.received,
    });
    this.#bufferLogs.push(log);
    return log;
  }

  #watch(place: StagePlace): MonoTypeOperatorFunction<Batch> {
    const { probe } = this.#setup;
    return probe?.left === undefined ? identity : tap(({ events }) => probe.left?.(place, events));
  }

  #watchCollected(place: StagePlace): ((unit: EventBatch) => void) | undefined {
    const { probe } = this.#setup;
    if (probe?.collected === undefined) return undefined;
    return (unit) => {
      if (unit.refusal === undefined) probe.collected?.(place, () => unit.events);
      else probe.refused?.(place);
    };
  }

  /** The counters of the entry at a place. */
  #entryAt(place: StagePlace): EntryCounters {
    const { analytics, counters } = this.#setup;
    const { collectors, processors, forwarders } = analytics;
    const section = {
      collect: collectors,
      process: processors,
      forward: forwarders,
      dead_letter: forwarders,
    }[place.kind];
    return counters.entry(place, section[place.name]?.plugin ?? '');
  }

  #context(kind: StagePlace['kind'], config: PluginConfig, signal: AbortSignal): PipelineRunContext {
    const { memories, metrics, shared, probe } = this.#setup;
    const entry = this.#entryAt({ kind, name: config.name });
    const key = `${kind} ${config.name}`;
    const memory = memories.get(key) ?? { cache: {}, state: memoryState(shared.pipeline, config.name) };
    memories.set(key, memory);
    const context = createContext(shared, {
      config,
      cache: memory.cache,
      signal,
      ended: this.#working.signal,
      beforeEnd: (work$) => void this.#beforeEnd.push(work$),
      demand: this.#window,
      state: (kind === 'collect' ? this.#durableStateOf(config.name) : undefined) ?? memory.state,
      metrics: metrics?.({ kind, name: config.name }, config.plugin) ?? silentMetrics,
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
    probe?.opened?.({ kind, name: config.name }, context);
    return context;
  }

  #durableStateOf(collector: string): CollectorState | undefined {
    return this.#exactly?.stateOf(collector) ?? this.#setup.state?.(collector);
  }
}

function bufferFull(count: number, often: string): string {
  return `${counted(count, 'event')} dropped${often}: they come faster than the pipeline takes them; raise \`buffer.max_events\``;
}
