import { concat, filter, ignoreElements, map, merge, type Observable, of, take } from 'rxjs';
import { defaultHost } from '../host/standalone-host.ts';
import { checkFunctions, checkOptions, refuseArgument } from '../sdk/checks/arguments.ts';
import { formatPath, isMapping } from '../sdk/checks/problem.ts';
import { loggerFor, withholderFor } from '../sdk/checks/shown-values.ts';
import type { AnalyticsConfig, PipelineConfig, PluginConfig } from '../sdk/config.ts';
import { type Host, type Logger, silentLogger } from '../sdk/context.ts';
import { isFatal, isPermanent, MillraceError } from '../sdk/errors.ts';
import type { PluginMetrics } from '../sdk/metrics.ts';
import { nearest } from '../sdk/nearest.ts';
import { isFinal, type PipelineHealth, type PipelineStats, type PipelineStatus } from '../sdk/status.ts';
import type { StateStore } from '../state/state-store.ts';
import { version } from '../version.ts';
import { PipelineCounters } from './counters.ts';
import { pipelineHealth } from './health.ts';
import type { PipelineObserver, StagePlace } from './observer.ts';
import type { OpenBuffer } from './run-scope.ts';
import { PipelineRunner } from './runner.ts';

export interface ManagerOptions {
  /** The host whose events and functions pipelines use. Default: the standalone one, from `host_config`. */
  readonly host?: Host;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Collectors end once they have reached the end of what there is; then nothing is started again. */
  readonly once?: boolean;
  /**
   * Seconds that a forwarder may fail without a success between before its pipeline fails, with `once`; `Infinity`: any
   * time. Without `once` it is tried again without end. Default: 300.
   */
  readonly giveUpAfter?: number;
  /** Numbers in [0, 1) for every random choice. Default: Math.random. */
  readonly random?: () => number;
  /** Seconds that a stop waits for what is in flight. Default: 10. */
  readonly drainTimeout?: number;
  /** What collectors remember over restarts, from `openState`. The program that opened it closes it. Default: nothing. */
  readonly state?: StateStore | undefined;
  /** Emits when forwarders are to open their files again, as after a rotation by logrotate. Default: never. */
  readonly reopen$?: Observable<unknown> | undefined;
  /** Keeps the metrics that plugins have of their own. Default: nothing is kept. */
  readonly metrics?: MetricsOf | undefined;
  /** Opens the buffer of a pipeline with `buffer.type: disk`. Default: in its folder. */
  readonly openBuffer?: OpenBuffer | undefined;
  /** Who watches the runs of the named pipeline, for tests, pictures and recordings. Default: nobody. */
  readonly observer?: (pipeline: string) => PipelineObserver | undefined;
}

/** The metrics of a plugin, by pipeline, place in it and name of the plugin. */
export type MetricsOf = (pipeline: string, place: StagePlace, plugin: string) => PluginMetrics;

/** Seconds without progress after which a pipeline that has events in flight is not ready. */
const STALLED_AFTER = 60;

/** Backoff of restarts, as `restart` in docs/configuration.md describes it. Milliseconds. */
const RESTART = { base: 1000, cap: 60_000, healthyAfter: 10_000 };

/** How often a run that failed is started again with `once`, unless the pipeline has `max_restarts`. */
const MAX_RESTARTS_ONCE = 4;

/**
 * Runs the pipelines of one configuration. All events of a pipeline flow through one Observable, to which the
 * manager subscribes; `states$` tells what becomes of it.
 *
 * @example
 * const config = await parseConfig({
 *   collectors: { ticks: { plugin: 'test', interval: 0.001, count: 3 } },
 *   forwarders: { nowhere: { plugin: 'noop' } },
 *   pipelines: { main: { collect: 'ticks', forward: 'nowhere' } },
 *   host_config: {},
 * });
 * const manager = new Manager(config, { once: true });
 * manager.start();
 * const [main] = await firstValueFrom(manager.finished$);
 * main.state; // 'completed'
 * manager.stats().main.collected; // 3
 */
export class Manager {
  readonly config: AnalyticsConfig;
  readonly #runners = new Map<string, PipelineRunner>();
  readonly #counters = new Map<string, PipelineCounters>();
  /** A text without values of variables and secrets. */
  readonly #withheld: (text: string) => string;
  readonly #started = new Set<PipelineRunner>();

