import { rounds } from '../measure/rounds.ts';
import { runProgram } from '../measure/run-program.ts';
import { spread } from '../measure/statistics.ts';
import { IN_PROCESS, type InProcessName } from '../subjects/in-process.ts';
import { count, nanoseconds, range, times } from './figures.ts';
import { atLeast, atMost, type Part } from './part.ts';

/** Masks in a program that logs, beside those that replace values at paths. */
export const inProcess: Part = {
  name: 'in-process',
  title: 'masks inside a program that logs',
  async run({ quick, progress }) {
    const names = Object.keys(IN_PROCESS) as InProcessName[];
    const measured = await rounds(names, quick ? 1 : 5, (name, round) => {
      progress(`${name}, round ${round + 1}`);
      return runProgram<number>('in-process', name, quick ? 5_000 : 20_000);
    });
    const costOf = (name: InProcessName) => spread(measured.get(name) ?? []);
    const perSecond = (name: InProcessName) => 1e9 / costOf(name).median;
    const masked = 'pino with `redactedStreamWrite`';
    const paths = 'pino with `redact`, 10 paths';
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'each (min–max)', 'per second'],
          rows: names.map((name) => [name, range(costOf(name), nanoseconds), count(perSecond(name))]),
        },
      ],
      targets: [
        atLeast('records of pino with masks, per second', perSecond(masked), 100_000, count),
        atMost(
          'against pino with `redact`, 10 paths',
          costOf(masked).median / costOf(paths).median,
          3,
          times,
        ),
        atLeast('lines, per second', perSecond('`redact` of a line of 170 characters'), 400_000, count),
      ],
      notes: ['Time of the processor in warm code, each in a separate process. No value is a secret.'],
    };
  },
};
