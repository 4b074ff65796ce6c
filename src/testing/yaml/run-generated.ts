import { asyncScheduler } from 'rxjs';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import type { TestGenerator } from './generate-tests.ts';
import { testYaml } from './generated-input.ts';
import type { LoadedTest, LocatedFinding, TestResult } from './test-suite.ts';

/** Runs that are kept for what looks at all of them, such as coverage. */
const MOST_KEPT_RUNS = 100;
/** Milliseconds of real time. Then the smallest test so far has to do. */
const MOST_SHRINKING_MS = 20_000;

/**
 * Runs a test with `any`: one generated test after the other until one fails, and then smaller ones. The result is that of
 * the smallest one that fails, or of the last one.
 *
 * In some of the runs there may be no event that an assertion could look at. It fails if that was so in all of them.
 */
export async function runGenerated(
  test: LoadedTest,
  generator: TestGenerator,
  runOnce: (definition: TestDefinition) => Promise<TestResult>,
): Promise<TestResult> {
  const start = asyncScheduler.now();
  const kept: PipelineRun[] = [];
  const vacuous = new Map<string, { readonly finding: LocatedFinding; runs: number }>();
  let last: TestResult | undefined;
  let tried = 0;
  let failedAt: number | undefined;
  const holds = async (definition: TestDefinition) => {
    if (failedAt !== undefined && asyncScheduler.now() - failedAt > MOST_SHRINKING_MS) return true;
    const result = await runOnce(definition);
    tried++;
    if (kept.length < MOST_KEPT_RUNS) kept.push(...result.runs);
    const wrong = result.findings.filter(({ isVacuous }) => isVacuous !== true);
    for (const finding of result.findings) {
      const before = vacuous.get(finding.path);
      if (finding.isVacuous && before === undefined) vacuous.set(finding.path, { finding, runs: 1 });
      else if (finding.isVacuous && before !== undefined) before.runs++;
    }
    last = { ...result, findings: wrong, isPassed: wrong.length === 0 };
    if (!last.isPassed) failedAt ??= asyncScheduler.now();
    return last.isPassed;
  };
  const { runs, failed } = await generator.check(holds);
  const neverSeen = [...vacuous.values()].filter((one) => one.runs === tried).map(({ finding }) => finding);
  const { seed } = generator;
  if (failed === undefined) {
    return {
      ...(last as TestResult),
      isPassed: neverSeen.length === 0,
      findings: neverSeen,
      runs: kept,
      generated: { runs, seed },
      realMs: asyncScheduler.now() - start,
    };
  }
  const { definition, shrinks } = failed;
  failedAt = undefined;
  await holds(definition);
  const yaml = test.withoutVariables(testYaml(`${test.name}, smallest`, withoutAny(definition)));
  return {
    ...(last as TestResult),
    generated: { runs, seed, smallest: { yaml, shrinks } },
    realMs: asyncScheduler.now() - start,
  };
}

function withoutAny({ any: _, ...definition }: TestDefinition): TestDefinition {
  return definition;
}
