import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
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
const NOT_COMPILED = 'the same, with nothing compiled ahead';

const MEASURES: Readonly<Record<string, () => number | Promise<number>>> = {
  [NODE]: () => timeOf('-e', '0'),
  [VERSION]: () => timeOf(MILLRACE, '--version'),
  [FIRST_EVENT]: () => firstEvent(),
  // V8 takes code only with the flags that it had.
  [NOT_COMPILED]: () => firstEvent('--stack-size=900'),
};

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
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'time (min–max)'],
          rows: Object.keys(MEASURES).map((name) => [name, range(spread(of(name)), milliseconds)]),
        },
      ],
      targets: [
        atMost('`millrace --version`, against `node -e 0`', ratio(of(VERSION), of(NODE)), 1.5, times),
        atMost('first event out, after the start', median(of(FIRST_EVENT)), 300, milliseconds),
      ],
      notes: [
        'The output file is looked at every 5 ms. What is compiled ahead is of use to the Node that ran the build, if V8 has no flags: all others start as the last row says.',
      ],
    };
  },
};

function timeOf(...args: readonly string[]): number {
  const begin = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - begin;
}

function firstEvent(...flags: readonly string[]): Promise<number> {
  return withFolder(async (folder) => {
    const config = maskingConfig(folder, { main: [logFile(1000)] }, THREE_RULES);
    const output = join(folder, outputName('main'));
    const { command, args } = runCommand(folder, config);
    const { wallMs } = await runUntil(
      { command, args: [...flags, ...args] },
      () => sizeOf(output),
      (size) => size > 0,
    );
    return wallMs;
  });
}
