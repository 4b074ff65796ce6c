import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { rounds } from '../measure/rounds.ts';
import { median, ratio, spread } from '../measure/statistics.ts';
import { millrace } from '../peers/millrace.ts';
import { runPeer } from '../peers/run-peer.ts';
import { masksInTurn, referenceOf } from '../reference.ts';
import { THIRTY_RULES } from '../thirty-rules.ts';
import { count, perSecond, range, seconds, times } from './figures.ts';
import { atMost, type Part } from './part.ts';

const SETS = [THREE_RULES, THIRTY_RULES];

/** What more rules cost, in the whole pipeline. */
export const rules: Part = {
  name: 'rules',
  title: 'rule sets: thirty realistic rules, on the same log',
  async run({ quick, progress }) {
    const input = logFile(quick ? 50_000 : 1_000_000);
    const references = new Map(SETS.map((set) => [set, referenceOf(input, masksInTurn(set))]));
    const lines = references.get(THREE_RULES)?.lines ?? 0;
    const runs = await rounds(SETS, quick ? 2 : 5, (set, round) => {
      progress(`${sizeOf(set)} rules, round ${round + 1}`);
      const reference = references.get(set);
      if (reference === undefined) throw new Error('no reference');
      return runPeer(millrace, reference, set);
    });
    const walls = (set: (typeof SETS)[number]) => (runs.get(set) ?? []).map(({ wallMs }) => wallMs);
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'lines/s (min–max)', 'time'],
          rows: SETS.map((set) => [
            `${sizeOf(set)} rules`,
            range(spread(walls(set).map((ms) => perSecond(lines, ms))), count),
            seconds(median(walls(set))),
          ]),
        },
      ],
      targets: [
        atMost('thirty rules, against three', ratio(walls(THIRTY_RULES), walls(THREE_RULES)), 3, times),
      ],
      notes: [
        `${count(lines)} lines, the whole pipeline from start to end. The output is compared byte for byte with ` +
          'what `replace` makes of each line, one rule after the other.',
      ],
    };
  },
};

function sizeOf(set: object): number {
  return Object.keys(set).length;
}
