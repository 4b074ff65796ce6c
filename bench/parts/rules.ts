import { rulesOfSize } from '../generated-rules.ts';
import { logFile } from '../log-file.ts';
import { rounds } from '../measure/rounds.ts';
import { runToEnd } from '../measure/run-command.ts';
import { median, ratio, spread } from '../measure/statistics.ts';
import { millrace, millraceWithPacks } from '../peers/millrace.ts';
import type { Peer } from '../peers/peer.ts';
import { runPeer } from '../peers/run-peer.ts';
import { gitleaks, ripgrepWith, type Scanner } from '../peers/scanners.ts';
import { withFolder } from '../places.ts';
import { masksInTurn, referenceOf } from '../reference.ts';
import { count, perSecond, range, seconds, times } from './figures.ts';
import { atLeast, atMost, type Part } from './part.ts';

interface RuleSet {
  readonly name: string;
  readonly peer: Peer;
  readonly rules: Rules;
  /** Those of them that find something in the log: to apply all of them in turn would take minutes. */
  readonly matching: Rules;
}

type Rules = Readonly<Record<string, string>>;

const SETS: readonly RuleSet[] = [
  ...[3, 30, 100, 200, 400].map((size) => ({
    name: `${size} rules`,
    peer: millrace,
    rules: rulesOfSize(size),
    matching: rulesOfSize(Math.min(size, 30)),
  })),
  { name: 'the default packs of `redact`', peer: millraceWithPacks, rules: {}, matching: {} },
];

const SCANNERS: readonly Scanner[] = [ripgrepWith('the 400 rules', rulesOfSize(400)), gitleaks];

/** What more rules cost, in the whole pipeline. */
export const rules: Part = {
  name: 'rules',
  title: 'rule sets: from three rules to four hundred, and the packs, on the same log',
  async run({ quick, progress }) {
    const input = logFile(quick ? 20_000 : 300_000);
    progress('the references');
    const references = new Map(SETS.map((set) => [set, referenceOf(input, masksInTurn(set.matching))]));
    const lines = references.values().next().value?.lines ?? 0;
    const there: (RuleSet | Scanner)[] = [];
    const missing = [];
    for (const set of [...SETS, ...SCANNERS]) {
      const found = await ('peer' in set ? set.peer : set).find();
      if ('missing' in found) missing.push(`Not measured: ${set.name}, because ${found.missing}.`);
      else there.push(set);
    }
    const runs = await rounds(there, quick ? 2 : 5, (set, round) => {
      progress(`${set.name}, round ${round + 1}`);
      if (!('peer' in set)) return withFolder((folder) => runToEnd(set.command(input, folder)));
      const reference = references.get(set);
      if (reference === undefined) throw new Error('no reference');
      return runPeer(set.peer, reference, set.rules);
    });
    const walls = ({ name }: { readonly name: string }): number[] =>
      [...runs].flatMap(([set, each]) => (set.name === name ? each.map(({ wallMs }) => wallMs) : []));
    const sized = (size: number) => walls({ name: `${size} rules` });
    const packs = there.find((set) => 'peer' in set && set.peer === millraceWithPacks);
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'lines/s (min–max)', 'time'],
          rows: there.map((set) => [
            set.name,
            range(spread(walls(set).map((ms) => perSecond(lines, ms))), count),
            seconds(median(walls(set))),
          ]),
        },
      ],
      targets: [
        atMost('30 rules, against 3', ratio(sized(30), sized(3)), 3, times),
        atMost('400 rules, against 30', ratio(sized(400), sized(30)), 2, times),
        atLeast('400 rules, as fast as 3', ratio(sized(3), sized(400)), 0.35, times),
        ...(packs === undefined
          ? []
          : [atLeast('the default packs, as fast as 3 rules', ratio(sized(3), walls(packs)), 0.5, times)]),
        ...(packs === undefined || !there.includes(gitleaks)
          ? []
          : [
              atLeast(
                'the default packs, as fast as gitleaks',
                ratio(walls(gitleaks), walls(packs)),
                10,
                times,
              ),
            ]),
      ],
      notes: [
        `${count(lines)} lines, the whole pipeline from start to end. The output is compared byte for byte with ` +
          'what `replace` makes of each line, one rule after the other. The first thirty rules are ' +
          '`bench/thirty-rules.ts`. The others (`bench/generated-rules.ts`) and the packs find nothing in this log. ' +
          'gitleaks and ripgrep only look for matches: they write no events, and ripgrep no lines either.',
        ...missing,
      ],
    };
  },
};
