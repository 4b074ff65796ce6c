import {
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  filter,
  finalize,
  identity,
  type MonoTypeOperatorFunction,
  map,
  merge,
  type Observable,
  type OperatorFunction,
  pipe,
  ReplaySubject,
  switchMap,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { batchingOf } from '../sdk/batching.ts';
import { withholderFor } from '../sdk/checks/shown-values.ts';
import { type AnalyticsConfig, diskBufferOf, forwardersOf, memoryBufferOf } from '../sdk/config.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import { collectedBy } from '../sdk/from-collected.ts';
import { moduleUrlOf } from '../sdk/import-module.ts';
import { isMask, needsOrder } from '../sdk/plugin.ts';
import { nameCollector } from '../sdk/run-failure.ts';
import { admit } from './admission.ts';
import type { Batch } from './batches.ts';
import { bufferStage } from './buffer-stage.ts';
import type { CallPlan } from './call-plan.ts';
import { collectStage } from './collect-stage.ts';
import { DeadLetters } from './dead-letters.ts';
import { callPlanOf, exactlyOnceOf } from './delivery-guarantee.ts';
import type { ExactlyOnce } from './exactly-once.ts';
import { exactFunctions, forwardTo, functionsOf } from './forward-stage.ts';
import { type JoinStageOptions, joinStage } from './join-stage.ts';
import { type StagePlace, tellLeft } from './observer.ts';
import { processStage } from './process-stage.ts';
import { type RoutedBatch, routeBatches } from './route-batches.ts';
import { type PipelineSetup, RunScope } from './run-scope.ts';
import { TruncatedLines } from './truncated-lines.ts';
import { inWorkers } from './worker-stage.ts';

/**
 * One run of a pipeline as one Observable: collectors → window → processors → forwarders → acknowledged. It emits
 * nothing. `stop$` ends the collectors; the run completes when what is in flight has drained; unsubscribing
 * cancels it at once.
 *
 * Errors: the first error of a collector, or of what a plugin has left to do at the end, after what was in flight has
 * drained and all plugins are done.
 */
export function runPipeline(setup: PipelineSetup, stop$: Observable<unknown>): Observable<never> {
  return defer(() => {
    const scope = new RunScope(setup);
    // The scope is closed however the run ends, also if a plugin throws while it is composed.
    return defer(() => new PipelineRun(scope).run(stop$)).pipe(finalize(() => scope.close()));
  });
}

/** Milliseconds at a stop for the calls of forwarders whose events are on disk as well. */
const LAST_CALLS_MS = 2000;
/** Milliseconds between two looks at the counters. */
const CHECK_INTERVAL_MS = 50;

type Processor = AnalyticsConfig['processors'][string];

class PipelineRun {
  readonly #scope: RunScope;
  readonly #processors: readonly Processor[];
  readonly #exactly: ExactlyOnce | undefined;
  readonly #plan: CallPlan | undefined;
  readonly #truncated: TruncatedLines;
  readonly #deadLetters: DeadLetters;
  /** Replays: a collector that fails at once ends those too that are subscribed to after it. */
  readonly #collectorFailed$ = new ReplaySubject<void>(1);
  /** All that was collected is in the buffer on disk, if there is one. */
  readonly #written$ = new ReplaySubject<void>(1);
  #failure: { readonly cause: unknown } | undefined;

  constructor(scope: RunScope) {
    const { config, analytics, shared } = scope.setup;
    this.#scope = scope;
    this.#processors = (config.process ?? []).map((name) => analytics.processors[name] as Processor);
    this.#exactly = exactlyOnceOf(scope);
    this.#plan = callPlanOf(scope.setup);
    this.#truncated = new TruncatedLines(shared.pipeline, shared.logger);
    this.#deadLetters = new DeadLetters({
      pipeline: shared.pipeline,
      withheld: withholderFor(analytics),
      observer: scope.observer,
      isOpen: config.delivery.dead_letter !== undefined,
      masks: this.#processors.map((entry) => isMask(entry.loaded_plugin)),
      processors: this.#processors.map(({ name }) => scope.place('process', name)),
      cut: (event, delivery) => this.#truncated.cut(event, delivery),
    });
  }

  run(stop$: Observable<unknown>): Observable<never> {
    const { setup, beforeEnd$ } = this.#scope;
    const endCollecting$ = merge(stop$, this.#collectorFailed$);
    const acknowledged$ = merge(
      ...setup.config.collect.map((name) => this.#collect(name, endCollecting$)),
    ).pipe(
      this.#processAndBuffer(endCollecting$),
      this.#forwardToAll(),
      this.#withDeadLetter(),
      this.#leaveRest(stop$, endCollecting$),
    );
    return concat(
      this.#exactly?.around(acknowledged$) ?? acknowledged$,
      beforeEnd$.pipe(catchError((cause) => this.#failedWith(cause))),
      defer(() => (this.#failure === undefined ? EMPTY : throwError(() => this.#failure?.cause))),
    );
  }

  /** Events are masked before they are on disk, unless the pipeline says otherwise. */
  #processAndBuffer(end$: Observable<unknown>): MonoTypeOperatorFunction<Batch> {
    const buffer = diskBufferOf(this.#scope.setup.config);
    const process = pipe(this.#processAll(), this.#cutTruncated());
    if (buffer === undefined) return process;
    const onDisk = bufferStage(this.#scope, buffer, {
      end$,
      onWritten: () => this.#written$.next(),
      onFailure: (...failure) => this.#deadLetters.forwarderFailed(...failure),
    });
    if (buffer.masked) return pipe(process, onDisk);
    return pipe(
      onDisk,
      tap((batch) => this.#truncated.note(batch)),
      process,
    );
  }

  /**
   * Events that are on disk need not be delivered before the run ends: the next run gets them again. Once all others are
   * acknowledged, the calls of forwarders have a moment to end, and none to be made again.
   */
  #leaveRest(stop$: Observable<unknown>, end$: Observable<unknown>): MonoTypeOperatorFunction<never> {
    const { config, counters } = this.#scope.setup;
    if (diskBufferOf(config) === undefined) return identity;
    const isDurable$ = this.#written$.pipe(switchMap(() => eventually(() => counters.volatile === 0)));
    return takeUntil(
      merge(
        stop$.pipe(switchMap(() => isDurable$.pipe(switchMap(() => longTimer(LAST_CALLS_MS))))),
        end$.pipe(switchMap(() => isDurable$.pipe(switchMap(() => eventually(() => counters.isStuck))))),
      ),
    );
  }

  /** The run errors at its end, with the first of these. */
  #failedWith(cause: unknown): Observable<never> {
    this.#failure ??= { cause };
    return EMPTY;
  }

  #collect(name: string, end$: Observable<unknown>): Observable<Batch> {
    const { config, analytics, counters } = this.#scope.setup;
    const { observer, window } = this.#scope;
    const place = this.#scope.place('collect', name);
    const entry = analytics.collectors[name] as AnalyticsConfig['collectors'][string];
    const collectorFailed = (cause: unknown) => {
      observer.failed(place);
      this.#collectorFailed$.next();
      return this.#failedWith(nameCollector(cause, name));
    };
    return defer(() => {
      const collecting = new AbortController();
      const collect = () => {
        const state = this.#exactly?.stateOf(name) ?? this.#scope.setup.state?.(name);
        const ctx = this.#scope.context(place, entry, collecting.signal, state);
        observer.started(place);
        return entry.loaded_plugin.collect({ ctx: ctx as never });
      };
      return collectedBy(collect, window, name).pipe(
        tap({
          complete: () => {
            if (!collecting.signal.aborted) observer.completed(place);
          },
        }),
        // It is told first, so that it can still emit what it has received.
        takeUntil(end$.pipe(tap(() => collecting.abort()))),
        finalize(() => collecting.abort()),
      );
    }).pipe(
      collectStage({
        place,
        window,
        buffer: memoryBufferOf(config),
        clock: counters.clock,
        observer,
        onRefused: (...refusal) => this.#deadLetters.collectorFailed(place, ...refusal),
        onAcknowledgeFailed: collectorFailed,
        makeQueue: this.#exactly
          ? (owner) => (this.#exactly as ExactlyOnce).queueFor(owner)
          : this.#plan && ((owner) => (this.#plan as CallPlan).queueFor(name, owner)),
      }),
      tap((batch) => this.#truncated.note(batch)),
      this.#admit(entry),
      tellLeft(place, observer),
      catchError(collectorFailed),
    );
  }

  /** Before anything is done with what a full buffer would refuse. */
  #admit({ loaded_plugin }: AnalyticsConfig['collectors'][string]): MonoTypeOperatorFunction<Batch> {
    const config = diskBufferOf(this.#scope.setup.config);
    if (config?.when_full !== 'reject') return identity;
    return admit({
      buffer: () => this.#scope.buffer,
      maxBytes: config.max_bytes,
      place: this.#scope.place('buffer', 'buffer'),
      observer: this.#scope.observer,
      isAnswered: loaded_plugin.traits?.answers === true,
    });
  }

  #processAll(): MonoTypeOperatorFunction<Batch> {
    const { setup, observer } = this.#scope;
    const { config, shared, counters } = setup;
    const processors = this.#processors;
    const inThisThread = processors
      .map((entry, index) => this.#process(entry, index))
      .reduce<MonoTypeOperatorFunction<Batch>>((before, stage) => pipe(before, stage), identity);
    // An observer sees what leaves each processor only if they run in this thread. The result is the same.
    if (config.workers === 1 || setup.observer?.left !== undefined) return inThisThread;
    const places = processors.map(({ name }) => this.#scope.place('process', name));
    return inWorkers({
      workers: config.workers,
      processors: processors.map((entry) => ({
        plugin: moduleUrlOf(entry.loaded_plugin) ?? entry.plugin,
        config: { ...entry },
      })),
      places,
      observer,
      pipeline: shared.pipeline,
      logger: shared.logger,
      ordered: config.ordered,
      inThisThread,
      onMasked: (index, rule, count) => counters.entry(places[index] as StagePlace).mask(rule, count),
      onFailure: (index, ...failure) => this.#deadLetters.processorFailed(index, ...failure),
    });
  }

  #process(entry: Processor, index: number): MonoTypeOperatorFunction<Batch> {
    const place = this.#scope.place('process', entry.name);
    const ctx = this.#scope.context(place, entry) as PipelineRunContext<never>;
    const plugin = entry.loaded_plugin;
    const { observer, setup } = this.#scope;
    const onFailure: JoinStageOptions['onFailure'] = (...failure) =>
      this.#deadLetters.processorFailed(index, ...failure);
    const joining = plugin.joinLines?.({ ctx });
    if (joining !== undefined) {
      return joinStage({ place, observer, joining, isWindowFull: () => ctx.demand.room === 0, onFailure });
    }
    return processStage({
      place,
      observer,
      ordered: setup.config.ordered,
      inTurn: needsOrder(plugin, entry),
      maxInFlight: setup.config.max_in_flight,
      process: (event) => plugin.process({ ctx, event }),
      mapLines: plugin.mapLines && ((envelope) => plugin.mapLines?.({ ctx, envelope })),
      mapRows: plugin.mapRows && ((rows) => plugin.mapRows?.({ ctx, rows })),
      onFailure,
    });
  }

  /** What masks could not judge at the end of a cut line goes no further. */
  #cutTruncated(): MonoTypeOperatorFunction<Batch> {
    return pipe(
      map((batch) =>
        this.#truncated.cutBatch(batch, (...failure) => this.#deadLetters.cutFailed(...failure)),
      ),
      filter(({ rows }) => rows.size > 0),
    );
  }

  #forwardToAll(): OperatorFunction<Batch, never> {
    const { config } = this.#scope.setup;
    const stages = forwardersOf(config).map((name) => this.#forward(name, 'forward'));
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
        this.#route(),
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

  #route(): OperatorFunction<Batch, RoutedBatch> {
    const { config, counters } = this.#scope.setup;
    const places = forwardersOf(config).map((name) => this.#scope.place('forward', name));
    const conditions = config.forward.map((route) =>
      typeof route === 'string' ? undefined : route.condition,
    );
    if (!conditions.includes(undefined)) counters.unrouted ??= 0;
    return routeBatches({
      conditions,
      // Routes have no place of their own.
      onUnrouted: (count, events) =>
        this.#scope.observer.dropped(places[0] as StagePlace, 'no_route', count, events),
      onFailure: (index, ...failure) =>
        this.#deadLetters.routeFailed(places[index] as StagePlace, ...failure),
    });
  }

  #forward(name: string, kind: 'forward' | 'dead_letter') {
    const { config, analytics, shared, counters, giveUpAfter } = this.#scope.setup;
    const entry = analytics.forwarders[name] as AnalyticsConfig['forwarders'][string];
    const place = this.#scope.place(kind, name);
    const isDeadLetter = kind === 'dead_letter';
    const who = `forwarder ${name}`;
    const state = this.#plan && !isDeadLetter ? this.#scope.setup.state?.(who) : undefined;
    const ctx = this.#scope.context(place, entry, undefined, state);
    const { delivery, ordered } = config;
    const exactly = isDeadLetter ? undefined : this.#exactly;
    return forwardTo(
      {
        who,
        functions: exactly
          ? exactFunctions(exactly)
          : functionsOf(entry.loaded_plugin, ctx as PipelineRunContext<never>, who),
        batching: batchingOf({ ...entry }),
        // A dead letter is tried without end, and its own failures go nowhere.
        attempts: isDeadLetter ? undefined : delivery.attempts,
        timeout: delivery.timeout,
      },
      {
        place,
        ordered,
        shared,
        demand: ctx.demand,
        observer: this.#scope.observer,
        clock: counters.clock,
        outcome: isDeadLetter ? 'dead_lettered' : 'forwarded',
        onFailure: (...failure) =>
          isDeadLetter
            ? this.#deadLetters.lost(place, ...failure)
            : this.#deadLetters.forwarderFailed(place, ...failure),
        exactly,
        plan: isDeadLetter ? undefined : this.#plan,
        giveUpAfter,
      },
    );
  }

  /** Entries of the dead letter come while events are processed and forwarded. */
  #withDeadLetter(): MonoTypeOperatorFunction<never> {
    const name = this.#scope.setup.config.delivery.dead_letter;
    const closing = tap<never>({ complete: () => this.#deadLetters.close() });
    if (name === undefined) return closing;
    const deadLettered$ = this.#deadLetters.batch$.pipe(this.#forward(name, 'dead_letter'));
    return (forwarded$) => merge(deadLettered$, forwarded$.pipe(closing));
  }
}

/** Emits once, when `isTrue` returns true. */
function eventually(isTrue: () => boolean): Observable<unknown> {
  return timer(0, CHECK_INTERVAL_MS).pipe(filter(isTrue), take(1));
}
