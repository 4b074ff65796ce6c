import { rounds } from '../measure/rounds.ts';
import { runProgram } from '../measure/run-program.ts';
import { spread } from '../measure/statistics.ts';
import { SUBJECTS, type SubjectName } from '../subjects/index.ts';
import { nanoseconds, range } from './figures.ts';
import type { Part } from './part.ts';

/** Masks, serialising and operators by themselves. No targets: they tell where the time goes. */
export const micro: Part = {
  name: 'micro',
  title: 'masks, serialising and operators by themselves',
  async run({ quick, progress }) {
    const names = Object.keys(SUBJECTS) as SubjectName[];
    const measured = await rounds(names, quick ? 1 : 5, (name, round) => {
      progress(`${name}, round ${round + 1}`);
      return runProgram<number>('subject', name, quick ? 5_000 : 20_000);
    });
    const rows = names.map((name) => [name, range(spread(measured.get(name) ?? []), nanoseconds)]);
    return {
      tables: [{ cells: 'figures', columns: ['', 'each (min–max)'], rows }],
      targets: [],
      notes: ['Per line, event or value, in warm code, each in a separate process.'],
    };
  },
};
