import { columnsOf } from '../graph/words.ts';
import { printable, printableJson, printableLines } from '../sdk/printable.ts';
import { drawText } from '../testing/draw/draw-text.ts';
import { timeText } from '../testing/draw/value-text.ts';
import type { CoverageItem } from '../testing/gaps/coverage.ts';
import type { OrderDependence } from '../testing/gaps/explore-orders.ts';
import type { MutationReport } from '../testing/gaps/run-mutants.ts';
import type { LocatedFinding, TestResult } from '../testing/yaml/test-suite.ts';
import type { TestOptions } from './commands.ts';
import { count, counted, duration } from './format.ts';
import { type Colours, coloursFor } from './terminal.ts';

/** What tests leave out; undefined for what was not asked for. */
export interface TestGaps {
  coverage?: readonly CoverageItem[];
  mutation?: MutationReport;
  orders?: { readonly tried: number; readonly found: readonly OrderDependence[] };
}

/** Prints the results of tests to standard output. */
interface TestReport {
  /** A test has ended. */
  test(result: TestResult): void;
  /** All have ended. */
  end(results: readonly TestResult[], gaps: TestGaps): void;
}

/** Whether the tests leave out something that they were asked about. */
export function hasGaps({ coverage = [], mutation, orders }: TestGaps): boolean {
  if (orders !== undefined && orders.found.length > 0) return true;
  const isUnnoticed = mutation?.mutants.some(({ noticedBy }) => noticedBy === undefined) ?? false;
  return isUnnoticed || (mutation?.untried ?? 0) > 0 || coverage.some(({ isReached }) => !isReached);
}

/**
 * @param drawsAll whether the run of every test is drawn, not only of those that failed
 * @param printJson takes the JSON document. Default: it goes to standard output.
 */
export function testReport(
  reporter: TestOptions['reporter'],
  drawsAll: boolean,
  printJson: (text: string) => void = (text) => process.stdout.write(text),
): TestReport {
  const text = textReport(drawsAll);
  switch (reporter) {
    case 'text':
      return text;
    case 'github':
      return {
        test: text.test,
        end: (results, gaps) => {
          text.end(results, gaps);
          process.stdout.write(annotations(results, gaps));
        },
      };
    case 'json':
      return {
        test: () => {},
        end: (results, gaps) => printJson(jsonText(results, gaps)),
      };
  }
}

/** Narrower than a wide terminal: what is below a test is indented. */
const INDENT = '    ';

function textReport(drawsAll: boolean): TestReport {
  const colours = coloursFor(process.stdout);
  const isDrawn = ({ isPassed }: TestResult) => !isPassed || drawsAll;
  let before: TestResult | undefined;
  return {
    test: (result) => {
      const isNewFile = before?.file !== result.file;
      if (before !== undefined && (isNewFile || isDrawn(before))) process.stdout.write('\n');
      if (isNewFile) process.stdout.write(`${colours.bold(printable(result.file))}\n`);
      before = result;
      process.stdout.write(resultLine(result, colours));
      for (const assumption of result.run?.assumptions ?? []) {
        process.stdout.write(`${INDENT}${colours.yellow('!')} ${printable(assumption)}\n`);
      }
      if (!result.isPassed) process.stdout.write(`\n${indented(failureText(result))}\n`);
      if (isDrawn(result)) process.stdout.write(`\n${drawing(result)}`);
    },
    end: (results, gaps) => {
      process.stdout.write(gapsText(gaps, colours));
      process.stdout.write(`\n${totalsLine(results, colours)}`);
    },
  };
}

function drawing({ name, run, crashed = run }: TestResult): string {
  if (crashed === undefined) return '';
  const width = (process.stdout.columns ?? 100) - INDENT.length;
  const colours = coloursFor(process.stdout).isColorSupported;
  return `${indented(drawText(crashed.trace, { width, colours, title: name }).trimEnd())}\n`;
}

/** One line of a test: its mark, its name, the virtual time that it covered, and the real time that it took. */
function resultLine(result: TestResult, colours: Colours): string {
  const { name, isPassed, virtualMs, realMs, generated } = result;
  const mark = isPassed ? colours.green('✓') : colours.red('✗');
  const runs =
    generated === undefined ? '' : `${counted(generated.runs, 'run')}, seed ${generated.seed}; the last one `;
  const times = `${runs}${timeText(virtualMs)} in ${duration(Math.max(1, realMs))}`;
  return `  ${mark} ${printable(name)} ${colours.dim(`(${times})`)}\n`;
}

