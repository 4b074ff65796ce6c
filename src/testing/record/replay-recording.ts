import type { TestDefinition } from '../../config/tests/test-definition.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import { safeReason } from '../../sdk/errors.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { testHost } from '../stand-ins.ts';
import { runPipeline } from '../test-pipeline.ts';
import { pipelineOptions } from '../yaml/run-test.ts';
import type { RecordedTest } from './make-test.ts';

/** A recording that was replayed in virtual time. */
export interface Replay {
  readonly test: RecordedTest;
  /** Undefined if it could not be replayed. */
  readonly run: PipelineRun | undefined;
  /** Why it could not be replayed. */
  readonly problem: string | undefined;
}

/** Long enough for all waits between the runs of a pipeline. */
const DAY = 86_400_000;

/**
 * Runs the test of a recording in virtual time.
 *
 * @param makeTest makes it of the events as they are now
 * @param timeLeft real milliseconds that are left
 */
export function replayRecording(
  config: AnalyticsConfig,
  makeTest: (lastRunStartsAt: number | undefined) => RecordedTest,
  timeLeft: () => number,
): Replay {
  let test = makeTest(undefined);
  try {
    const runs = Math.max(
      ...Object.values(test.collect).map((input) =>
        typeof input === 'object' && 'runs' in input ? input.runs.length : 1,
      ),
    );
    // Waits between two runs are random: the time of the stop follows from the start of the last run.
    if (runs > 1 && test.until !== undefined) {
      const { states } = runRecorded(config, makeTest(DAY), timeLeft);
      const start = states.filter(({ state }) => state === 'running')[runs - 1];
      if (start !== undefined) test = makeTest(start.at);
    }
    return { test, run: runRecorded(config, test, timeLeft), problem: undefined };
  } catch (error) {
    const problem =
      timeLeft() > 0 ? safeReason(error) : 'masking and replaying it takes too long; record fewer events';
    return { test, run: undefined, problem };
  }
}

function runRecorded(config: AnalyticsConfig, test: RecordedTest, timeLeft: () => number): PipelineRun {
  const definition: TestDefinition = { ...test, expect: {} };
  const options = pipelineOptions(
    { definition, config, host: testHost, conditions: new Map() },
    test.pipeline,
    [],
  );
  const run = runPipeline(config, options, new Map(), timeLeft());
  if (timeLeft() === 0) throw new Error('processors have failed, because there was no time left');
  return run;
}
