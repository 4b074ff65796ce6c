import { PUBLISHED_RULE, rulesOfSize } from '../generated-rules.ts';
import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { rounds } from '../measure/rounds.ts';
import { type Run, runToEnd } from '../measure/run-command.ts';
import { median, ratio, spread } from '../measure/statistics.ts';
import { millrace, millraceWithPacks } from '../peers/millrace.ts';
import type { Peer } from '../peers/peer.ts';
import { runPeer } from '../peers/run-peer.ts';
import { gitleaks, ripgrepWith, type Scanner } from '../peers/scanners.ts';
import { withFolder } from '../places.ts';
import { masksInTurn, referenceOf } from '../reference.ts';
import { count, megabytes, perSecond, range, seconds, times } from './figures.ts';
import { atLeast, atMost, type Part } from './part.ts';

interface RuleSet {
  readonly name: string;
  readonly peer: Peer;
  readonly rules: Rules;
  /** Those of them that find something in the log: to apply all of them in turn would take minutes. */
  readonly matching: Rules;
}

type Rules = Readonly<Record<string, string>>;

const PACKS = 'the default packs of `redact`';

const SETS: readonly RuleSet[] = [
  ...[3, 30, 100, 200, 400].map((size) => ({
    name: `${size} rules`,
    peer: millrace,
    rules: rulesOfSize(size),
    matching: rulesOfSize(Math.min(size, 30)),
  })),
  {
    name: '3 rules and a published one',
    peer: millrace,
    rules: { ...THREE_RULES, PUBLISHED: PUBLISHED_RULE },
    matching: THREE_RULES,
  },
  { name: PACKS, peer: millraceWithPacks, rules: {}, matching: {} },
];

const SCANNERS: readonly Scanner[] = [ripgrepWith('the 400 rules', rulesOfSize(400)), gitleaks];

/** What more rules cost, in the whole pipeline. */
export const rules: Part = {
  name: 'rules',
  title: 'rule sets: from three rules to four hundred, and the packs, on the same log',
  async run({ quick, progress }) {
    const input = logFile(quick ? 20_000 : 500_000);
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
    const runs = await rounds(there, quick ? 2 : 3, (set, round) => {
      progress(`${set.name}, round ${round + 1}`);
      if (!('peer' in set)) return withFolder((folder) => runToEnd(set.command(input, folder)));
      const reference = references.get(set);
      if (reference === undefined) throw new Error('no reference');
      return runPeer(set.peer, reference, set.rules);
    });
    const of = (name: string, figure: (run: Run) => number): number[] =>
      [...runs].flatMap(([set, each]) => (set.name === name ? each.map(figure) : []));
    const wall = ({ wallMs }: Run) => wallMs;
    const cpu = ({ cpuMs }: Run) => cpuMs;
    const more = (name: string, than: string, figure: (run: Run) => number) =>
      ratio(of(name, figure), of(than, figure));
    const hasPacks = there.some(({ name }) => name === PACKS);
    const target = (what: string, name: string, than: string, most: number) => [
      atMost(`${what}, time`, more(name, than, wall), most, times),
      atMost(`${what}, processor time`, more(name, than, cpu), most, times),
    ];
    const least = (what: string, name: string, than: string, goal: number) => [
      atLeast(`${what}, time`, more(than, name, wall), goal, times),
      atLeast(`${what}, processor time`, more(than, name, cpu), goal, times),
    ];
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'lines/s (min–max)', 'time', 'processor time', 'peak memory'],
          rows: there.map(({ name }) => [
            name,
            range(spread(of(name, wall).map((ms) => perSecond(lines, ms))), count),
            seconds(median(of(name, wall))),
            seconds(median(of(name, cpu))),
            megabytes(median(of(name, ({ peakBytes }) => peakBytes))),
          ]),
        },
      ],
      targets: [
        ...target('30 rules, against 3', '30 rules', '3 rules', 3),
        ...target('400 rules, against 30', '400 rules', '30 rules', 2),
        ...target('a published rule more, against 3', '3 rules and a published one', '3 rules', 1.2),
        ...least('400 rules, as fast as 3', '400 rules', '3 rules', 0.35),
        ...(hasPacks ? least('the default packs, as fast as 3 rules', PACKS, '3 rules', 0.5) : []),
        ...(hasPacks && there.includes(gitleaks)
          ? least('the default packs, as fast as gitleaks', PACKS, gitleaks.name, 10)
          : []),
        ...(hasPacks
          ? [
              atMost(
                'peak memory with the default packs, more than with 3 rules',
                median(of(PACKS, ({ peakBytes }) => peakBytes)) -
                  median(of('3 rules', ({ peakBytes }) => peakBytes)),
                40e6,
                megabytes,
              ),
            ]
          : []),
      ],
      notes: [
        `${count(lines)} lines, the whole pipeline from start to end, in three rounds. The output is compared byte for byte with ` +
          'what `replace` makes of each line, one rule after the other. The first thirty rules are ' +
          '`bench/thirty-rules.ts`. The others (`bench/generated-rules.ts`) and the packs find nothing in this log. ' +
          'gitleaks and ripgrep only look for matches: they write no events, and ripgrep no lines either.',
        ...missing,
      ],
    };
  },
};
