import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolderSync, OUTPUT_FLAGS } from '../../operators/internal-files.ts';
import { expressionIn } from '../config/tests/values.ts';
import { nameListing } from '../sdk/checks/describe.ts';
import { nearest } from '../sdk/nearest.ts';
import { printable } from '../sdk/printable.ts';
import type { Duration } from '../testing/duration.ts';
import { coverageOf } from '../testing/gaps/coverage.ts';
import { exploreOrders } from '../testing/gaps/explore-orders.ts';
import { runMutants } from '../testing/gaps/run-mutants.ts';
import { junitXml } from '../testing/yaml/junit.ts';
import { loadSuites } from '../testing/yaml/load-suites.ts';
import { runTest } from '../testing/yaml/run-test.ts';
import type { LoadedTest, TestResult, TestSuite } from '../testing/yaml/test-suite.ts';
import type { TestOptions } from './commands.ts';
import { configFiles } from './config-files.ts';
import { ExitCode, UsageError } from './errors.ts';
import { failureText, hasGaps, type TestGaps, testReport } from './test-report.ts';
import { watchTests } from './test-watch.ts';

/** `millrace test FILE…`: runs the tests, reports them as asked for, and says what they leave out. */
export async function test(args: readonly string[], options: TestOptions): Promise<number> {
  if (options.watch === true) return watchTests(args, options);
  process.on('exit', refuseEarlyExit);
  const output = options.reporter === 'json' ? keepForResults() : undefined;
  try {
    return await runTests(args, options, output?.print);
  } finally {
    output?.end();
    process.off('exit', refuseEarlyExit);
  }
}

/** A plugin that ends the process must not look like tests that passed. */
function refuseEarlyExit(code: number): void {
  if (code !== ExitCode.ok) return;
  process.stderr.write(
    'millrace: the process was ended before all tests had run, by a plugin that calls process.exit\n',
  );
  process.exitCode = ExitCode.failed;
}

/** Standard output has the results alone: what plugins print there goes to standard error, until `end` is called. */
function keepForResults(): { print(text: string): void; end(): void } {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr) as typeof write;
  return {
    print: (text) => write.call(stdout, text),
    end: () => {
      stdout.write = write;
    },
  };
}

async function runTests(
  args: readonly string[],
  options: TestOptions,
  print?: (text: string) => void,
): Promise<number> {
  const files = await configFiles(args);
  const suites = await loadSuites(files, process.env, {
    update: options.update === true,
    seed: options.seed,
    runs: options.runs,
  });
  const selected = selectTests(suites, options.filter, files);
  const report = testReport(options.reporter, options.text === true, print);
  const results: TestResult[] = [];
  const longest = options.timeout * 1000;
  for (const { suite, test } of selected) {
    const result = await runTest(test, suite.file, longest);
    report.test(result);
    results.push(result);
  }
  if (options.update === true) {
    for (const { snapshots, file } of suites) {
      const hasRun = results.every((result) => result.file !== file || result.run !== undefined);
      await snapshots.save(hasRun && options.filter === undefined);
    }
  }
  const isPassed = results.every((result) => result.isPassed);
  const tests = selected.map(({ test }) => test);
  const gaps: TestGaps = {};
  if (options.coverage === true) gaps.coverage = coverageOf(tests, results);
  // With a test that fails, every mutant would seem to be noticed.
  if (options.mutate === true && isPassed) {
    gaps.mutation = await runMutants(tests, results, options.timeLimit * 1000, longest);
  }
  const seeds =
    options.exploreSeed === undefined
      ? Array.from({ length: options.explore ?? 0 }, (_, index) => index + 1)
      : [options.exploreSeed];
  if (seeds.length > 0) {
    gaps.orders = {
      tried: seeds.length,
      found: await exploreOrders(tests, results, seeds, options.jitter as Duration | undefined, longest),
    };
  }
  report.end(results, gaps);
  if (options.junit !== undefined) {
    writeResult('--junit', options.junit, junitXml(results, failureText));
  }
  if (options.svg !== undefined) {
    writeResults('--svg', options.svg, await pictures(selected, results, suites));
  }
  return isPassed && !hasGaps(gaps) ? ExitCode.ok : ExitCode.failed;
}

