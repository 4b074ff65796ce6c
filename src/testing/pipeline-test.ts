import { asyncScheduler, timer } from 'rxjs';
import { openDiskBuffer } from '../buffer/disk-buffer.ts';
import type { EventBufferOptions } from '../buffer/event-buffer.ts';
import { Manager } from '../engine/manager.ts';
import { conditionsOf, type WrittenSections } from '../sdk/checks/shown-values.ts';
import {
  type AnalyticsConfig,
  diskBufferOf,
  forwardersOf,
  type PipelineConfig,
  type PluginConfig,
} from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { isEvent } from '../sdk/event-batch.ts';
import { freezeDeep, frozenCopy } from '../sdk/freeze.ts';
import { nearest } from '../sdk/nearest.ts';
import type { CollectPlugin, ForwardPlugin } from '../sdk/plugin.ts';
import type { StateStore } from '../state/state-store.ts';
import { memoryStore } from '../state/state-store.ts';
import { failureOf, isOnePerRun, lastMarble, rowsOf, usedLetters } from './collector-rows.ts';
import { toMilliseconds } from './duration.ts';
import { errorText } from './error-text.ts';
import { FormComparison } from './form-comparison.ts';
import { toEvent } from './marbles.ts';
import { type DiskRecord, joinedStats, PipelineRun } from './pipeline-run.ts';
import { seededRandom } from './seeded-random.ts';
import { shownEntry } from './shown-entry.ts';
import { standInBuffer } from './stand-in-buffer.ts';
import { resumesAfterRestart, standInCollector } from './stand-in-collector.ts';
import { standInForwarder } from './stand-in-forwarder.ts';
import { replacePlugins, testHost, tracedForwarder, tracedProcessor, withoutAudit } from './stand-ins.ts';
import type { InstantRecorder } from './stepped-run.ts';
import type { TestPipelineOptions } from './test-pipeline.ts';
import { Letters, type Trace, TraceRecorder, type TraceRow } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

/** Virtual time goes no further beyond the last marble: a forwarder that never recovers would go on for ever. */
const LONGEST = 24 * 3_600_000;

/** Too short to show in reported times, even summed over thousands of calls. */
const TIES_ONLY_MS = 1e-4;

/** On the virtual disk, where nobody else could use it. */
const openVirtualBuffer = (options: EventBufferOptions) =>
  openDiskBuffer(options, async () => ({ release: () => {} }));

/** The stage of a buffer on disk, if the pipeline has one. */
function bufferStages(pipeline: PipelineConfig): Omit<TraceRow, 'marks'>[] {
  const buffer = diskBufferOf(pipeline);
  if (buffer === undefined) return [];
  const { max_bytes, when_full } = buffer;
  return [
    { place: { kind: 'buffer', name: 'buffer' }, plugin: 'buffer', settings: { max_bytes, when_full } },
  ];
}

function jitterOf({ explore }: TestPipelineOptions): () => number {
  if (explore === undefined) return () => 0;
  const { seed, within = TIES_ONLY_MS } = explore;
  const random = seededRandom(seed);
  const most = toMilliseconds(within);
  return () => random() * most;
}

const SECTIONS = { collect: 'collectors', process: 'processors', forward: 'forwarders' } as const;

/**
 * One pipeline in virtual time: it replaces collectors and forwarders, and writes down what happens. `run` runs it by
 * itself; a {@link TestProcess} with virtual files starts, stops and kills it, and others beside it.
 */
export class PipelineTest {
  readonly logger: Logger;
  readonly #config: AnalyticsConfig;
  readonly #options: TestPipelineOptions;
  readonly #name: string;
  readonly #pipeline: PipelineConfig;
  readonly #letters: Letters;
  readonly #recorder: TraceRecorder;
  /** Processors that returned promises. */
  readonly #promises = new Set<string>();
  /** How many Observables of each processor have not ended, and which had not when the test gave up. */
  readonly #working = new Map<string, number>();
  #stuck: string[] = [];
  /** Processors that tried to change an event, with the error. */
  readonly #changed = new Map<string, unknown>();
  /** Of processors that have faster forms. */
  readonly #comparisons = new Map<string, FormComparison>();
  readonly #log: string[] = [];
  readonly #assumptions = new Set<string>();
  readonly #states: Trace['states'][number][] = [];
  readonly #random: () => number;
  /** Of each process in which it ran. */
  readonly #managers: Manager[] = [];
  readonly #steps: InstantRecorder | undefined;
  #replaced: AnalyticsConfig | undefined;

