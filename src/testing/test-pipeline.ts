import { asyncScheduler, timer } from 'rxjs';
import { isMapping } from '../checks/problem.ts';
import { conditionsOf, type WrittenSections } from '../checks/shown-values.ts';
import { parseConfig } from '../config/parse-config.ts';
import { Manager } from '../engine/manager.ts';
import type { StagePlace } from '../engine/probe.ts';
import { type AnalyticsConfig, forwardersOf, type PipelineConfig, type PluginConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { nearest } from '../sdk/nearest.ts';
import type { StateStore } from '../state/state-store.ts';
import { StateTable } from '../state/state-table.ts';
import { checkTestOptions } from './check-test-options.ts';
import { type Duration, toMilliseconds } from './duration.ts';
import { letterValue, type MarbleValues, parseMarbleRow, toEvent } from './marbles.ts';
import { PipelineRun } from './pipeline-run.ts';
import { seededRandom } from './seeded-random.ts';
import { shownEntry } from './shown-entry.ts';
import { goesOnAfterRestart, standInCollector } from './stand-in-collector.ts';
import { type ForwarderBehaviour, standInForwarder } from './stand-in-forwarder.ts';
import { isParsed, replacePlugins, testHost, tracedProcessor } from './stand-ins.ts';
import { InstantRecorder, SteppedRun } from './stepped-run.ts';
import { Letters, type Trace, TraceRecorder } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

/** What a collector of a test emits. */
export interface CollectorMarbles {
  /**
   * One marble string, or one for each run of a pipeline that restarts. With a single one, a collector with checkpoints
   * goes on behind what was acknowledged, and another one starts it again.
   */
  readonly marbles: string | readonly string[];
  /** What the letters stand for. */
  readonly values?: MarbleValues;
  /** The error of `#`. Default: an error that says so. */
  readonly error?: unknown;
}

export interface TestPipelineOptions {
  /** The pipeline to run. Default: the only one. */
  readonly pipeline?: string;
  /** What collectors emit; `keep` runs the real one. One that is not named completes at once. */
  readonly collect?: Readonly<Record<string, CollectorMarbles | 'keep'>>;
  /** How forwarders behave; `keep` runs the real one. One that is not named takes everything at once. */
  readonly forward?: Readonly<Record<string, ForwarderBehaviour | 'keep'>>;
  /** Makes random delays and backoffs the same in every run. Default: 1. */
  readonly seed?: number;
  /** When the pipeline is stopped, for one that does not end by itself. */
  readonly until?: Duration;
  /** Whether the run ends when all collectors have; otherwise `restart: true` starts it again. Default: true. */
  readonly once?: boolean;
  /** Numbers in [0, 1) for every random choice, in the place of those of `seed`. */
  readonly random?: () => number;
  /** The host that kept collectors use. Default: one without events and functions. */
  readonly host?: Host;
}

/** Virtual time goes no further beyond the last marble: a forwarder that never recovers would go on for ever. */
const LONGEST = 24 * 3_600_000;

/**
 * Runs a whole pipeline in virtual time: real processors, between collectors that emit marbles and forwarders
 * that only take events. Hours take milliseconds, and the same seed gives the same run.
 *
 * Not to be called inside `TestScheduler.run`: it makes a virtual time of its own.
 *
 * @throws ConfigError if the configuration is wrong; MillraceError if the options are, or if a plugin works with
 * promises, which virtual time does not govern
 * @example
 * const config = {
 *   collectors: { web: { plugin: 'file', paths: ['access.log'] } },
 *   processors: { mask: { plugin: 'regex_mask', rules: { PIN: '[0-9]{4}' } } },
 *   forwarders: { archive: { plugin: 'disk', path: 'out' } },
 *   pipelines: { main: { collect: 'web', process: 'mask', forward: 'archive' } },
 *   host_config: {},
 * };
 * const values = { a: 'one', b: 'pin 1234' };
 * const run = await testPipeline(config, { collect: { web: { marbles: 'a 1s b|', values } } });
 * run.forwarded('archive'); // marbles('a 1s b', { a: 'one', b: 'pin <:PIN:>' })
 */
export async function testPipeline(
  config: AnalyticsConfig | object,
  options: TestPipelineOptions = {},
): Promise<PipelineRun> {
  checkTestOptions(options);
  return runPipeline(isMapping(config) && isParsed(config) ? config : await parseConfig(config), options);
}

/**
 * {@link testPipeline} for a look at the run step by step: `advance` moves on in virtual time, and all that the run tells
 * is told as of `now`. It can go back as well.
 *
 * @throws what {@link testPipeline} throws
 * @example
 * const config = {
 *   collectors: { web: { plugin: 'file', paths: ['access.log'] } },
 *   forwarders: { archive: { plugin: 'disk', path: 'out' } },
 *   pipelines: { main: { collect: 'web', forward: 'archive' } },
 *   host_config: {},
 * };
 * const collect = { web: { marbles: '(ab|)' } };
 * const run = await stepPipeline(config, { collect, forward: { archive: { takes: '2s' } } });
 * run.advance('1s').stats.in_flight; // 2
 * run.advance('1s').forwarded('archive').length; // 2
 */
export async function stepPipeline(
  config: AnalyticsConfig | object,
  options: TestPipelineOptions = {},
): Promise<SteppedRun> {
  checkTestOptions(options);
  return runSteps(isMapping(config) && isParsed(config) ? config : await parseConfig(config), options);
}

/** The same, for a configuration that was loaded. */
export function runSteps(
  config: AnalyticsConfig,
  options: TestPipelineOptions,
  written: WrittenSections = new Map(),
): SteppedRun {
  const recorder = new InstantRecorder();
  const run = new PipelineTest(config, options, written).run(recorder);
  return new SteppedRun(run, recorder.instants);
}

/** {@link testPipeline}, for a configuration of which `written` says what came from the environment: that is not drawn. */
export function runPipeline(
  config: AnalyticsConfig,
  options: TestPipelineOptions,
  written: WrittenSections = new Map(),
): PipelineRun {
  return new PipelineTest(config, options, written).run();
}

const SECTIONS = { collect: 'collectors', process: 'processors', forward: 'forwarders' } as const;

class PipelineTest {
  readonly #config: AnalyticsConfig;
  readonly #options: TestPipelineOptions;
  readonly #name: string;
  readonly #pipeline: PipelineConfig;
  readonly #letters: Letters;
  readonly #recorder: TraceRecorder;
  readonly #promises = new Set<string>();
  #isCut = false;

  constructor(config: AnalyticsConfig, options: TestPipelineOptions, written: WrittenSections) {
    this.#options = options;
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
  }

  /** @param steps told of every instant that has passed */
  run(steps?: InstantRecorder): PipelineRun {
    const log: string[] = [];
    const note = (level: string) => (message: string) => {
      if (!this.#isCut) log.push(`${level} ${message}`);
    };
    const logger = { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') };
    const states: { at: number; state: Trace['states'][number]['state'] }[] = [];
    const { host = testHost, seed = 1, once = true, until } = this.#options;

    return VirtualTime.run((time) => {
      const config = this.#replaced();
      const random = this.#options.random ?? seededRandom(seed);
      const giveUpAfter = Number.POSITIVE_INFINITY;
      const probe = () => this.#recorder;
      this.#recorder.onOpened = (entry, context) => steps?.opened(entry, context);
      const state = this.#pipeline.exactly_once ? memoryStore() : undefined;
      const manager = new Manager(config, { host, logger, once, random, giveUpAfter, probe, state });
      const statsNow = () => manager.stats()[this.#name] as PipelineRun['stats'];
      let statsAtCut: PipelineRun['stats'] | undefined;
      manager.states$.subscribe(({ pipeline: name, state, error }) => {
        if (name !== this.#name || this.#isCut) return;
        states.push({ at: asyncScheduler.now(), state });
        if (error !== undefined) this.#recorder.pluginFailed({ kind: 'pipeline', name }, error);
        if (state !== 'running') this.#runEnded(state === 'backing_off');
      });
      const limit = until === undefined ? this.#lastMarble() + LONGEST : toMilliseconds(until);
      const end = timer(limit).subscribe(() => {
        if (until === undefined) {
          statsAtCut = statsNow();
          this.#cut();
        }
        manager.stop();
      });
      manager.finished$.subscribe(() => end.unsubscribe());
      if (steps !== undefined) {
        time.onPassed = (at) => this.#isCut || steps.record(at, statsNow(), log.length);
      }
      manager.start(this.#name);
      return () => {
        const stats = statsAtCut ?? statsNow();
        this.#refusePromises(stats.in_flight + stats.given_up);
        const trace = { pipeline: this.#name, rows: this.#recorder.rows, states };
        return new PipelineRun(trace, stats, log, this.#recorder.failures);
      };
    });
  }

  #runEnded(isRestarted: boolean): void {
    const { collectors } = this.#config;
    this.#recorder.runEnded((name) => {
      const plugin = collectors[name]?.loaded_plugin;
      return isRestarted && plugin !== undefined && goesOnAfterRestart(plugin);
    });
  }

  /** Ends the run. What happens from now on is not recorded. */
  #cut(): void {
    this.#isCut = true;
    this.#recorder.close();
  }

  #replaced(): AnalyticsConfig {
    const { collect, forward } = this.#options;
    return {
      ...this.#config,
      collectors: replacePlugins(this.#config.collectors, ({ name, loaded_plugin }) => {
        const given = ownOf(collect, name) ?? { marbles: '|' };
        if (given === 'keep') return undefined;
        const { marbles, values, error } = given;
        const texts = [marbles].flat();
        return standInCollector(loaded_plugin, {
          rows:
            typeof marbles === 'string' ? parseMarbleRow(marbles) : texts.map((text) => parseMarbleRow(text)),
          makeEvent: (letter) => {
            const event = toEvent(letterValue(letter, values));
            this.#letters.set(event, letter);
            return event;
          },
          failure: (run) => error ?? failureOf(texts[run] ?? (texts[0] as string)),
          onEnd: () => this.#recorder.ended({ kind: 'collect', name }),
        });
      }),
      processors: replacePlugins(this.#config.processors, ({ name, loaded_plugin }) =>
        tracedProcessor(loaded_plugin, this.#letters, () => this.#promises.add(name)),
      ),
      forwarders: replacePlugins(this.#config.forwarders, ({ name, loaded_plugin }) => {
        const given = ownOf(forward, name) ?? {};
        if (given === 'keep') return undefined;
        return standInForwarder(loaded_plugin, given, {
          handed: (event) => this.#recorder.handed(name, event),
          delivering: (events) => this.#recorder.delivering(name, events),
          cutBack: (count) => this.#recorder.cutBack(name, count),
        });
      }),
    };
  }

  #stages(written: WrittenSections) {
    const { collectors, processors, forwarders } = this.#config;
    const { collect, process = [], delivery } = this.#pipeline;
    const conditions = conditionsOf(this.#pipeline, written.get('pipelines')?.[this.#name]);
    const stage = (kind: StagePlace['kind'], entry: PluginConfig | undefined) => {
      const known = entry as PluginConfig;
      const pluginKind = kind === 'dead_letter' ? 'forward' : kind;
      const own = written.get(SECTIONS[pluginKind])?.[known.name];
      return { place: { kind, name: known.name }, ...shownEntry(known, own) };
    };
    return [
      ...collect.map((name) => stage('collect', collectors[name])),
      ...process.map((name) => stage('process', processors[name])),
      ...forwardersOf(this.#pipeline).map((name) => {
        const when = conditions.get(name);
        const row = stage('forward', forwarders[name]);
        return when === undefined ? row : { ...row, settings: { when, ...row.settings } };
      }),
      ...(delivery.dead_letter === undefined ? [] : [stage('dead_letter', forwarders[delivery.dead_letter])]),
    ];
  }

  /** Where the longest of the collectors ends, one run behind the other. */
  #lastMarble(): number {
    const lengths = Object.values(this.#options.collect ?? {}).map((given) => {
      const rows = given === 'keep' ? [] : [given.marbles].flat().map((text) => parseMarbleRow(text));
      return rows.reduce((length, { entries, end }) => length + (end?.at ?? entries.at(-1)?.at ?? 0), 0);
    });
    return Math.max(0, ...lengths);
  }

  #refusePromises(open: number): void {
    if (open === 0 || this.#promises.size === 0) return;
    const names = [...this.#promises].join(', ');
    throw new MillraceError(
      'MILLRACE_TEST_PROMISE',
      `virtual time does not govern promises, and ${names} returned some that were not done when the test ended; return an Observable or an array, or test it without virtual time`,
    );
  }
}

function failureOf(marbles: string): MillraceError {
  return new MillraceError('MILLRACE_TEST_FAILURE', `the marbles '${marbles}' end with #`);
}

/** What a pipeline that delivers exactly once commits to, for as long as the test runs. */
function memoryStore(): StateStore {
  const table = new StateTable([], { isPending: false, changed: () => {}, commit: () => {} });
  return {
    folder: 'memory',
    of: (pipeline, collector) => table.of(pipeline, collector),
    entries: () => table.entries(),
    forget: (which) => table.forget(which),
    flush: () => {},
    close: () => Promise.resolve(),
  };
}

function marbleTexts({ collect = {} }: TestPipelineOptions): string[] {
  return Object.values(collect).flatMap((given) => (given === 'keep' ? [] : given.marbles));
}

function usedLetters(options: TestPipelineOptions): Set<string> {
  const entries = marbleTexts(options).flatMap((text) => parseMarbleRow(text).entries);
  return new Set(entries.map(({ letter }) => letter));
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