/** A picture of every run, by file name. A test has the same file name with and without a filter. */
async function pictures(
  selected: readonly SelectedTest[],
  results: readonly TestResult[],
  suites: Awaited<ReturnType<typeof loadSuites>>,
): Promise<Map<string, string>> {
  const { drawSvg } = await import('../testing/draw/draw-svg.ts');
  const all = suites.flatMap(({ file, tests }) => tests.map((test) => ({ file, name: test.name, test })));
  const names = svgNames(all);
  const files = new Map<string, string>();
  for (const [index, { test }] of selected.entries()) {
    const { run, crashed = run, name } = results[index] as TestResult;
    const file = names[all.findIndex((one) => one.test === test)] as string;
    if (crashed !== undefined) files.set(file, await drawSvg(crashed.trace, { title: name }));
  }
  return files;
}

const SHOWN_NAMES = 10;

/** A test to run, and its suite. */
interface SelectedTest {
  readonly suite: TestSuite;
  readonly test: LoadedTest;
}

/**
 * The tests whose name contains the filter, or matches it if it is written `/…/`; all without a filter.
 *
 * @throws UsageError if there are none, because a command that tests nothing must not pass
 */
function selectTests(
  suites: readonly TestSuite[],
  filter: string | undefined,
  files: readonly string[],
): SelectedTest[] {
  const all = suites.flatMap((suite) => suite.tests.map((test) => ({ suite, test })));
  if (all.length === 0) {
    throw new UsageError(
      `no tests found: ${printable(files.join(', '))} ${files.length === 1 ? 'has' : 'have'} no section \`tests\`, ` +
        'and no *.test.yaml beside it has any. docs/testing.md shows how to write one.',
    );
  }
  if (filter === undefined) return all;
  const isMeant = matcherOf(filter);
  const selected = all.filter(({ test }) => isMeant(test.name));
  if (selected.length > 0) return selected;
  const names = [...new Set(all.map(({ test }) => test.name))];
  const near = nearest(filter, names);
  const more = names.length > SHOWN_NAMES ? `, and ${names.length - SHOWN_NAMES} more` : '';
  const hint =
    near === undefined
      ? `There are ${nameListing(names.slice(0, SHOWN_NAMES))}${more}.`
      : `Did you mean \`${printable(near)}\`?`;
  throw new UsageError(`--filter ${printable(filter)}: no test has such a name. ${hint}`);
}

function matcherOf(filter: string): (name: string) => boolean {
  try {
    const expression = expressionIn(filter);
    return expression === undefined ? (name) => name.includes(filter) : (name) => expression.test(name);
  } catch (error) {
    throw new UsageError(`--filter ${filter}: not a regular expression: ${(error as Error).message}`);
  }
}

const { O_WRONLY, O_CREAT, O_TRUNC } = fs.constants;
const REPLACE = O_WRONLY | O_CREAT | O_TRUNC;

/** Writes a file that an option names, with the folders above it. All may read it: a CI server is often another user. */
function writeResult(option: string, file: string, text: string, flags = REPLACE): void {
  try {
    makeFolderSync(dirname(file), 0o755);
    const descriptor = fs.openSync(file, flags, 0o644);
    try {
      fs.writeFileSync(descriptor, text);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Writes files into a folder that an option names. Another user who may write there could foresee their names. */
function writeResults(option: string, folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) writeResult(option, join(folder, name), text, REPLACE | OUTPUT_FLAGS);
}

const LONGEST = 80;

/** What a test is known by: its file, as given, and its name. */
interface TestId {
  readonly file: string;
  readonly name: string;
}

/**
 * A file name for each test: `web-keys-are-masked.svg`. Letters, digits and dashes only; where two tests would
 * get the same, both end in a hash of their file and name, so that a name depends on nothing but the set of tests.
 */
export function svgNames(tests: readonly TestId[]): string[] {
  const slugs = tests.map(({ file, name }) => {
    const config = basename(file).replace(/(?:\.test)?\.ya?ml$/, '');
    return slug(`${config} ${name}`);
  });
  return slugs.map((text, index) => {
    const isShared = slugs.indexOf(text) !== slugs.lastIndexOf(text);
    return `${text}${isShared ? `-${hash(tests[index] as TestId)}` : ''}.svg`;
  });
}

function slug(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? ['test'];
  return words.join('-').slice(0, LONGEST).replace(/-$/, '');
}

function hash({ file, name }: TestId): string {
  return createHash('sha256').update(`${file}\n${name}`).digest('hex').slice(0, 8);
}
