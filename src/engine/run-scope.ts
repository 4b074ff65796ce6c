import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  merge,
  type Observable,
  tap,
  throwError,
} from 'rxjs';
import { InFlightWindow } from '../../operators/index.ts';
import { counted } from '../../operators/internal.ts';
import type { BufferStatus, EventBuffer, EventBufferOptions } from '../buffer/event-buffer.ts';
import {
  type AnalyticsConfig,
  type DiskBufferConfig,
  diskBufferOf,
  type PipelineConfig,
  type PluginConfig,
} from '../sdk/config.ts';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import { type PluginMetrics, silentMetrics } from '../sdk/metrics.ts';
import { memoryState } from '../state/state-store.ts';
import { createContext, type SharedContext } from './context.ts';
import type { PipelineCounters } from './counters.ts';
import { Observers, type PipelineObserver, type StagePlace } from './observer.ts';
import { elapsedText } from './retry-log.ts';
import { RunLog } from './run-log.ts';

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
  /** What a plugin of this pipeline remembers over restarts of the process; undefined without a state folder. */
  readonly state?: ((collector: string) => CollectorState) | undefined;
  /** Opens the buffer on disk of a pipeline that has one. Default: in its folder. */
  readonly openBuffer?: OpenBuffer | undefined;
}

export type OpenBuffer = (options: EventBufferOptions) => Observable<EventBuffer>;

/** Loaded by the first pipeline that has one. */
const openOnDisk: OpenBuffer = (options) =>
  defer(() => from(import('../buffer/disk-buffer.ts'))).pipe(
    concatMap(({ openDiskBuffer }) => openDiskBuffer(options)),
  );

/** What the stages of one run share: the window, the observers, and the contexts of plugins. */
export class RunScope {
  readonly setup: PipelineSetup;
  /** Bounds what is collected and not acknowledged. */
  readonly window: InFlightWindow;
  /** The same one, unless a buffer on disk acknowledges events: then it bounds what was read from that. */
  readonly deliveryWindow: InFlightWindow;
  readonly observer: Observers;
  readonly #log: RunLog;
  readonly #working = new AbortController();
  readonly #places = new Map<string, StagePlace>();
  readonly #beforeEnd: Observable<unknown>[] = [];
  #buffer: EventBuffer | undefined;
  /** What plugins see of the buffer. */
  readonly #bufferState: PipelineRunContext['buffer'];

  constructor(setup: PipelineSetup) {
    this.setup = setup;
    const { config, shared, counters, observer } = setup;
    this.#log = new RunLog(shared.pipeline, shared.logger, counters);
    this.observer = new Observers([counters, this.#log, ...(observer === undefined ? [] : [observer])]);
    // Also in virtual time, where nothing else of workers can be seen.
    const size = config.workers * config.max_in_flight;
    this.window = new InFlightWindow(size);
    const hasBuffer = diskBufferOf(config) !== undefined;
    this.deliveryWindow = hasBuffer ? new InFlightWindow(size) : this.window;
    const isFull = () => this.#buffer?.isFull === true;
    this.#bufferState = hasBuffer
      ? {
          get isFull() {
            return isFull();
          },
        }
      : undefined;
  }

  /** What plugins have left to do when everything is acknowledged. Errors with the first error, when all of it has ended. */
  get beforeEnd$(): Observable<never> {
    return defer(() => {
      const failures: unknown[] = [];
      const all = this.#beforeEnd.map((work$) =>
        work$.pipe(
          ignoreElements(),
          catchError((error) => {
            failures.push(error);
            return EMPTY;
          }),
        ),
      );
      return concat(
        merge(...all),
        defer(() => (failures.length === 0 ? EMPTY : throwError(() => failures[0]))),
      );
    });
  }

  /** One object for each place, so that its counters are found by it. */
  place(kind: StagePlace['kind'], name: string): StagePlace {
    const key = `${kind} ${name}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const { analytics, counters } = this.setup;
    const { collectors, processors, forwarders } = analytics;
    const section = {
      collect: collectors,
      process: processors,
      forward: forwarders,
      dead_letter: forwarders,
      buffer: undefined,
    }[kind];
    const place: StagePlace = { kind, name };
    counters.entry(place, section?.[name]?.plugin ?? name);
    this.#places.set(key, place);
    return place;
  }

  /** Default: the signal of the run, and a state in memory. */
  context(
    place: StagePlace,
    config: PluginConfig,
    signal: AbortSignal = this.#working.signal,
    state?: CollectorState,
  ): PipelineRunContext {
    const { memories, metrics, shared, counters } = this.setup;
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
      demand: this.#windowOf(place),
      buffer: this.#bufferState,
      state: state ?? memory.state,
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
    this.observer.opened(place, context);
    return context;
  }

  /** Where a plugin stands before the buffer, it sees how much room there is for what is collected. */
  #windowOf({ kind }: StagePlace): InFlightWindow {
    const buffer = diskBufferOf(this.setup.config);
    const isBefore = kind === 'collect' || (kind === 'process' && buffer?.masked === true);
    return isBefore ? this.window : this.deliveryWindow;
  }

  /** The buffer on disk, once it is open. */
  get buffer(): EventBuffer {
    if (this.#buffer === undefined) throw new Error('the buffer is not open');
    return this.#buffer;
  }

  /** Opens the buffer on disk. It is closed when all that is in flight is acknowledged, or else when the run is over. */
  openBuffer({ path, max_bytes, when_full }: DiskBufferConfig, place: StagePlace): Observable<EventBuffer> {
    const { openBuffer = openOnDisk, shared, counters } = this.setup;
    const options: EventBufferOptions = {
      folder: path,
      maxBytes: max_bytes,
      whenFull: when_full,
      logger: shared.logger,
      onDropped: (events) => this.observer.dropped(place, 'buffer_full', events, () => []),
      onFull: (isFull) => this.observer.bufferFull(place, isFull),
    };
    return openBuffer(options).pipe(
      tap((buffer) => {
        this.#buffer = buffer;
        counters.buffer = buffer;
        this.#tellKept(buffer.status);
        this.#beforeEnd.push(buffer.close());
      }),
    );
  }

  #tellKept({ events, bytes, oldest }: BufferStatus): void {
    if (events === 0) return;
    const { pipeline, logger } = this.setup.shared;
    const age = oldest === undefined ? undefined : elapsedText(asyncScheduler.now() - oldest);
    const since = age === undefined ? '' : `, the oldest for ${age}`;
    const waits = events === 1 ? 'has waited' : 'have waited';
    logger.info(
      `${pipeline}: ${counted(events, 'event')} (${counted(bytes, 'byte')}) ${waits} in the buffer on disk${since}; ${events === 1 ? 'it is' : 'they are'} delivered first`,
    );
  }

  /** The run is over. */
  close(): void {
    this.#buffer?.close().subscribe();
    this.#working.abort();
    this.#log.close();
  }
}