  /** @param steps told of every instant that has passed */
  constructor(
    config: AnalyticsConfig,
    options: TestPipelineOptions,
    written: WrittenSections,
    steps?: InstantRecorder,
  ) {
    this.#options = options;
    this.#steps = steps;
    this.#name = pipelineName(config, options.pipeline);
    // One that a run does not start can be tested all the same.
    this.#pipeline = { ...(config.pipelines[this.#name] as PipelineConfig), enabled: true };
    this.#config = { ...config, pipelines: { ...config.pipelines, [this.#name]: this.#pipeline } };
    const { dead_letter } = this.#pipeline.delivery;
    const forwarders = [...forwardersOf(this.#pipeline), ...(dead_letter === undefined ? [] : [dead_letter])];
    checkNames('collect', options.collect, this.#pipeline.collect, this.#name);
    checkNames('forward', options.forward, forwarders, this.#name);
    this.#letters = new Letters(usedLetters(options));
    this.#recorder = new TraceRecorder(this.#letters, this.#stages(written));
    this.#recorder.onOpened = (entry, context) => steps?.opened(entry, context);
    const { seed = 1, random = seededRandom(seed) } = options;
    this.#random = random;
    const note = (level: string) => (message: string) => {
      if (!this.#recorder.isPaused) this.#log.push(`${level} ${message}`);
    };
    this.logger = { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') };
  }

  /**
   * Runs it by itself.
   *
   * @param longest milliseconds of real time
   */
  run(longest?: number): PipelineRun {
    const { once = true, until } = this.#options;
    return VirtualTime.run((time) => {
      const isExact = Object.values(this.#config.pipelines).some(({ exactly_once }) => exactly_once);
      const manager = this.open(once, isExact ? memoryStore() : undefined);
      let statsAtCut: PipelineRun['stats'] | undefined;
      const limit = until === undefined ? lastMarble(this.#options) + LONGEST : toMilliseconds(until);
      const end = timer(limit).subscribe(() => {
        if (until === undefined) {
          statsAtCut = this.#stats();
          this.#cut();
          time.onPassed = undefined;
        }
        manager.stop();
      });
      manager.finished$.subscribe(() => end.unsubscribe());
      time.onPassed = (at) => this.passed(at);
      manager.start(this.#name);
      return () => {
        const stats = statsAtCut ?? this.#stats();
        this.#refuseChanges();
        this.#refuseDifferences();
        this.#refuseWaits(stats.in_flight + stats.given_up, time.waits);
        return this.#runOf({ flight: this.#recorder.flight }, stats);
      };
    }, longest);
  }

  /** A Manager whose states are noted, for a process that starts: `start` starts the pipeline in it. */
  open(once: boolean, state: StateStore | undefined): Manager {
    const { host = testHost, drainTimeout: drain = '10s' } = this.#options;
    const drainTimeout = toMilliseconds(drain) / 1000;
    const giveUpAfter = Number.POSITIVE_INFINITY;
    const observer = () => this.#recorder;
    const [logger, random] = [this.logger, this.#random];
    this.#replaced ??= this.#replacedConfig();
    const manager = new Manager(this.#replaced, {
      ...{ host, logger, once, random, giveUpAfter, drainTimeout, observer, state },
      openBuffer: this.#options.files === undefined ? standInBuffer : openVirtualBuffer,
    });
    manager.states$.subscribe(({ pipeline: name, state, error }) => {
      if (name !== this.#name || this.#recorder.isPaused) return;
      this.#states.push({ at: asyncScheduler.now(), state });
      if (error !== undefined) this.#recorder.pluginFailed({ kind: 'pipeline', name }, { error });
      if (state !== 'running') this.#runEnded(state === 'backing_off');
    });
    this.#managers.push(manager);
    return manager;
  }

  start(manager: Manager): void {
    manager.start(this.#name);
  }

  processStarted(): void {
    this.#recorder.isPaused = false;
  }

  /** Nothing is noted until another one starts. */
  processKilled(): void {
    this.#states.push({ at: asyncScheduler.now(), state: 'crashed' });
    this.#runEnded(true);
    this.#recorder.isPaused = true;
  }

  /** All that happens at a time has happened. */
  passed(at: number): void {
    const marks = this.#recorder.marks + this.#states.length;
    this.#steps?.record(at, this.#stats(), this.#log.length, marks);
  }

  /** What it did in all processes, and what became of the files that it shared with others. */
  runOn(files: NonNullable<Trace['files']>, disk: DiskRecord): PipelineRun {
    this.#refuseChanges();
    this.#refuseDifferences();
    return this.#runOf({ files }, this.#stats(), disk);
  }

  #runOf(more: Pick<Trace, 'files' | 'flight'>, stats: PipelineRun['stats'], disk?: DiskRecord): PipelineRun {
    const rules = new Map<string, Set<string>>();
    for (const { name, masked } of this.#managers.flatMap(
      (manager) => manager.counters(this.#name)?.entries ?? [],
    )) {
      if (masked.size > 0) rules.set(name, new Set([...(rules.get(name) ?? []), ...masked.keys()]));
    }
    const { rows, failures } = this.#recorder;
    const trace = { pipeline: this.#name, rows, states: this.#states, ...more };
    return new PipelineRun(trace, stats, this.#log, failures, disk, rules, [...this.#assumptions]);
  }

  #stats(): PipelineRun['stats'] {
    return joinedStats(this.#managers.map((manager) => this.#statsOf(manager)));
  }

  #statsOf(manager: Manager): PipelineRun['stats'] {
    return manager.stats()[this.#name] as PipelineRun['stats'];
  }

  #runEnded(isRestarted: boolean): void {
    const { collectors } = this.#config;
    this.#recorder.runEnded((name) => {
      const plugin = collectors[name]?.loaded_plugin;
      return isRestarted && plugin !== undefined && resumesAfterRestart(plugin);
    });
  }

  /** Ends the run. What happens from now on is not recorded. */
  #cut(): void {
    this.#stuck = [...this.#working].flatMap(([name, count]) => (count > 0 ? [name] : []));
    this.#recorder.isPaused = true;
  }

  #replacedConfig(): AnalyticsConfig {
    const { collect, forward, files } = this.#options;
    const isReal = ({ traits }: CollectPlugin | ForwardPlugin) =>
      files !== undefined && traits?.virtualFiles === true;
    const jitter = jitterOf(this.#options);
    const processors = Object.fromEntries(
      Object.entries(this.#config.processors).map(([name, entry]) => [name, withoutAudit(entry)]),
    );
    return {
      ...this.#config,
      collectors: replacePlugins(this.#config.collectors, (entry) => {
        const { name, loaded_plugin } = entry;
        const given = ownOf(collect, name) ?? (isReal(loaded_plugin) ? 'keep' : { marbles: '|' });
        if (given === 'keep') return undefined;
        return standInCollector(entry, {
          rows: rowsOf(given),
          isOnePerRun: isOnePerRun(given),
          makeEvent: ({ value, letter }, position) => {
            // A whole event keeps its data, by which a recording knows it.
            const event = toEvent(isEvent(value) ? value : frozenCopy(value));
            freezeDeep(event);
            this.#letters.add(event, { collector: name, position }, letter);
            this.#recorder.emitted();
            return event;
          },
          failure: (run) => failureOf(given, run),
          onEnd: () => this.#recorder.ended({ kind: 'collect', name }),
          jitter,
          onAssumed: (what) => this.#assumptions.add(`collector ${name} (${entry.plugin}): ${what}`),
        });
      }),
      processors: replacePlugins(processors, ({ name, loaded_plugin }) => {
        const comparison = FormComparison.of(loaded_plugin);
        if (comparison !== undefined) this.#comparisons.set(name, comparison);
        return tracedProcessor(loaded_plugin, this.#letters, {
          promised: () => this.#promises.add(name),
          working: (isWorking) => {
            this.#working.set(name, (this.#working.get(name) ?? 0) + (isWorking ? 1 : -1));
          },
          changed: (error) => this.#changed.set(name, error),
          ...(comparison && {
            arriving: (ctx, events) => comparison.foresee(ctx, events),
            processed: (event, outcome) => comparison.compare(event, outcome),
          }),
        });
      }),
      forwarders: replacePlugins(this.#config.forwarders, ({ name, loaded_plugin }) => {
        const given = ownOf(forward, name) ?? (isReal(loaded_plugin) ? 'keep' : {});
        if (given === 'keep')
          return tracedForwarder(loaded_plugin, (count) => this.#recorder.cutBack(name, count));
        return standInForwarder(
          loaded_plugin,
          given,
          {
            handed: (event) => this.#recorder.handed(name, event),
            delivering: (events) => this.#recorder.delivering(name, events),
            cutBack: (count) => this.#recorder.cutBack(name, count),
          },
          jitter,
        );
      }),
    };
  }

  #stages(written: WrittenSections) {
    const { collectors, processors, forwarders } = this.#config;
    const { collect, process = [], delivery } = this.#pipeline;
    const conditions = conditionsOf(this.#pipeline, written.get('pipelines')?.[this.#name]);
    const stage = (
      kind: 'collect' | 'process' | 'forward' | 'dead_letter',
      entry: PluginConfig | undefined,
    ) => {
      const known = entry as PluginConfig;
      const pluginKind = kind === 'dead_letter' ? 'forward' : kind;
      const own = written.get(SECTIONS[pluginKind])?.[known.name];
      return { place: { kind, name: known.name }, ...shownEntry(known, own) };
    };
    const buffers = bufferStages(this.#pipeline);
    const isMasked = diskBufferOf(this.#pipeline)?.masked === true;
    return [
      ...collect.map((name) => stage('collect', collectors[name])),
      ...(isMasked ? [] : buffers),
      ...process.map((name) => stage('process', processors[name])),
      ...(isMasked ? buffers : []),
      ...forwardersOf(this.#pipeline).map((name) => {
        const when = conditions.get(name);
        const row = stage('forward', forwarders[name]);
        return when === undefined ? row : { ...row, settings: { when, ...row.settings } };
      }),
      ...(delivery.dead_letter === undefined ? [] : [stage('dead_letter', forwarders[delivery.dead_letter])]),
    ];
  }

  /** @param waits what was called that waits, with its place: see {@link VirtualTime.waits} */
  #refuseWaits(open: number, waits: readonly string[]): void {
    if (open === 0) return;
    const calls = waits.length === 0 ? '' : `: it called ${waits.join(', ')}`;
    if (this.#promises.size > 0) {
      const names = this.#pluginsOf(this.#promises);
      throw new MillraceError(
        'MILLRACE_TEST_PROMISE',
        `virtual time does not govern promises, and ${names} returned some that were not done when the test ended${calls}; return an Observable or an array, or test it without virtual time`,
      );
    }
    if (this.#stuck.length === 0 || waits.length === 0) return;
    const names = this.#pluginsOf(this.#stuck);
    throw new MillraceError(
      'MILLRACE_TEST_PROMISE',
      `virtual time governs timers only, and ${names} waited for something else when the test gave up${calls}; use timer() of RxJS, or test it without virtual time`,
    );
  }

  #refuseChanges(): void {
    const [first] = this.#changed;
    if (first === undefined) return;
    const [name, error] = first;
    throw new MillraceError(
      'MILLRACE_TEST_EVENT',
      `${this.#pluginsOf([name])} changed an event, which others may share: ${errorText(error)}; return a new event, such as { ...event, data: { ...event.data, user: 'ada' } }`,
    );
  }

  /** A run would deliver something else than the test shows. */
  #refuseDifferences(): void {
    for (const [name, { difference }] of this.#comparisons) {
      if (difference === undefined) continue;
      throw new MillraceError(
        'MILLRACE_TEST_FORM',
        `${this.#pluginsOf([name])} has a faster form that is not like process, and a run uses it: ${difference}`,
      );
    }
  }

  /** Entries with their plugins: `enrich (./enrich.mjs)`. */
  #pluginsOf(names: Iterable<string>): string {
    return Array.from(names, (name) => `${name} (${this.#config.processors[name]?.plugin})`).join(', ');
  }
}

function pipelineName(config: AnalyticsConfig, wanted: string | undefined): string {
  const names = Object.keys(config.pipelines);
  if (wanted === undefined && names.length === 1) return names[0] as string;
  if (wanted !== undefined && names.includes(wanted)) return wanted;
  const what = wanted === undefined ? 'name the pipeline to test' : `there is no pipeline ${wanted}`;
  throw new MillraceError('MILLRACE_TEST_NAME', `${what}: the configuration has ${names.join(', ')}`);
}

function checkNames(
  kind: string,
  given: object | undefined,
  known: readonly string[],
  pipeline: string,
): void {
  const unknown = Object.keys(given ?? {}).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  const hint = near === undefined ? `it has ${known.join(', ')}` : `did you mean ${near}?`;
  throw new MillraceError(
    'MILLRACE_TEST_NAME',
    `${kind}: the pipeline ${pipeline} has no ${unknown}; ${hint}`,
  );
}

/** What a record has of its own under a name: names are free, and `constructor` is one. */
function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
