import type { Duration } from '../duration.ts';
import { runTest } from '../yaml/run-test.ts';
import type { LoadedTest, TestResult } from '../yaml/test-suite.ts';

/** A test that passes in one order of what happens at the same time, and fails in another. */
export interface OrderDependence {
  /** Repeats the run that failed. */
  readonly seed: number;
  /** The run that passed. */
  readonly usual: TestResult;
  readonly failed: TestResult;
}

/**
 * Runs tests again and again, each time with another order of what happens at the same time at different entries, and
 * tells of each test the first run that fails. The order of two such events is not guaranteed in a real run.
 *
 * @param passed the results of the tests in the usual order
 * @param within how much later things may happen. Default: only the order changes.
 * @param longest milliseconds of real time for a run: one that takes longer fails. Default: any time.
 */
export async function exploreOrders(
  tests: readonly LoadedTest[],
  passed: readonly TestResult[],
  seeds: readonly number[],
  within?: Duration,
  longest?: number,
): Promise<OrderDependence[]> {
  const found: OrderDependence[] = [];
  for (const [index, test] of tests.entries()) {
    const usual = passed[index] as TestResult;
    if (!usual.isPassed) continue;
    for (const seed of seeds) {
      const explore = { seed, ...(within === undefined ? {} : { within }) };
      const failed = await runTest({ ...test, explore }, usual.file, longest);
      if (failed.isPassed) continue;
      found.push({ seed, usual, failed });
      break;
    }
  }
  return found;
}
