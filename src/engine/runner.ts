import { BehaviorSubject, type Observable, of, ReplaySubject, Subscription } from 'rxjs';
import { longTimer, type RestartPolicy, restartWithBackoff } from '../../operators/index.ts';
import { counted, isoNow } from '../../operators/internal.ts';
import { MillraceError } from '../sdk/errors.ts';
import { failureReason } from '../sdk/run-failure.ts';
import { isFinal, type PipelineState, type PipelineStatus } from '../sdk/status.ts';
import { runPipeline } from './pipeline.ts';
import { elapsedText } from './retry-log.ts';
import type { PipelineSetup } from './run-scope.ts';

interface RunnerOptions {
  readonly setup: PipelineSetup;
  readonly restart: RestartPolicy;
  /** Milliseconds that a stop waits for what is in flight. */
  readonly drainTimeout: number;
}

/** Starts, restarts and stops one pipeline, and says which state it is in. */
export class PipelineRunner {
  readonly name: string;
  readonly #options: RunnerOptions;
  readonly #status$: BehaviorSubject<PipelineStatus>;
  #running = Subscription.EMPTY;
  /** Replays: a stop may come while a run is being started. */
  #stop$ = new ReplaySubject<void>(1);
  #stopped$: ReplaySubject<void> | undefined;
  #failures = 0;
  /** Events that the last run had in flight when it ended. The next one gets them again, if there is one. */
  #abandoned = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.name = options.setup.shared.pipeline;
    const state = options.setup.config.enabled ? 'idle' : 'disabled';
    this.#status$ = new BehaviorSubject<PipelineStatus>({
      pipeline: this.name,
      state,
      since: isoNow(),
      failures: 0,
    });
  }

  get status(): PipelineStatus {
    return this.#status$.value;
  }

  /** Whether it has been told to stop and what is in flight is still being delivered. */
  get isStopping(): boolean {
    return this.#stopped$ !== undefined && !isFinal(this.status.state);
  }

  /** The present status, then every change. Never completes. */
  get status$(): Observable<PipelineStatus> {
    return this.#status$.asObservable();
  }

  /** @throws MillraceError if the pipeline is disabled. A pipeline that runs already goes on. */
  start(): void {
    const { state } = this.status;
    if (state === 'disabled') {
      throw new MillraceError(
        'MILLRACE_PIPELINE_DISABLED',
        `pipeline ${this.name} was not started: it has \`enabled: false\`; set it to true to run it`,
      );
    }
    if (this.#stopped$ !== undefined && !isFinal(state)) {
      throw new MillraceError(
        'MILLRACE_PIPELINE_STOPPING',
        `pipeline ${this.name} was not started: it is being stopped; start it when that has ended, which stop() tells`,
      );
    }
    if (state === 'running' || state === 'backing_off') return;
    this.#failures = 0;
    const { setup, restart } = this.#options;
    this.#stop$ = new ReplaySubject<void>(1);
    this.#stopped$ = undefined;
    const running = new Subscription();
    this.#running = running;
    running.add(
      runPipeline(setup, this.#stop$)
        .pipe(
          restartWithBackoff(restart, {
            onStart: () => {
              this.#enter('running', { failures: this.#failures });
              if (this.#failures > 0) running.add(this.#recovery(restart.healthyAfter));
            },
            onWait: (retryIn, failures, error) => this.#wait(retryIn, failures, error),
          }),
        )
        .subscribe({
          error: (error: unknown) => this.#finish('failed', error),
          complete: () => this.#finish('completed'),
        }),
    );
    if (isFinal(this.status.state)) running.unsubscribe();
  }

  /**
   * Tells the collectors to end, lets what is in flight drain within the deadline and cancels the rest. Starts at
   * once; the result emits and completes when the pipeline has stopped, at once if it does not run.
   */
  stop(): Observable<void> {
    const { state } = this.status;
    if (state !== 'running' && state !== 'backing_off') return of(undefined);
    if (this.#stopped$ !== undefined) return this.#stopped$;
    const stopped$ = new ReplaySubject<void>(1);
    this.#stopped$ = stopped$;
    if (state === 'running') {
      const deadline = longTimer(this.#options.drainTimeout).subscribe(() => this.#giveUp());
      stopped$.subscribe({ complete: () => deadline.unsubscribe() });
      this.#stop$.next();
    } else {
      this.#options.setup.counters.givenUp += this.#abandoned;
      this.#finish('stopped');
    }
    return stopped$;
  }

  #wait(retryIn: number, failures: number, error: { readonly cause: unknown } | undefined): void {
    if (this.#stopped$ !== undefined) {
      this.#finish('stopped', error?.cause);
      return;
    }
    this.#failures = failures;
    const { counters, shared } = this.#options.setup;
    const { logger } = shared;
    counters.restarts++;
    this.#abandoned = counters.abandon();
    const seconds = (retryIn / 1000).toFixed(1);
    if (error === undefined) {
      logger.info(`${this.name}: the run has ended; the next one starts in ${seconds} s`);
      this.#enter('backing_off', { failures, retryIn });
    } else {
      logger.warn(
        `${this.name}: failed (${failures} in a row), starting again in ${seconds} s: ${failureReason(error.cause)}`,
      );
      this.#enter('backing_off', { failures, retryIn, error: error.cause });
    }
  }

  /** Logs that a run which followed failures has lasted so long that they no longer count. */
  #recovery(healthyAfter: number): Subscription {
    const failures = this.#failures;
    const run = this.status;
    return longTimer(healthyAfter).subscribe(() => {
      if (this.status !== run) return;
      this.#failures = 0;
      const { logger } = this.#options.setup.shared;
      const often = failures === 1 ? 'a failure' : `${failures} failures in a row`;
      logger.info(
        `${this.name}: works again: it has been running for ${elapsedText(healthyAfter)} after ${often}`,
      );
    });
  }

  #giveUp(): void {
    const { setup, drainTimeout } = this.#options;
    // What else is in flight is in the buffer on disk.
    const { volatile } = setup.counters;
    if (volatile > 0) {
      const were = volatile === 1 ? 'was' : 'were';
      setup.shared.logger.warn(
        `${this.name}: ${counted(volatile, 'event')} ${were} not delivered within ${drainTimeout / 1000} s of the stop and ${were} given up`,
      );
    }
    this.#finish('stopped');
  }

  #finish(end: PipelineState, error?: unknown): void {
    const state = this.#stopped$ === undefined ? end : 'stopped';
    this.#running.unsubscribe();
    const { memories, counters, shared } = this.#options.setup;
    counters.givenUp += counters.abandon();
    memories.clear();
    for (const key of Object.keys(shared.shared_cache)) delete shared.shared_cache[key];
    const failures = state === 'failed' ? this.#failures + 1 : 0;
    if (state === 'failed') shared.logger.error(`${this.name}: failed: ${failureReason(error)}`);
    else if (error !== undefined) {
      shared.logger.error(`${this.name}: ${state}, and failed meanwhile: ${failureReason(error)}`);
    } else shared.logger.info(`${this.name}: ${state}`);
    const { events = 0, bytes = 0 } = counters.buffer?.status ?? {};
    if (events > 0) {
      const wait = events === 1 ? 'waits' : 'wait';
      shared.logger.info(
        `${this.name}: ${counted(events, 'event')} (${counted(bytes, 'byte')}) ${wait} in the buffer on disk, for the next start`,
      );
    }
    this.#enter(state, error === undefined ? { failures } : { failures, error });
    if (this.#stopped$ !== undefined) finish(this.#stopped$);
  }

  #enter(state: PipelineState, details: Omit<PipelineStatus, 'pipeline' | 'state' | 'since'>): void {
    if (state === 'running') this.#options.setup.shared.logger.info(`${this.name}: running`);
    this.#status$.next({ pipeline: this.name, state, since: isoNow(), ...details });
  }
}

function finish(stopped$: ReplaySubject<void>): void {
  stopped$.next();
  stopped$.complete();
}