/** Every finding of a failed test, with its place in the file. */
export function failureText({ findings, generated }: Pick<TestResult, 'findings' | 'generated'>): string {
  return [...findings.map(findingText), ...generatedTexts(generated)].join('\n\n');
}

/** The smallest run that fails, as a test. */
function generatedTexts(generated: TestResult['generated']): string[] {
  if (generated?.smallest === undefined) return [];
  const { runs, seed, smallest } = generated;
  const found = `Run ${runs} failed, of seed ${seed}. In ${counted(smallest.shrinks, 'step')}, it was reduced to this test:`;
  return [printableLines(`${found}\n\n${smallest.yaml}`)];
}

function findingText(finding: LocatedFinding): string {
  const { place, details } = finding;
  const head = `${place.file}:${place.line}:${place.column}: ${headline(finding)}`;
  const parts = [printable(head), place.excerpt, details].filter((part) => part !== undefined);
  return printableLines(parts.join('\n'));
}

function headline({ path, message }: LocatedFinding): string {
  return path === '' ? message : `${path}: ${message}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, INDENT);
}

/** `3 passed, 1 failed` */
function totalsLine(results: readonly TestResult[], colours: Colours): string {
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const failed = results.length - passed;
  const good = `${count(passed)} passed`;
  return failed === 0 ? `${colours.green(good)}\n` : `${good}, ${colours.red(`${count(failed)} failed`)}\n`;
}

/** Something that the tests leave out. */
interface Gap {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

function coverageGaps(items: readonly CoverageItem[]): Gap[] {
  return items
    .filter(({ isReached }) => !isReached)
    .map(({ file, line, column, path, gap }) => ({ file, line, column, message: `${path}: ${gap}` }));
}

function mutationGaps({ mutants }: MutationReport): Gap[] {
  return mutants
    .filter(({ noticedBy }) => noticedBy === undefined)
    .map(({ file, line, column, path, what }) => ({
      ...{ file, line, column },
      message: `${path}: no test notices this change: ${what}`,
    }));
}

function gapsText({ coverage, mutation, orders }: TestGaps, colours: Colours): string {
  const parts: string[] = [];
  if (orders !== undefined) parts.push('', ordersText(orders, colours));
  const add = (title: string, isGood: boolean, gaps: readonly Gap[]) => {
    const lines = gaps.map(({ file, line, column, message }) =>
      printable(`  ${file}:${line}:${column}: ${message}`),
    );
    parts.push('', isGood ? colours.green(title) : colours.red(title), ...lines);
  };
  if (coverage !== undefined) {
    const gaps = coverageGaps(coverage);
    const reached = coverage.length - gaps.length;
    add(`coverage: the tests reach ${share(reached, coverage.length)}`, gaps.length === 0, gaps);
  }
  if (mutation !== undefined) {
    const gaps = mutationGaps(mutation);
    const { untried, mutants, realMs } = mutation;
    const title = `mutants: the tests notice ${share(mutants.length - gaps.length, mutants.length)} ${mutants.length === 1 ? 'change' : 'changes'}, in ${duration(Math.max(1, realMs))}`;
    const rest =
      untried === 0 ? '' : `; ${counted(untried, 'change')} not tried: give more time with --time-limit`;
    add(`${title}${rest}`, gaps.length === 0 && untried === 0, gaps);
  }
  return parts.map((line) => `${line}\n`).join('');
}

/** The tests that depend on an order, each with its two runs beside each other. */
function ordersText({ tried, found }: NonNullable<TestGaps['orders']>, colours: Colours): string {
  const seeds = tried === 1 ? 'another order' : `${count(tried)} other orders`;
  if (found.length === 0)
    return colours.green(`orders: all tests pass in ${seeds} of what happens at the same time`);
  const title = `orders: ${counted(found.length, 'test')} ${found.length === 1 ? 'depends' : 'depend'} on the order of what happens at the same time`;
  const texts = found.map(({ seed, usual, failed }) =>
    [
      `  ✗ ${printable(failed.name)}: fails with --explore-seed ${seed}`,
      '',
      indented(failureText(failed)),
      '',
      indented(sideBySide(usual, failed, colours)),
    ].join('\n'),
  );
  return [colours.red(title), ...texts].join('\n');
}

/** Narrower drawings would fold what tells them apart. */
const NARROWEST = 48;

/** Two drawings beside each other, or one below the other where the terminal is narrow. */
function sideBySide(usual: TestResult, failed: TestResult, { isColorSupported }: Colours): string {
  const columns = (process.stdout.columns ?? 120) - INDENT.length;
  const half = Math.floor((columns - 3) / 2);
  const width = half < NARROWEST ? columns : half;
  const lines = ({ run }: TestResult, title: string, isColoured: boolean) =>
    run === undefined
      ? [title]
      : drawText(run.trace, { width, colours: isColoured, title }).trimEnd().split('\n');
  const isWide = half >= NARROWEST;
  const left = lines(usual, 'usual order: passes', isColorSupported && !isWide);
  const right = lines(failed, 'other order: fails', isColorSupported && !isWide);
  if (!isWide) return [...left, '', ...right].join('\n');
  const widest = Math.max(...left.map(columnsOf));
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const text = left[index] ?? '';
    return `${text}${' '.repeat(widest - columnsOf(text))} │ ${right[index] ?? ''}`.trimEnd();
  }).join('\n');
}

function share(part: number, whole: number): string {
  return part === whole && whole !== 1 ? `all ${count(whole)}` : `${count(part)} of ${count(whole)}`;
}

/** Commands that GitHub Actions shows beside the lines of a pull request. */
function annotations(results: readonly TestResult[], { coverage, mutation }: TestGaps): string {
  const line = (level: string, title: string, { file, line: at, column, message }: Gap) => {
    const properties = { file, line: String(at), col: String(column), title };
    const shown = Object.entries(properties).map(([key, value]) => `${key}=${property(value)}`);
    return `::${level} ${shown.join(',')}::${data(message)}\n`;
  };
  const failures = results.flatMap(({ name, findings }) =>
    findings.map((finding) => {
      const details = finding.details === undefined ? '' : `\n${finding.details}`;
      return line('error', name, { ...finding.place, message: `${headline(finding)}${details}` });
    }),
  );
  const assumptions = results.flatMap(({ name, place, run }) =>
    (run?.assumptions ?? []).map((message) => line('warning', name, { ...place, message })),
  );
  const gaps = [
    ...coverageGaps(coverage ?? []).map((gap) => line('warning', 'not covered', gap)),
    ...(mutation === undefined ? [] : mutationGaps(mutation)).map((gap) =>
      line('warning', 'not noticed', gap),
    ),
  ];
  return [...failures, ...assumptions, ...gaps].join('');
}

const data = (text: string) =>
  printableLines(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** All results as one JSON document. Times are milliseconds. */
function jsonText(results: readonly TestResult[], { coverage, mutation, orders }: TestGaps): string {
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const document = {
    passed,
    failed: results.length - passed,
    tests: results.map(({ file, name, place, isPassed, virtualMs, realMs, run, findings, generated }) => ({
      ...{ file, line: place.line, column: place.column, name, passed: isPassed },
      ...{ virtual_ms: virtualMs, real_ms: Math.round(realMs), state: run?.state },
      ...(generated === undefined
        ? {}
        : { runs: generated.runs, seed: generated.seed, smallest: generated.smallest?.yaml }),
      warnings: run?.assumptions ?? [],
      failures: findings.map(({ place: at, path, kind = 'assertion', message, details }) => ({
        ...{ file: at.file, line: at.line, column: at.column, path, kind, message, details },
      })),
    })),
    ...(coverage === undefined
      ? {}
      : {
          coverage: coverage.map(({ isReached, node: _, mark: __, ...item }) => ({
            ...item,
            reached: isReached,
          })),
        }),
    ...(mutation === undefined
      ? {}
      : {
          mutants: mutation.mutants.map(({ noticedBy = null, ...mutant }) => ({
            ...mutant,
            noticed_by: noticedBy,
          })),
          mutants_untried: mutation.untried,
        }),
    ...(orders === undefined
      ? {}
      : {
          orders: orders.found.map(({ seed, failed }) => ({
            ...{ file: failed.file, line: failed.place.line, name: failed.name, seed },
            failures: failed.findings.map(({ path, message }) => ({ path, message })),
          })),
        }),
  };
  return `${printableJson(JSON.stringify(document, null, 2))}\n`;
}
