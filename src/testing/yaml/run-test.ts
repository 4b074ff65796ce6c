import { asyncScheduler } from 'rxjs';
import { formatPath } from '../../checks/problem.ts';
import { safeReason } from '../../sdk/errors.ts';
import type { TestDefinition } from '../../sdk/tests-config.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { runPipeline, type TestPipelineOptions } from '../test-pipeline.ts';
import { checkExpectations } from './check-expectations.ts';
import { failureFindings } from './failure-findings.ts';
import { collectorMarbles } from './letters.ts';
import type { Finding } from './received.ts';
import type { LoadedTest, TestResult } from './test-suite.ts';

/** Runs one test in virtual time. It never throws: a test that cannot be run has failed, and says why. */
export function runTest(test: LoadedTest, file: string): TestResult {
  const { name, definition } = test;
  const start = asyncScheduler.now();
  let run: PipelineRun | undefined;
  let findings: readonly Finding[];
  try {
    run = runPipeline(test.config, pipelineOptions(test), test.written);
    const wrong = [...checkExpectations(definition, run), ...checkKept(definition, run)];
    const failures = failureFindings(run).map(({ message, ...finding }) => ({
      ...finding,
      message: test.withoutVariables(message),
    }));
    findings = wrong.length === 0 ? [] : [...wrong, ...failures];
  } catch (error) {
    findings = [{ path: [], message: `the test could not be run: ${safeReason(error)}` }];
  }
  return {
    file,
    name,
    place: test.place([]),
    isPassed: findings.length === 0,
    findings: findings.map(({ path, ...finding }) => {
      const inner = path.length === 0 ? [] : ['expect', ...path];
      return { ...finding, path: formatPath(inner), place: test.place(inner) };
    }),
    run,
    virtualMs: run === undefined ? 0 : coveredTime(run),
    realMs: asyncScheduler.now() - start,
  };
}

function pipelineOptions({ definition, host }: LoadedTest): TestPipelineOptions {
  const { pipeline, collect, forward = {}, seed, until, once } = definition;
  return {
    collect: collectorMarbles(collect),
    forward: Object.fromEntries(
      Object.entries(forward).map(([name, given]) => [name, given === 'keep' ? given : defined(given)]),
    ),
    host,
    ...defined({ pipeline, seed, until, once }),
  };
}

/** Without the keys that have no value. */
function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A real collector or forwarder that waits for the real world never ends in virtual time. */
function checkKept({ collect, forward = {} }: TestDefinition, run: PipelineRun): Finding[] {
  const kept = [...Object.entries(collect), ...Object.entries(forward)].flatMap(([name, given]) =>
    given === 'keep' ? [name] : [],
  );
  if (kept.length === 0 || run.endedAt !== undefined) return [];
  const message = `the run did not end, and \`keep\` runs the real ${kept.join(' and ')}: virtual time governs neither files nor networks nor functions of the host. Give marbles, or end the run with \`until\``;
  return [{ path: [], message }];
}

/** From the start to the end of the run, or to the last that was seen of one that did not end. */
function coveredTime({ trace, endedAt }: PipelineRun): number {
  if (endedAt !== undefined) return endedAt;
  return Math.max(0, ...trace.rows.flatMap(({ marks }) => marks.map(({ at }) => at)));
}
