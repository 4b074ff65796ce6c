import { rounds } from '../measure/rounds.ts';
import { runProgram } from '../measure/run-program.ts';
import { ratio, spread } from '../measure/statistics.ts';
import type { SubjectName } from '../subjects/index.ts';
import { nanoseconds, range, times } from './figures.ts';
import { atLeast, type Part } from './part.ts';

const MASK: SubjectName = 'entropy: entropyMasker';
const BY_HAND: SubjectName = 'entropy: loop by hand';

/** The mask for what looks random, beside a loop of the same formula that can do nothing else. */
export const entropy: Part = {
  name: 'entropy',
  title: 'entropy_mask: beside a tight loop by hand of the same formula',
  async run({ quick, progress }) {
    const lines = quick ? 20_000 : 200_000;
    const measured = await rounds<SubjectName, number>([MASK, BY_HAND], quick ? 3 : 7, (name, round) => {
      progress(`${name}, round ${round + 1}`);
      return runProgram<number>('subject', name, lines);
    });
    const of = (name: SubjectName) => measured.get(name) ?? [];
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'a line (min–max)'],
          rows: [MASK, BY_HAND].map((name) => [name, range(spread(of(name)), nanoseconds)]),
        },
      ],
      targets: [atLeast('entropyMasker, against the loop by hand', ratio(of(BY_HAND), of(MASK)), 0.9, times)],
      notes: [
        'Each runs in a separate process, on the lines of the log as text. Both produce the same bytes.',
      ],
    };
  },
};
