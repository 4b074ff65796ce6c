import type { Observable, ObservableInput } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import type { AnalyticsConfig, PluginConfig } from './config.ts';
import type { HostEvent } from './events.ts';
import type { PluginMetrics } from './metrics.ts';

/** What the engine and its plugins log to. A winston logger fits. Never pass an event's content. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

const ignore = () => {};

/** Logs nothing: the default of an embedded Manager, whose `states$` and `stats` tell all that is logged. */
export const silentLogger: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore };

/**
 * The host that pipelines live in: an event bus and functions to call. The standalone process has one of its
 * own; a program that embeds millrace may pass another to `new Manager(config, { host })`.
 */
export interface Host {
  /** Names this host in events and tags. */
  readonly id: string;
  readonly role: string;
  /** Events of the bus whose tag matches one of the glob patterns (`*` stays within a `/`, `**` does not). */
  events(patterns: readonly string[]): Observable<HostEvent>;
  /** Names of the functions that `call` knows; configurations that name others are refused. */
  functions(): readonly string[];
  /** All names that beacons of this host can have, where it knows them: others are refused. */
  beacons?(): readonly string[];
  /** Calls a function once. Emits its result, or errors. */
  call(
    fn: string,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
  ): ObservableInput<unknown>;
}

/** What a plugin reports of its work, beside its events. Shown in summaries, the live line and statistics. */
export interface PluginStats {
  /** `count` values were masked by `rule`. */
  masked(rule: string, count: number): void;
  /** So many bytes more were read, by a collector, or written, by a forwarder. */
  bytes(count: number): void;
  /** Bytes that this collector knows of and has not read yet. */
  backlog(bytes: number): void;
  /** Messages that this collector knows of and has not received yet. */
  pending(messages: number): void;
  /** So many bytes more are gone that this collector knew of and has not read. */
  lost(bytes: number): void;
  /** A file was gone before it was read to its end. `lost` is told how much was not read, as far as that is known. */
  lostFile(): void;
  /** A file was truncated: an unknown number of lines may be lost with it. */
  truncated(): void;
}

/** What can be remembered: JSON. */
export type StateValue =
  | null
  | boolean
  | number
  | string
  | readonly StateValue[]
  | { readonly [key: string]: StateValue };

/**
 * What a collector remembers over restarts of the process, such as how far it has read. Advance it in
 * `EventBatch.acknowledge`, which is called in order once everything that came of the events is done. With a state
 * folder, changes are committed within about 5 ms, and then survive a crash of the process. So are those of a forwarder
 * with the trait `deduplicates` in a pipeline with `exactly_once`. Without a folder, and for other plugins, the state is in
 * memory and lasts as long as `ctx.cache`.
 */
export interface CollectorState {
  get(key: string): StateValue | undefined;
  /** Values are not copied: a new one each time. */
  set(key: string, value: StateValue): void;
  delete(key: string): void;
  entries(): IterableIterator<[key: string, value: StateValue]>;
  /** Whether something was set that is not committed yet. Always false for a state in memory. */
  readonly isPending: boolean;
  /** Commits now, instead of within some 5 ms. */
  commit(): void;
  /**
   * Only in a pipeline with `exactly_once`: sets a value, or deletes it, without waiting for the commit of the output. The
   * change is kept before any event is written that is emitted from now on.
   */
  note?(key: string, value: StateValue | undefined): void;
}

/** Facts about the process that a pipeline runs in. */
export interface RunInfo {
  readonly version: string;
  readonly id: string;
  readonly role: string;
}

/** `ctx` of every entry function of a plugin: docs/specification.md#26-pipelineruncontext. */
export interface PipelineRunContext<C = PluginConfig> {
  readonly config: C;
  /** Per plugin entry of a pipeline; lives until the pipeline is stopped, restarts included. */
  readonly cache: Record<string, unknown>;
  /** One for each pipeline, shared by its plugins; lives as long as `cache`. */
  readonly shared_cache: Record<string, unknown>;
  readonly pipeline_config: AnalyticsConfig;
  /** The pipeline's name. */
  readonly pipeline: string;
  /** Aborted when this plugin's part of the run is over: for collectors at the start of a stop. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the run is over: for collectors, after what they have emitted has drained. Connections that
   * acknowledgements need stay open until then.
   */
  readonly ended: AbortSignal;
  /**
   * The run is over only when `work$` has completed too, or at the deadline of a stop. It is subscribed to when everything
   * else has drained. A collector uses it to give back messages that a server has sent and that it cannot emit any more.
   * If it errors, the work of other plugins goes on, and the run fails when all of it has ended.
   */
  readonly beforeEnd?: ((work$: Observable<unknown>) => void) | undefined;
  readonly logger: Logger;
  readonly host: Host;
  readonly info: RunInfo;
  readonly stats: PluginStats;
  /** Metrics of the plugin's own, for Prometheus. They cost nothing when metrics are off. */
  readonly metrics: PluginMetrics;
  /** Collectors that can wait emit at most `demand.room` events at a time. */
  readonly demand: Demand;
  /** The buffer on disk of the pipeline; undefined if it has none. A collector may say in its health that it is full. */
  readonly buffer?: { readonly isFull: boolean } | undefined;
  /** Always there; durable for collectors, and forwarders of `exactly_once`, of a run with a state folder. */
  readonly state: CollectorState;
  /** Emits when files that are written to are to be reopened, as after a rotation by logrotate. */
  readonly reopen$?: Observable<unknown> | undefined;
  /** Collectors complete once they have reached the end of what there is. */
  readonly once: boolean;
  /** A number in [0, 1): the source of every random choice, so that a seed makes a run repeatable. */
  readonly random: () => number;
}
