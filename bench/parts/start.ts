import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { rounds } from '../measure/rounds.ts';
import { runUntil, sizeOf } from '../measure/run-command.ts';
import { ratio, spread } from '../measure/statistics.ts';
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
        atMost(
          'first event out, against `node -e 0`',
          ratio(of(FIRST_EVENT), of(NODE)),
          MOST_OF_FIRST_EVENT,
          times,
        ),
      ],
      notes: [
        'The output file is looked at every 5 ms. Since Node 22.1, what V8 compiled in a start is kept for the next one.',
      ],
    };
  },
};

function timeOf(...args: readonly string[]): number {
  const begin = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - begin;
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
