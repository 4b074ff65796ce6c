import { ENGINES, type EngineName } from '../engines/index.ts';
import { rounds } from '../measure/rounds.ts';
import { runProgram } from '../measure/run-program.ts';
import { ratio, spread } from '../measure/statistics.ts';
import { count, perSecond, range, times } from './figures.ts';
import { atLeast, type Part } from './part.ts';

const STREAMS: EngineName = 'Node streams, object mode';

/** What the engine itself costs: events that nobody reads, masks or writes. */
export const engine: Part = {
  name: 'engine',
  title: 'the engine alone: a synthetic source, two processors that pass events on, noop',
  async run({ quick, progress }) {
    const events = quick ? 1_000_000 : 10_000_000;
    const names = Object.keys(ENGINES) as EngineName[];
    const measured = await rounds(names, quick ? 2 : 5, (name, round) => {
      progress(`${name}, round ${round + 1}`);
      return runProgram<number>('engine', name, events);
    });
    const speeds = (name: EngineName) => (measured.get(name) ?? []).map((ms) => perSecond(events, ms));
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'events/s (min–max)', '× Node streams'],
          rows: names.map((name) => [
            name,
            range(spread(speeds(name)), count),
            times(ratio(speeds(name), speeds(STREAMS))),
          ]),
        },
      ],
      targets: [
        atLeast('millrace, against Node streams', ratio(speeds('millrace'), speeds(STREAMS)), 1, times),
      ],
      notes: [
        `${count(events)} new events, each engine in a separate process, without the start. millrace runs a ` +
          'configured pipeline with deliveries and its usual window; RxJS alone acknowledges nothing and bounds nothing; ' +
          'Node streams have one Transform, not two.',
      ],
    };
  },
};
