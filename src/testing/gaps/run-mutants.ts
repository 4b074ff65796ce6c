import { isDeepStrictEqual } from 'node:util';
import { asyncScheduler } from 'rxjs';
import type { ChangeableConfig } from '../../config/load-config.ts';
import { formatPath, valueAt } from '../../sdk/checks/problem.ts';
import { isForwarder } from '../trace.ts';
import { pipelinesOf, runTest } from '../yaml/run-test.ts';
import type { LoadedTest, TestResult } from '../yaml/test-suite.ts';
import { type Change, changesOf, withChange } from './change-config.ts';

/** A changed copy of a configuration, and whether a test fails with it. */
interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What is changed: `processors.secrets.rules.KEY`. */
  readonly path: string;
  /** How: `removed`, `5 is 6`. */
  readonly what: string;
  /** The test that noticed it; undefined if none did. */
  readonly noticedBy: string | undefined;
}

/** What became of all mutants. */
export interface MutationReport {
  readonly mutants: readonly Mutant[];
  /** Mutants that were left out because the time was over. */
  readonly untried: number;
  /** Milliseconds of real time. */
  readonly realMs: number;
}

/** A mutant may take so many times as long as the test did, and this much longer. */
const SLOWER = 10;
const LONGER_MS = 2000;

/** What a mutant is in each of the configurations that have it, with the tests that could notice it. */
type Variants = Map<ChangeableConfig, { readonly change: Change; readonly tests: LoadedTest[] }>;

/**
 * Runs the tests of configurations with one small change after the other. A change that no test fails with was not
 * noticed. A run that goes on for much longer than that of the unchanged configuration counts as a failure.
 *
 * @param passed the results of the tests, all of which passed
 * @param longest milliseconds of real time for all mutants together
 * @param longestRun milliseconds of real time for a run. Default: any time.
 */
export async function runMutants(
  tests: readonly LoadedTest[],
  passed: readonly TestResult[],
  longest: number,
  longestRun = Number.POSITIVE_INFINITY,
): Promise<MutationReport> {
  const start = asyncScheduler.now();
  const usual = new Map(tests.map((test, index) => [test, passed[index] as TestResult]));
  const noticed = new Map<LoadedTest, number>();
  const all = variantsOf(tests);
  const mutants: Mutant[] = [];
  let untried = 0;
  for (const variants of all) {
    if (asyncScheduler.now() - start > longest) untried++;
    else {
      const mutant = await tryMutant(variants, usual, noticed, longestRun);
      if (mutant !== undefined) mutants.push(mutant);
    }
  }
  return { mutants, untried, realMs: asyncScheduler.now() - start };
}

/** Tests that differ in environment variables have copies of a configuration: a mutant is one change in all of them. */
function variantsOf(tests: readonly LoadedTest[]): Variants[] {
  const found = new Map<string, Variants>();
  for (const source of new Set(tests.map((test) => test.source))) {
    const own = tests.filter((test) => test.source === source);
    const tested = [...new Set(own.flatMap(pipelinesOf))];
    for (const change of changesOf(source, tested)) {
      const { file, line, column } = source.place(change.path);
      const key = JSON.stringify([file, line, column, formatPath(change.path), change.what]);
      const variants: Variants = found.get(key) ?? new Map();
      const users = own.filter((test) => pipelinesOf(test).some((name) => change.pipelines.includes(name)));
      found.set(key, variants.set(source, { change, tests: users }));
    }
  }
  return [...found.values()];
}

/** Undefined if the change makes no difference that a test could notice. */
async function tryMutant(
  variants: Variants,
  usual: ReadonlyMap<LoadedTest, TestResult>,
  noticed: Map<LoadedTest, number>,
  longestRun: number,
): Promise<Mutant | undefined> {
  let noticedBy: string | undefined;
  let isDifferent = false;
  for (const [source, { change, tests }] of variants) {
    const config = withChange(source, change);
    if (config === undefined) continue;
    isDifferent ||= change.isReordered !== true;
    // Tests that noticed much are likely to notice more.
    const order = tests.toSorted((a, b) => (noticed.get(b) ?? 0) - (noticed.get(a) ?? 0));
    let failing: LoadedTest | undefined;
    for (const test of order) {
      const before = usual.get(test);
      const longest = Math.min(longestRun, (before?.realMs ?? 0) * SLOWER + LONGER_MS);
      const result = await runTest({ ...test, config }, '', longest);
      if (result.isPassed) {
        isDifferent ||= !isDeepStrictEqual(outputOf(result), before && outputOf(before));
        continue;
      }
      isDifferent = true;
      failing = test;
      break;
    }
    if (failing === undefined) continue;
    noticed.set(failing, (noticed.get(failing) ?? 0) + 1);
    noticedBy = failing.name;
    break;
  }
  const [first] = variants;
  if (first === undefined || !isDifferent) return undefined;
  const [source, { change, tests }] = first;
  const { file, line, column } = source.place(change.path);
  const what = isLiteral(change, source, tests[0]) ? change.what : 'changed';
  return { file, line, column, path: formatPath(change.path), what, noticedBy };
}

/** What all forwarders delivered. Where it is the same, the order of settings means nothing for these events. */
const outputOf = ({ runs }: TestResult) =>
  runs.flatMap(({ trace: { rows } }) =>
    rows
      .filter(({ place }) => isForwarder(place))
      .map(({ marks }) => marks.flatMap((mark) => ('event' in mark ? [[mark.kind, mark.event.data]] : []))),
  );

/** Whether the words of a change quote only what the file says, and not the value of an environment variable. */
function isLiteral({ path, value }: Change, { sections }: ChangeableConfig, test?: LoadedTest): boolean {
  const [section, ...inner] = path as [string, ...(string | number)[]];
  const found = valueAt(sections.get(section), inner);
  return value === undefined || isDeepStrictEqual(found, valueAt(test?.written.get(section), inner));
}
