import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { cpuOfEndedChildren } from '../measure/process-tree.ts';
import { rounds } from '../measure/rounds.ts';
import { runUntil, sizeOf } from '../measure/run-command.ts';
import { median, ratio, spread } from '../measure/statistics.ts';
import { maskingConfig, outputName } from '../peers/masking-config.ts';
import { runCommand } from '../peers/millrace.ts';
import { MILLRACE, withFolder } from '../places.ts';
import { milliseconds, range, times } from './figures.ts';
import { atMost, type Part } from './part.ts';

const NODE = 'node -e 0';
const VERSION = 'millrace --version';
const FIRST_EVENT = 'millrace run, until the first event is in the output file';
const [NODE_MAJOR = 0] = process.versions.node.split('.').map(Number);
/** Times bare Node: since 22, Node keeps what V8 compiled, and itself starts in half the time. */
const MOST_OF_FIRST_EVENT = NODE_MAJOR < 22 ? 5 : 4;

const MEASURES: Readonly<Record<string, () => number | Promise<number>>> = {
  [NODE]: () => timeOf('-e', '0'),
  [VERSION]: () => timeOf(MILLRACE, '--version'),
  [FIRST_EVENT]: () => firstEvent(),
};

/** Looks random, and is the same each time. No secret is written out here, which scanners would find. */
const VALUE = [...'q8Zk2mVx7LpR4tYw9BnC3dFgH5jKs1QwErTy'];
const secret = (length: number, from = 0) => VALUE.slice(from, from + length).join('');

/** Lines that differ in what the packs have to do for them. */
const LINES: Readonly<Record<string, string>> = {
  'a line without a secret': '2026-01-01T00:00:00Z host app[123]: GET /index.html took 12 ms',
  'a line with a password': '2026-01-01T00:00:00Z host app[123]: login user=ada password=h7Gq92kLmzP3 ok',
  'a line with five secrets of different kinds': [
    `2026-01-01T00:00:00Z host app[123]: login user=ada password=${secret(12)}`,
    `ghp_${secret(36)} url=mysql://app:${secret(11, 7)}@db/main {"client_secret":"${secret(20, 3)}"}`,
    `GET https://api.example.com/v1/items?access_token=${secret(24, 5)}`,
  ].join(' '),
};

/** A whole run over one line. */
interface StartRun {
  readonly line: string;
  readonly hasPacks: boolean;
}

const RUNS: readonly StartRun[] = Object.keys(LINES).flatMap((line) =>
  [false, true].map((hasPacks) => ({ line, hasPacks })),
);

/** From the start of the process. */
export const start: Part = {
  name: 'start',
  title: 'start: the command line beside bare Node, and the first event',
  async run({ quick, progress }) {
    const measured = await rounds(Object.keys(MEASURES), quick ? 7 : 25, async (name, round) => {
      progress(`${name}, round ${round + 1}`);
      return (await MEASURES[name]?.()) ?? Number.NaN;
    });
    const of = (name: string) => measured.get(name) ?? [];
    const runs = await rounds(RUNS, quick ? 7 : 15, async ({ line, hasPacks }, round) => {
      progress(`${hasPacks ? 'the default packs' : 'three rules'}, ${line}, round ${round + 1}`);
      return runOver(LINES[line] as string, hasPacks);
    });
    const runsOf = (line: string, hasPacks: boolean, figure: keyof Times): number[] =>
      [...runs].flatMap(([run, each]) =>
        run.line === line && run.hasPacks === hasPacks ? each.map((one) => one[figure]) : [],
      );
    /** The median of what a run took longer than the one beside it. */
    const more = (line: string, figure: keyof Times): number => {
      const without = runsOf(line, false, figure);
      return median(runsOf(line, true, figure).map((ms, round) => ms - (without[round] as number)));
    };
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'time (min–max)'],
          rows: Object.keys(MEASURES).map((name) => [name, range(spread(of(name)), milliseconds)]),
        },
        {
          cells: 'figures',
          columns: ['a run over one line', 'time (min–max)', 'processor time (min–max)'],
          rows: RUNS.map(({ line, hasPacks }) => [
            `${hasPacks ? 'the default packs of `redact`' : 'three rules of `regex_mask`'}, ${line}`,
            range(spread(runsOf(line, hasPacks, 'wallMs')), milliseconds),
            range(spread(runsOf(line, hasPacks, 'cpuMs')), milliseconds),
          ]),
        },
      ],
      targets: [
        atMost('`millrace --version`, against `node -e 0`', ratio(of(VERSION), of(NODE)), 1.5, times),
        atMost(
          'first event out, against `node -e 0`',
          ratio(of(FIRST_EVENT), of(NODE)),
          MOST_OF_FIRST_EVENT,
          times,
        ),
        ...Object.keys(LINES).flatMap((line) => [
          atMost(
            `the packs, longer than three rules, ${line}, time`,
            more(line, 'wallMs'),
            150,
            milliseconds,
          ),
          atMost(
            `the packs, longer than three rules, ${line}, processor time`,
            more(line, 'cpuMs'),
            150,
            milliseconds,
          ),
        ]),
      ],
      notes: [
        'The output file is looked at every 5 ms. Since Node 22.1, what V8 compiled in a start is kept for the next one. ' +
          'Runs over one line end by themselves, and are compared in pairs, of which the median is taken.',
      ],
    };
  },
};

function timeOf(...args: readonly string[]): number {
  const begin = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - begin;
}

interface Times {
  readonly wallMs: number;
  readonly cpuMs: number;
}

function runOver(line: string, hasPacks: boolean): Promise<Times> {
  return withFolder(async (folder) => {
    const input = join(folder, 'in.log');
    writeFileSync(input, `${line}\n`);
    const config = maskingConfig(folder, { main: [input] }, THREE_RULES);
    const processors = { mask: { plugin: 'redact' } };
    const { command, args } = runCommand(folder, hasPacks ? { ...config, processors } : config, '--once');
    const cpuBefore = cpuOfEndedChildren();
    const begin = performance.now();
    const { status } = spawnSync(command, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`millrace run ended with ${status}`);
    return { wallMs: performance.now() - begin, cpuMs: cpuOfEndedChildren() - cpuBefore };
  });
}

function firstEvent(): Promise<number> {
  return withFolder(async (folder) => {
    const config = maskingConfig(folder, { main: [logFile(1000)] }, THREE_RULES);
    const output = join(folder, outputName('main'));
    const { command, args } = runCommand(folder, config);
    const { wallMs } = await runUntil(
      { command, args },
      () => sizeOf(output),
      (size) => size > 0,
    );
    return wallMs;
  });
}
