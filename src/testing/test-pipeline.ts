import { parseConfig } from '../config/parse-config.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import type { WrittenSections } from '../sdk/checks/shown-values.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { checkTestOptions } from './check-test-options.ts';
import type { Duration } from './duration.ts';
import type { Crash, FileStep } from './file-steps.ts';
import type { MarbleValues } from './marbles.ts';
import type { PipelineRun } from './pipeline-run.ts';
import { PipelineTest } from './pipeline-test.ts';
import type { TimedValue } from './stand-in-collector.ts';
import type { ForwarderBehaviour } from './stand-in-forwarder.ts';
import { isParsed } from './stand-ins.ts';
import { InstantRecorder, SteppedRun } from './stepped-run.ts';
import { runOnFiles } from './test-process.ts';

/** What a collector of a test emits. */
export interface CollectorMarbles {
  /**
   * One marble string, or one for each run of a pipeline that restarts. With a single one, a collector with checkpoints
   * continues after what was acknowledged, and another one starts it again.
   */
  readonly marbles: string | readonly string[];
  /** What the letters stand for. */
  readonly values?: MarbleValues;
  /** The error of `#`. Default: an error that says so. */
  readonly error?: unknown;
}

/** What a collector of a test emits, as a list: for more events than marbles can show, and for generated ones. */
export interface CollectorEvents {
  /** In the order of their times. */
  readonly events: readonly TimedValue[];
  /** When the collector completes: virtual milliseconds. Default: with its last event. Infinity: never. */
  readonly endsAt?: number;
  /** When the collector fails, in the place of an end: virtual milliseconds. */
  readonly failsAt?: number;
}

/** What a collector of a test emits in each run of a pipeline that restarts. Times count from the start of the run. */
export interface CollectorRuns {
  readonly runs: readonly CollectorEvents[];
}

export interface TestPipelineOptions {
  /** The pipeline to run. Default: the only one. */
  readonly pipeline?: string;
  /** What collectors emit; `keep` runs the real one. One that is not named completes at once. */
  readonly collect?: Readonly<Record<string, CollectorMarbles | CollectorEvents | CollectorRuns | 'keep'>>;
  /** How forwarders behave; `keep` runs the real one. One that is not named takes everything at once. */
  readonly forward?: Readonly<Record<string, ForwarderBehaviour | 'keep'>>;
  /** Makes random delays and backoffs the same in every run. Default: 1. */
  readonly seed?: number;
  /** When the pipeline is stopped, for one that does not end by itself. */
  readonly until?: Duration;
  /** How long a stop waits for events in flight; then they are given up. Default: 10 s. */
  readonly drainTimeout?: Duration;
  /** Whether the run ends when all collectors have; otherwise `restart: true` starts it again. Default: true. */
  readonly once?: boolean;
  /** Numbers in [0, 1) for every random choice, in the place of those of `seed`. */
  readonly random?: () => number;
  /**
   * Lets what collectors emit, and the ends of calls that take time, come later by a random time below `within`. The
   * default, a ten thousandth of a millisecond, only changes the order of what happens at the same time.
   */
  readonly explore?: { readonly seed: number; readonly within?: Duration };
  /** The host that kept collectors use. Default: one without events and functions. */
  readonly host?: Host;
  /**
   * What happens to virtual files. Collectors and forwarders that read and write files are then the real ones, unless
   * `collect` or `forward` names them; the pipeline follows files until a minute after the last step, or until `until`.
   */
  readonly files?: readonly FileStep[];
  /** With `files`: crashes the process right after so many calls that changed the disk, and starts it again 1 s later. */
  readonly crashAfter?: CrashPoint;
}

/** Where a process crashes. */
export interface CrashPoint {
  /** The number of the call, from 1: see {@link PipelineRun.disk}. */
  readonly call: number;
  /** Default: `process`. */
  readonly kind?: Crash;
}

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
 * run.forwarded('archive').map(({ data }) => data.line); // ['one', 'pin <:PIN:>']
 */
export async function testPipeline(
  config: AnalyticsConfig | object,
  options: TestPipelineOptions = {},
): Promise<PipelineRun> {
  const parsed = await checked(config, options);
  if (options.files === undefined) return runPipeline(parsed, options);
  const [run] = await runPipelinesOnFiles(parsed, [options]);
  return run as PipelineRun;
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
  const parsed = await checked(config, options);
  if (options.files === undefined) return runSteps(parsed, options);
  const recorder = new InstantRecorder();
  const [run] = await runOnFiles([new PipelineTest(parsed, options, new Map(), recorder)], options);
  return new SteppedRun(run as PipelineRun, recorder.instants);
}

async function checked(
  config: AnalyticsConfig | object,
  options: TestPipelineOptions,
): Promise<AnalyticsConfig> {
  checkTestOptions(options);
  return isMapping(config) && isParsed(config) ? config : parseConfig(config);
}

/** {@link stepPipeline}, for a configuration that was loaded. */
export function runSteps(
  config: AnalyticsConfig,
  options: TestPipelineOptions,
  written: WrittenSections = new Map(),
): SteppedRun {
  const recorder = new InstantRecorder();
  const run = new PipelineTest(config, options, written, recorder).run();
  return new SteppedRun(run, recorder.instants);
}

/**
 * {@link testPipeline}, for a configuration of which `written` says what came from the environment: that is not drawn.
 *
 * @param longest milliseconds of real time after which the run is given up. Default: never.
 */
export function runPipeline(
  config: AnalyticsConfig,
  options: TestPipelineOptions,
  written: WrittenSections = new Map(),
  longest?: number,
): PipelineRun {
  return new PipelineTest(config, options, written).run(longest);
}

/**
 * {@link runPipeline} with the option `files`, for one pipeline or for several in one process: `files`, `once`, `until` and
 * `crashAfter` are those of the first one.
 */
export function runPipelinesOnFiles(
  config: AnalyticsConfig,
  pipelines: readonly TestPipelineOptions[],
  written: WrittenSections = new Map(),
  longest?: number,
): Promise<PipelineRun[]> {
  const tests = pipelines.map((options) => new PipelineTest(config, options, written));
  return runOnFiles(tests, pipelines[0] ?? {}, longest);
}