  /**
   * @throws MillraceError `MILLRACE_HOST` if the host does not have what the configuration names,
   * `MILLRACE_STATE_REQUIRED`, or `MILLRACE_ARGUMENT` for what is not a configuration or not an option.
   */
  constructor(config: AnalyticsConfig, options: ManagerOptions = {}) {
    checkArguments(config, options);
    this.config = config;
    const {
      once = false,
      random = Math.random,
      giveUpAfter = 300,
      drainTimeout = 10,
      state,
      reopen$,
      metrics,
      openBuffer,
    } = options;
    const logger = loggerFor(config, options.logger ?? silentLogger);
    this.#withheld = withholderFor(config);
    const host = options.host ?? defaultHost(config.host_config, { once, logger });
    checkAgainstHost(config, host);
    checkState(config, state);
    const info = { version: version(), id: host.id, role: host.role };

    for (const [name, pipeline] of Object.entries(config.pipelines)) {
      const counters = new PipelineCounters();
      const shared = { pipeline: name, logger, host, info, once, random, reopen$, shared_cache: {} };
      // Standard input cannot be read a second time.
      const endsForGood = once || pipeline.collect.every((collector) => readsStdin(config, collector));
      const restart = {
        ...RESTART,
        random,
        attempts: 1 + maxRestarts(pipeline, once),
        onComplete: pipeline.restart && !endsForGood,
        isFatal: (error: unknown) => isFatal(error) && isPermanent(error),
      };
      this.#counters.set(name, counters);
      this.#runners.set(
        name,
        new PipelineRunner({
          setup: {
            config: pipeline,
            analytics: config,
            shared,
            counters,
            memories: new Map(),
            observer: options.observer?.(name),
            metrics: metrics && ((place, plugin) => metrics(name, place, plugin)),
            giveUpAfter: once ? giveUpAfter * 1000 : undefined,
            state: state && ((collector) => state.of(name, collector)),
            openBuffer,
          },
          restart,
          drainTimeout: drainTimeout * 1000,
        }),
      );
    }
  }

  /** The present status of every pipeline, then every change. Never completes. */
  get states$(): Observable<PipelineStatus> {
    return merge(...[...this.#runners.values()].map((runner) => runner.status$));
  }

  /** Emits once, when every pipeline that was started is completed, failed or stopped; then completes. */
  get finished$(): Observable<readonly PipelineStatus[]> {
    return this.states$.pipe(
      filter(() => this.#started.size > 0 && [...this.#started].every(({ status }) => isFinal(status.state))),
      map(() => [...this.#started].map(({ status }) => status)),
      take(1),
    );
  }

  states(): Record<string, PipelineStatus> {
    return Object.fromEntries([...this.#runners].map(([name, runner]) => [name, runner.status]));
  }

  /** That of one pipeline; undefined if there is none of that name. */
  state(name: string): PipelineStatus | undefined {
    return this.#runners.get(name)?.status;
  }

  /** Counters since the manager was made, restarts included. */
  stats(): Record<string, PipelineStats> {
    return Object.fromEntries([...this.#counters].map(([name, counters]) => [name, counters.snapshot()]));
  }

  /**
   * Whether each pipeline is ready, and what is wrong with it in words, for example `forwarder archive has failed 29 times
   * since 10:02 UTC: no space left on device (ENOSPC)`. `stalledAfter` is how many seconds a pipeline may make no
   * progress while it has events in flight; the longest `batch.seconds` of its forwarders and the
   * `seconds` of processors that join lines are added.
   */
  health(stalledAfter = STALLED_AFTER): Record<string, PipelineHealth> {
    return Object.fromEntries(
      [...this.#runners].map(([name, { status, isStopping }]) => {
        const counters = this.#counters.get(name) as PipelineCounters;
        const stalledAfterMs = (stalledAfter + counters.holdSeconds) * 1000;
        const health = pipelineHealth({ ...status, isStopping }, counters, stalledAfterMs);
        const problems = health.problems.map((problem) => this.#withheld(problem));
        return [name, { ...health, problems }];
      }),
    );
  }

  /** The counters of a pipeline by plugin entry, for metrics; undefined if there is none of that name. */
  counters(name: string): PipelineCounters | undefined {
    return this.#counters.get(name);
  }

  /**
   * Starts every enabled pipeline, or the named one.
   *
   * @throws MillraceError if the named one does not exist or is disabled.
   */
  start(name?: string): void {
    const runners =
      name === undefined
        ? [...this.#runners.values()].filter(({ status }) => status.state !== 'disabled')
        : [this.#find(name)];
    for (const runner of runners) this.#started.add(runner);
    for (const runner of runners) runner.start();
  }

  /**
   * Stops every pipeline, or the named one: collectors first, then what is in flight drains within the deadline,
   * then the rest is cancelled. It starts at once; the result emits and completes when all have stopped.
   */
  stop(name?: string): Observable<void> {
    const stopping = (name === undefined ? [...this.#started] : [this.#find(name)]).map((runner) =>
      runner.stop(),
    );
    return concat(merge(...stopping).pipe(ignoreElements()), of(undefined));
  }

  #find(name: string): PipelineRunner {
    const runner = this.#runners.get(name);
    if (runner !== undefined) return runner;
    const known = [...this.#runners.keys()];
    const near = nearest(name, known);
    throw new MillraceError(
      'MILLRACE_PIPELINE_UNKNOWN',
      `there is no pipeline ${name}; ${near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`}`,
    );
  }
}

/** How many runs in a row may fail and be followed by another one. */
function maxRestarts({ restart, max_restarts }: PipelineConfig, once: boolean): number {
  if (!restart) return 0;
  return max_restarts ?? (once ? MAX_RESTARTS_ONCE : Number.POSITIVE_INFINITY);
}

/** Whether nothing is left to collect once this collector has completed. */
function readsStdin({ collectors }: AnalyticsConfig, collector: string): boolean {
  return collectors[collector]?.loaded_plugin.traits?.readsStdin === true;
}

/** All of them: the compiler misses one that is added. */
const OPTIONS: Readonly<Record<keyof ManagerOptions, true>> = {
  host: true,
  logger: true,
  once: true,
  giveUpAfter: true,
  random: true,
  drainTimeout: true,
  state: true,
  reopen$: true,
  observer: true,
  metrics: true,
  openBuffer: true,
};

function checkArguments(config: AnalyticsConfig, options: ManagerOptions): void {
  const sections: unknown[] = isMapping(config)
    ? [config.collectors, config.processors, config.forwarders, config.pipelines]
    : [];
  const entries = sections
    .slice(0, 3)
    .flatMap((section) => (isMapping(section) ? Object.values(section) : []));
  const isChecked = entries.every((entry) => isMapping(entry) && entry.loaded_plugin !== undefined);
  if (sections.length === 0 || !sections.every(isMapping) || !isChecked) {
    const isLoaded = isMapping(config) && isMapping(config.config);
    const wanted = isLoaded ? 'its part `config`' : 'a configuration, as parseConfig and loadConfig give it';
    refuseArgument('new Manager', config, wanted);
  }
  checkOptions('new Manager', options, Object.keys(OPTIONS));
  checkFunctions('new Manager, option `host`', options.host, ['events', 'functions', 'call']);
  checkFunctions('new Manager, option `logger`', options.logger, ['error', 'warn', 'info', 'debug']);
  checkFunctions('new Manager, option `state`, from `await openState(folder)`', options.state, [
    'of',
    'flush',
  ]);
  for (const name of ['drainTimeout', 'giveUpAfter'] as const) {
    const seconds: unknown = options[name];
    if (seconds === undefined || (typeof seconds === 'number' && seconds >= 0)) continue;
    refuseArgument(`new Manager, option \`${name}\``, seconds, 'a number of seconds, 0 or more');
  }
}

/** What a schema cannot know: an embedding program's host may lack a function that the configuration names. */
function checkAgainstHost(config: AnalyticsConfig, host: Host): void {
  const { collectors, processors, forwarders } = config;
  const problems = Object.entries({ collectors, processors, forwarders }).flatMap(([section, entries]) =>
    Object.values<PluginConfig>(entries).flatMap((entry) =>
      (entry.loaded_plugin.checkConfig?.({ config: entry as never, host }) ?? [])
        .filter(({ severity }) => severity !== 'warning')
        .map(
          ({ path, message, suggestion }) =>
            `${formatPath([section, entry.name, ...path])}: ${message}${suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`}`,
        ),
    ),
  );
  const message = withholderFor(config)(problems.join('\n'));
  if (problems.length > 0) throw new MillraceError('MILLRACE_HOST', message);
}

/** What is delivered exactly once is cut back after a crash to what a state folder says. */
function checkState(config: AnalyticsConfig, state: StateStore | undefined): void {
  if (state !== undefined) return;
  const problems = Object.entries(config.pipelines)
    .filter(([, { enabled, exactly_once, forward }]) => {
      // In tests another plugin may stand in for the forwarder.
      const plugin = config.forwarders[forward[0] as string]?.loaded_plugin;
      return enabled && exactly_once && (plugin?.exactly ?? plugin?.traits?.deduplicates) !== undefined;
    })
    .map(([name]) => `pipelines.${name}.exactly_once: requires a state folder; give one, or set it to false`);
  if (problems.length > 0) throw new MillraceError('MILLRACE_STATE_REQUIRED', problems.join('\n'));
}
