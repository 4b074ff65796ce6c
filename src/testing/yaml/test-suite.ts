import type { Path } from '../../checks/problem.ts';
import type { WrittenSections } from '../../checks/shown-values.ts';
import type { Place } from '../../config/source.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { Host } from '../../sdk/context.ts';
import type { TestDefinition } from '../../sdk/tests-config.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import type { Finding } from './received.ts';

/** Where something of a test stands. */
interface TestPlace extends Place {
  readonly file: string;
}

/** A test, with the configuration that it is about. */
export interface LoadedTest {
  readonly name: string;
  readonly definition: TestDefinition;
  readonly config: AnalyticsConfig;
  /** What is shown of the configuration: references in the place of environment variables. */
  readonly written: WrittenSections;
  readonly host: Host;
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
}

/** An assertion that does not hold, with its place; the path is that in the file. */
export interface LocatedFinding extends Omit<Finding, 'path'> {
  readonly path: string;
  readonly place: TestPlace;
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
  readonly virtualMs: number;
  readonly realMs: number;
}
