import { printable, printableLines } from '../sdk/printable.ts';
import { timeText } from '../testing/draw/time-text.ts';
import type { LocatedFinding, TestResult } from '../testing/yaml/test-suite.ts';
import type { Colours } from './colours.ts';
import { count, duration } from './format.ts';

const INDENT = '    ';

/** One line of a test: its mark, its name, the virtual time that it covered, and the real time that it took. */
export function resultLine({ name, isPassed, virtualMs, realMs }: TestResult, colours: Colours): string {
  const mark = isPassed ? colours.green('✓') : colours.red('✗');
  const times = `${timeText(virtualMs)} in ${duration(Math.max(1, realMs))}`;
  return `  ${mark} ${printable(name)} ${colours.dim(`(${times})`)}\n`;
}

/** Everything that is wrong with a failed test, each with its place in the file. */
export function failureText({ findings }: Pick<TestResult, 'findings'>): string {
  return findings.map(findingText).join('\n\n');
}

function findingText({ place, path, message, details }: LocatedFinding): string {
  const head = `${place.file}:${place.line}:${place.column}: ${path === '' ? '' : `${path}: `}${message}`;
  const parts = [printable(head), place.excerpt, details].filter((part) => part !== undefined);
  return printableLines(parts.join('\n'));
}

/** Lines moved to the right, below the test that they belong to. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, INDENT);
}

/** `3 passed, 1 failed` */
export function totalsLine(results: readonly TestResult[], colours: Colours): string {
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const failed = results.length - passed;
  const good = `${count(passed)} passed`;
  return failed === 0 ? `${colours.green(good)}\n` : `${good}, ${colours.red(`${count(failed)} failed`)}\n`;
}
