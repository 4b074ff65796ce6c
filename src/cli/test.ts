import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nameListing } from '../checks/describe.ts';
import { nearest } from '../sdk/nearest.ts';
import { printable, printableLines } from '../sdk/printable.ts';
import { expressionIn } from '../sdk/tests-config.ts';
import { drawText } from '../testing/draw/draw-text.ts';
import { timeText } from '../testing/draw/value-text.ts';
import { junitXml } from '../testing/yaml/junit.ts';
import { loadSuites } from '../testing/yaml/load-suites.ts';
import { runTest } from '../testing/yaml/run-test.ts';
import type { LoadedTest, LocatedFinding, TestResult, TestSuite } from '../testing/yaml/test-suite.ts';
import type { TestOptions } from './commands.ts';
import { configFiles } from './config-files.ts';
import { ExitCode, UsageError } from './errors.ts';
import { count, duration } from './format.ts';
import { type Colours, coloursFor } from './terminal.ts';
import { watchTests } from './test-watch.ts';

/** Narrower than a wide terminal: what is below a test is indented. */
const INDENT_COLUMNS = 4;

/** `millrace test FILE…`: one line for each test on standard output, and all about those that failed. */
export async function test(args: readonly string[], options: TestOptions): Promise<number> {
  if (options.watch === true) return watchTests(args, options);
  const files = await configFiles(args);
  const suites = await loadSuites(files);
  const selected = selectTests(suites, options.filter, files);
  const colours = coloursFor(process.stdout);
  const results: TestResult[] = [];
  const isDrawn = ({ isPassed }: TestResult) => !isPassed || options.text === true;
  for (const { suite, test } of selected) {
    const before = results.at(-1);
    const isNewFile = before?.file !== suite.file;
    if (before !== undefined && (isNewFile || isDrawn(before))) process.stdout.write('\n');
    if (isNewFile) process.stdout.write(`${colours.bold(printable(suite.file))}\n`);
    const result = runTest(test, suite.file);
    results.push(result);
    process.stdout.write(resultLine(result, colours));
    if (!result.isPassed) process.stdout.write(`\n${indented(failureText(result))}\n`);
    if (isDrawn(result)) process.stdout.write(`\n${drawing(result)}`);
  }
  process.stdout.write(`\n${totalsLine(results, colours)}`);
  if (options.junit !== undefined) {
    await writeResult('--junit', options.junit, junitXml(results, failureText));
  }
  if (options.svg !== undefined) {
    await writeResults('--svg', options.svg, await pictures(selected, results, suites));
  }
  return results.every(({ isPassed }) => isPassed) ? ExitCode.ok : ExitCode.failed;
}

function drawing({ name, run }: TestResult): string {
  if (run === undefined) return '';
  const width = (process.stdout.columns ?? 100) - INDENT_COLUMNS;
  const colours = coloursFor(process.stdout).isColorSupported;
  return `${indented(drawText(run.trace, { width, colours, title: name }).trimEnd())}\n`;
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
    const { run, name } = results[index] as TestResult;
    const file = names[all.findIndex((one) => one.test === test)] as string;
    if (run !== undefined) files.set(file, await drawSvg(run.trace, { title: name }));
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

const INDENT = '    ';

/** One line of a test: its mark, its name, the virtual time that it covered, and the real time that it took. */
function resultLine({ name, isPassed, virtualMs, realMs }: TestResult, colours: Colours): string {
  const mark = isPassed ? colours.green('✓') : colours.red('✗');
  const times = `${timeText(virtualMs)} in ${duration(Math.max(1, realMs))}`;
  return `  ${mark} ${printable(name)} ${colours.dim(`(${times})`)}\n`;
}

/** Every finding of a failed test, with its place in the file. */
export function failureText({ findings }: Pick<TestResult, 'findings'>): string {
  return findings.map(findingText).join('\n\n');
}

function findingText({ place, path, message, details }: LocatedFinding): string {
  const head = `${place.file}:${place.line}:${place.column}: ${path === '' ? '' : `${path}: `}${message}`;
  const parts = [printable(head), place.excerpt, details].filter((part) => part !== undefined);
  return printableLines(parts.join('\n'));
}

export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, INDENT);
}

/** `3 passed, 1 failed` */
function totalsLine(results: readonly TestResult[], colours: Colours): string {
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const failed = results.length - passed;
  const good = `${count(passed)} passed`;
  return failed === 0 ? `${colours.green(good)}\n` : `${good}, ${colours.red(`${count(failed)} failed`)}\n`;
}

/** Writes a file that an option names, with the folders above it. */
async function writeResult(option: string, file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Writes files into a folder that an option names. */
async function writeResults(
  option: string,
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [name, text] of files) await writeResult(option, join(folder, name), text);
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
