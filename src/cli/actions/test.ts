import { printable } from '../../sdk/printable.ts';
import { drawText } from '../../testing/draw/draw-text.ts';
import { junitXml } from '../../testing/junit.ts';
import { loadSuites } from '../../testing/yaml/load-suites.ts';
import { runTest } from '../../testing/yaml/run-test.ts';
import { svgNames } from '../../testing/yaml/svg-names.ts';
import type { TestResult } from '../../testing/yaml/test-suite.ts';
import { coloursFor } from '../colours.ts';
import type { TestOptions } from '../commands/test.ts';
import { configFiles } from '../config-files.ts';
import { ExitCode } from '../exit-code.ts';
import { type SelectedTest, selectTests } from '../test-filter.ts';
import { writeResult, writeResults } from '../test-output.ts';
import { failureText, indented, resultLine, totalsLine } from '../test-report.ts';
import { watchTests } from '../test-watch.ts';

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

/** A picture of every run, by file name. Names are those that the tests have without a filter, too. */
async function pictures(
  selected: readonly SelectedTest[],
  results: readonly TestResult[],
  suites: Awaited<ReturnType<typeof loadSuites>>,
): Promise<Map<string, string>> {
  const { drawSvg } = await import('../../testing/draw/draw-svg.ts');
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
