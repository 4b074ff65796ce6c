import { join } from 'node:path';
import { linesOf } from '../lines-of.ts';
import { longLinesFile, serviceLogFile } from '../log-file.ts';
import { rounds } from '../measure/rounds.ts';
import { type Command, runToEnd, sizeOf } from '../measure/run-command.ts';
import { median, spread } from '../measure/statistics.ts';
import { installed } from '../peers/installed.ts';
import type { Found } from '../peers/peer.ts';
import { redactPeers } from '../peers/redact-peers.ts';
import { MILLRACE, withFolder } from '../places.ts';
import { SECRET_MARK } from '../service-logs.ts';
import { count, megabytes, range, seconds } from './figures.ts';
import { atLeast, atMost, type Part } from './part.ts';

interface Way {
  readonly name: string;
  readonly find?: () => Found;
  /** Whether it masks every secret of these logs. */
  readonly isComplete: boolean;
  /** Whether it writes the lines, masked. */
  readonly writesLines: boolean;
  /** It reads the start of the log only. */
  readonly isSlow?: boolean;
  command(input: string, folder: string): Omit<Command, 'stdout'>;
}

/** Longer lines are withheld. Together, these have 10 MB. */
const LONG_LINES = 3;
const LONG_LINE = 3.4e6;

const LOGS = ['web', 'application', 'prose'] as const;
const TITLES: Readonly<Record<(typeof LOGS)[number], string>> = {
  web: 'access log',
  application: 'JSON application log',
  prose: 'application log in prose',
};

const millrace = (name: string, ...options: readonly string[]): Way => ({
  name,
  isComplete: true,
  writesLines: true,
  command: (input) => ({ command: process.execPath, args: [MILLRACE, 'redact', ...options, input] }),
});

const DEFAULT = millrace('`millrace redact`');
const WITH_PII = millrace('`millrace redact --pii`', '--pii');

/** The command over three kinds of logs, and over long lines, on one core. */
export const redact: Part = {
  name: 'redact',
  title: '`millrace redact` over logs of three kinds, and over long lines, on one core',
  async run({ quick, progress }) {
    const ways: Way[] = [];
    const notes: string[] = [];
    for (const way of [DEFAULT, WITH_PII, ...redactPeers]) {
      const found = (await way.find?.()) ?? {};
      if ('missing' in found) notes.push(`Not measured: ${way.name}, because ${found.missing}.`);
      else ways.push(way);
    }
    const core = oneCore();
    if (core.length === 0) notes.push('Not on one core, because there is no `taskset`.');
    const size = quick ? 5e6 : 60e6;
    const rows: string[][] = [];
    const targets = [];
    for (const log of LOGS) {
      const whole = serviceLogFile(log, size);
      const measured = await rounds(ways, quick ? 1 : 3, async (way, round) => {
        progress(`${TITLES[log]}, ${way.name}, round ${round + 1}`);
        const input = way.isSlow ? serviceLogFile(log, size / 20) : whole;
        return sizeOf(input) / (await runOnCore(core, way, input)).cpuMs / 1000;
      });
      const speeds = (way: Way) => measured.get(way) ?? [];
      rows.push([
        `${TITLES[log]}, ${megabytes(sizeOf(whole))}`,
        ...ways.map((way) => range(spread(speeds(way)), figure)),
      ]);
      targets.push(
        atLeast(`${TITLES[log]}, default packs`, median(speeds(DEFAULT)), 60, perSecond),
        atLeast(`${TITLES[log]}, with \`pii/*\``, median(speeds(WITH_PII)), 40, perSecond),
      );
    }
    const input = longLinesFile(LONG_LINES, LONG_LINE);
    const own = ways.filter((way) => way === DEFAULT || way === WITH_PII);
    const long = await rounds(own, quick ? 1 : 3, async (way, round) => {
      progress(`long lines, ${way.name}, round ${round + 1}`);
      return (await runOnCore(core, way, input)).cpuMs;
    });
    for (const way of own) {
      targets.push(
        atMost(
          `10 MB of random base64 in ${LONG_LINES} lines, ${way.name}`,
          median(long.get(way) ?? []),
          2000,
          seconds,
        ),
      );
    }
    return {
      tables: [{ cells: 'figures', columns: ['MB/s', ...ways.map(({ name }) => name)], rows }],
      targets,
      notes: [
        'Megabytes of log for each second of processor time, the start included, as the median of the rounds (min–max). The logs are ' +
          '`bench/service-logs.ts`. One line in 200 has a secret, and the bench fails if millrace leaves one of them or ' +
          'changes the number of lines. Other programs have three expressions for secrets, or rules of their own, and find fewer kinds. ' +
          'gitleaks writes no lines, and reads the first twentieth of each log.',
        ...notes,
      ],
    };
  },
};

const figure = (value: number): string => (value < 10 ? value.toFixed(1) : count(value));
const perSecond = (value: number): string => `${figure(value)} MB/s`;

/** What runs a command on one core. */
function oneCore(): readonly string[] {
  return 'missing' in installed('taskset', ['--version'], /(\S+)$/m) ? [] : ['taskset', '-c', '0'];
}

/** @throws Error if a secret is left, or the number of lines is another one */
function runOnCore(core: readonly string[], way: Way, input: string) {
  return withFolder(async (folder) => {
    const { command, args, ...rest } = way.command(input, folder);
    const [first = command, ...others] = [...core, command, ...args];
    const stdout = join(folder, 'masked.log');
    const run = await runToEnd({ ...rest, command: first, args: others, stdout });
    if (way.writesLines) verify(way, input, stdout);
    return run;
  });
}

function verify({ name, isComplete }: Way, input: string, output: string): void {
  const masked = linesOf(output);
  let number = 0;
  for (const line of linesOf(input)) {
    number++;
    const next = masked.next();
    if (next.done === true) throw new Error(`${name} has not written line ${number}`);
    // A long line is text that looks random, in which the mark may stand by chance.
    if (isComplete && line.length < 1e6 && next.value.includes(SECRET_MARK))
      throw new Error(`${name} has left a secret in line ${number}`);
  }
  if (masked.next().done !== true) throw new Error(`${name} has written more than ${number} lines`);
}
