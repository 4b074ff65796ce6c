import { readFileSync } from 'node:fs';
import type { ExampleResult, FailedExample } from '../../plugins/pack-tests/pack-examples.ts';
import {
  type LineWithoutSecrets,
  type PackTestResult,
  type RuleFigures,
  testPack,
} from '../../plugins/pack-tests/test-pack.ts';
import { DEFAULT_PACKS } from '../../plugins/packs/load-packs.ts';
import { printable, truncate } from '../sdk/printable.ts';
import type { PacksOptions } from './commands.ts';
import { ExitCode, UsageError } from './errors.ts';
import { count, counted, table } from './format.ts';
import { knownPacks } from './packs.ts';
import { type Colours, coloursFor } from './terminal.ts';

/** Forms of commands are long names. */
const LONGEST_TITLE = 48;
/** Lines of a file that are tried. */
const MOST_LINES = 200_000;

/** `millrace packs --test PACK`. 1 if an example is not as it should be. */
export function testPacks(written: string, { ordinary, json = false }: PacksOptions): number {
  const known = knownPacks([...new Set([...DEFAULT_PACKS, written])]);
  const base = known.filter((pack) => typeof pack === 'string' && DEFAULT_PACKS.includes(pack));
  const outside = known.filter((pack) => typeof pack !== 'string');
  const tested = outside.length > 0 ? outside : [written];
  const lines = ordinary === undefined ? undefined : linesOf(ordinary);
  const results = tested.map((pack) =>
    testPack({ pack, base: typeof pack === 'string' ? [pack] : base, ordinary: lines }),
  );
  process.stdout.write(json ? jsonText(results) : results.map((one) => textOf(one, ordinary)).join('\n'));
  return results.some(hasFailed) ? ExitCode.failed : ExitCode.ok;
}

const hasFailed = ({ examples }: PackTestResult) => examples.some(({ failed }) => failed.length > 0);

/** Lines of a file, of which nothing but the places is shown. */
function linesOf(file: string): LineWithoutSecrets[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `cannot read ${printable(file)}: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
    );
  }
  return text
    .split(/\r?\n/)
    .slice(0, MOST_LINES)
    .flatMap((line, index) => (line === '' ? [] : [{ text: line, kind: `${printable(file)}:${index + 1}` }]));
}

function jsonText(results: readonly PackTestResult[]): string {
  const packs = results.map(({ examples, speed, ...result }) => ({
    ...result,
    passed: !examples.some(({ failed }) => failed.length > 0),
    examples,
    altered_per_10000: perTenThousand(result.altered, result.lines),
    megabytes_per_second: speed,
  }));
  return `${JSON.stringify({ packs }, undefined, 2)}\n`;
}

const perTenThousand = (altered: number, lines: number) =>
  lines === 0 ? 0 : Math.round((altered / lines) * 100_000) / 10;

function textOf(result: PackTestResult, ordinary: string | undefined): string {
  const colours = coloursFor(process.stdout);
  const { pack, confidence, examples, lines, altered, rules, speed } = result;
  const figures = new Map(rules.map((one) => [one.rule, one]));
  const rows = examples.map((one) => [
    truncate(titleOf(one, pack), LONGEST_TITLE),
    examplesText(one),
    ...(one.kind === 'rule' ? figuresText(figures.get(one.name), lines) : []),
  ]);
  const texts = table(rows).map((row, index) => {
    const one = examples[index] as ExampleResult;
    const isRight = one.failed.length === 0;
    const mark = isRight ? colours.green('✓') : colours.red('✗');
    const failures = one.failed.map((failure) => failureText(failure, colours));
    return `  ${mark} ${row}\n${failures.join('')}`;
  });
  const failed = examples.filter((one) => one.failed.length > 0).length;
  const what = ordinary === undefined ? 'ordinary lines' : `lines of ${printable(ordinary)}`;
  const alteredText =
    altered === 0
      ? `none of ${count(lines)} ${what} altered`
      : `${count(altered)} of ${count(lines)} ${what} altered, ${perTenThousand(altered, lines)} per 10,000`;
  const verdict =
    failed === 0
      ? colours.green(`all ${count(examples.length)} passed`)
      : colours.red(`${count(failed)} of ${count(examples.length)} failed`);
  return [
    `${colours.bold(pack)}\n`,
    ...texts,
    '\n',
    `${alteredText}${confidence === 'low' ? ', with `confidence: low`' : ''}\n`,
    ...rules.filter((one) => one.altered > 0).map((one) => alteredLines(one, ordinary, colours)),
    `${speedText(speed)}\n`,
    `${verdict}\n`,
  ].join('');
}

const TITLES = { rule: '', name: 'name ', notation: 'notation ', guard: 'guard ', word: '' } as const;

const titleOf = ({ kind, name }: ExampleResult, pack: string) =>
  kind === 'rule' ? name.slice(pack.length + 1) : `${TITLES[kind]}${name}`;

function examplesText({ passed, failed }: ExampleResult): string {
  if (failed.length === 0) return counted(passed, 'example');
  return `${counted(failed.length, 'example')} failed`;
}

function figuresText(figures: RuleFigures | undefined, lines: number): string[] {
  const { altered = 0, microseconds } = figures ?? {};
  const cost = microseconds === undefined ? [] : [`${microseconds.toFixed(2)} µs a line`];
  return [altered === 0 ? 'alters nothing' : `alters ${perTenThousand(altered, lines)} per 10,000`, ...cost];
}

function failureText({ example, line, expected, masked }: FailedExample, colours: Colours): string {
  const shown = (text: string) => printable(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'));
  const rows = [
    ['example', shown(example)],
    ...(line === example ? [] : [['such as', shown(line)]]),
    ['expected', shown(expected)],
    ['became', masked === line && expected !== line ? 'the same: nothing was masked' : shown(masked)],
  ];
  return rows.map(([name = '', text]) => `      ${colours.dim(name.padEnd(8))} ${text}\n`).join('');
}

/** Kinds of the lines that a rule altered; of lines of a file only where they are. */
function alteredLines(
  { rule, altered, kinds }: RuleFigures,
  ordinary: string | undefined,
  colours: Colours,
): string {
  const rows = kinds.map(({ kind, lines, template }) =>
    ordinary === undefined
      ? `      ${kind}, ${counted(lines, 'line')}${template === undefined ? '' : `: ${colours.dim(printable(template))}`}\n`
      : `      ${kind}\n`,
  );
  const shown = ordinary === undefined ? rows.length : kinds.reduce((sum, { lines }) => sum + lines, 0);
  const more = ordinary !== undefined && altered > shown ? `      and ${count(altered - shown)} more\n` : '';
  return `    by ${rule}: ${counted(altered, 'line')}\n${rows.join('')}${more}`;
}

function speedText({ with: speed, without }: PackTestResult['speed']): string {
  const megabytes = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} MB/s`;
  return without === undefined
    ? `${megabytes(speed)} by one processor`
    : `${megabytes(speed)} by one processor with the default packs; ${megabytes(without)} without this pack`;
}
