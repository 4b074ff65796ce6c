import { rounds } from '../measure/rounds.ts';
import { runProgram } from '../measure/run-program.ts';
import { median, spread } from '../measure/statistics.ts';
import { count, microseconds, range, seconds } from './figures.ts';
import { atMost, type Part } from './part.ts';

interface Situation {
  readonly events: number;
  /** Between two events. */
  readonly seconds: number;
  /** Milliseconds that the test may take. */
  readonly most: number;
}

const SITUATIONS: Readonly<Record<string, Situation>> = {
  '10,000 events at once': { events: 10_000, seconds: 0, most: 500 },
  '10,000 events, one in a millisecond': { events: 10_000, seconds: 0.001, most: 500 },
  'a week of heartbeats, one in 10 s': { events: 60_480, seconds: 10, most: 3000 },
};

/** How long tests with many events take. */
export const virtualTime: Part = {
  name: 'tests',
  title: 'tests of pipelines with many events, in virtual time',
  async run({ quick, progress }) {
    const names = Object.keys(SITUATIONS);
    const situation = (name: string) => SITUATIONS[name] as Situation;
    const measured = await rounds(names, quick ? 3 : 7, (name, round) => {
      progress(`${name}, round ${round + 1}`);
      return runProgram<number>('virtual-time', situation(name).events, situation(name).seconds);
    });
    const times = (name: string) => measured.get(name) ?? [];
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'events', 'time (min–max)', 'each'],
          rows: names.map((name) => [
            name,
            count(situation(name).events),
            range(spread(times(name)), seconds),
            microseconds((median(times(name)) * 1000) / situation(name).events),
          ]),
        },
      ],
      targets: names.map((name) => atMost(name, median(times(name)), situation(name).most, seconds)),
      notes: [
        'One test with a mask, the first of its process, without the start of the process and without a drawing.',
      ],
    };
  },
};
