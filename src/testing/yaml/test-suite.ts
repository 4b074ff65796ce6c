import type { ChangeableConfig } from '../../config/load-config.ts';
import type { Place } from '../../config/source.ts';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import type { Path } from '../../sdk/checks/problem.ts';
import type { WrittenSections } from '../../sdk/checks/shown-values.ts';
import type { AnalyticsConfig, RouteCondition } from '../../sdk/config.ts';
import type { Host } from '../../sdk/context.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import type { TestPipelineOptions } from '../test-pipeline.ts';
import type { TestGenerator } from './generate-tests.ts';
import type { Finding } from './received.ts';
import type { Snapshots } from './snapshots.ts';

/** Where something of a test stands. */
interface TestPlace extends Place {
  readonly file: string;
}

/** A test, with the configuration that it is about. */
export interface LoadedTest {
  readonly name: string;
  readonly definition: TestDefinition;
  /** The compiled conditions of the definition, by their source. */
  readonly conditions: ReadonlyMap<string, RouteCondition>;
  /** Makes the runs of a test with `any`. */
  readonly generator?: TestGenerator;
  /** Which order of what happens at the same time is tried. Default: the usual one. */
  readonly explore?: TestPipelineOptions['explore'];
  readonly config: AnalyticsConfig;
  /** What is shown of the configuration: references in the place of environment variables. */
  readonly written: WrittenSections;
  readonly host: Host;
  readonly snapshots: Snapshots;
  /** Makes changed copies of the configuration. Tests with the same environment variables share it. */
  readonly source: ChangeableConfig;
  /** A text with references in the place of the values of environment variables. */
  withoutVariables(text: string): string;
  /** Where a part of the test stands; the path begins inside the test. */
  place(path: Path): TestPlace;
}

/** The tests of one file. */
export interface TestSuite {
  readonly file: string;
  /** All files that the tests depend on, itself included. */
  readonly files: readonly string[];
  readonly tests: readonly LoadedTest[];
  readonly snapshots: Snapshots;
}

/** An assertion that does not hold, with its place; the path is that in the file. */
export interface LocatedFinding extends Omit<Finding, 'path'> {
  readonly path: string;
  readonly place: TestPlace;
}

/** What was tried of a test with `any`. */
interface GeneratedRuns {
  readonly runs: number;
  readonly seed: number;
  /** The smallest test that fails, ready to be pasted, and in how many steps it was found. */
  readonly smallest?: { readonly yaml: string; readonly shrinks: number };
}

/** What became of a test. Times are milliseconds. */
export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly place: TestPlace;
  readonly isPassed: boolean;
  readonly findings: readonly LocatedFinding[];
  /** Undefined if the test could not be run; then the only finding says why. */
  readonly run: PipelineRun | undefined;
  /** The run to draw, if it is not `run`: of a test with `crash_everywhere` that passed, one with a crash. */
  readonly crashed?: PipelineRun | undefined;
  /** The runs of its pipelines one by one, which `run` joins. */
  readonly runs: readonly PipelineRun[];
  /** Of a test with `any`: `findings` and `run` are those of one of its runs, the smallest that fails if one does. */
  readonly generated?: GeneratedRuns;
  readonly virtualMs: number;
  readonly realMs: number;
}
