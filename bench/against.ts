import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { accessJob, filteredJob, jsonJob, type MakeCommand, mainJob, packsJob, pipedJob } from './jobs.ts';
import { linesOf } from './lines-of.ts';
import { accessFile, eventsFile, logFile, secretsFile, structuredFile } from './log-file.ts';
import { type Command, runToEnd } from './measure/run-command.ts';
import { median, spread } from './measure/statistics.ts';
import { count, range, seconds } from './parts/figures.ts';
import { findNatsServer, natsJob, transfer } from './parts/nats.ts';
import type { PartContext, PartResult } from './parts/part.ts';
import { MILLRACE, withFolder } from './places.ts';

/** Changes a command so that it runs another build of millrace. */
type Build = (command: Command) => Command;

interface Measured {
  /** Milliseconds of processor time, start included. */
  readonly cpuMs: number;
  /** A digest of the events without their timestamps; undefined if it is not compared. */
  readonly output?: string;
}

interface Job {
  /** That of the part which measures the same. */
  readonly name: string;
  readonly lines: number;
  readonly rounds: number;
  run(build: Build, lines: number): Promise<Measured>;
}

const JOBS: readonly Job[] = [
  job('main', 2_000_000, logFile, mainJob),
  job('stdin', 2_000_000, logFile, pipedJob),
  job('filter', 2_000_000, logFile, filteredJob),
  job('structured', 1_000_000, structuredFile, jsonJob),
  job('access', 500_000, accessFile, accessJob),
  job('packs', 500_000, secretsFile, packsJob),
  { name: 'nats', lines: 1_000_000, rounds: 5, run: transferWith },
];

export const AGAINST_NAMES: readonly string[] = JOBS.map(({ name }) => name);

/**
 * Measures this build and that of another checkout in alternating pairs, in jobs of which both know the configuration.
 *
 * @param only names of the jobs
 * @throws Error if the other checkout is not built
 */
export async function against(
  checkout: string,
  only: readonly string[],
  { quick, progress }: PartContext,
): Promise<PartResult> {
  const other = join(resolve(checkout), 'dist/src/cli/bin.js');
  if (!existsSync(other)) throw new Error(`${other} does not exist; run \`npm ci\` in ${checkout}`);
  const jobs = JOBS.filter(({ name }) => only.includes(name));
  if (jobs.length === 0)
    throw new Error(`--against has none of these parts; it has ${AGAINST_NAMES.join(', ')}`);
  const builds: readonly [Build, Build] = [
    (command) => ({ ...command, args: command.args.map((arg) => arg.replaceAll(MILLRACE, other)) }),
    (command) => command,
  ];
  const rows: string[][] = [];
  const notes = [`A ratio below 1 means that this build takes less processor time than ${checkout}.`];
  for (const { name, lines, rounds, run } of jobs) {
    const missing = name === 'nats' ? findNatsServer() : {};
    if ('missing' in missing) {
      notes.push(`Not measured: nats, because ${missing.missing}.`);
      continue;
    }
    const size = quick ? 100_000 : lines;
    const measured: [Measured[], Measured[]] = [[], []];
    try {
      for (let round = 0; round < (quick ? 2 : rounds); round++) {
        // Who comes first changes, so that neither always has the warmer machine.
        for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          progress(`${name}, ${which === 0 ? checkout : 'this build'}, round ${round + 1}`);
          measured[which].push(await run(builds[which], size));
        }
      }
    } catch (error) {
      notes.push(`Not measured: ${name}, because ${(error as Error).message.trim()}`);
      continue;
    }
    rows.push(comparedRow(name, size, measured));
  }
  const columns = ['', 'lines', 'processor time before', 'now', 'ratio (min–max)', 'output'];
  return { tables: [{ cells: 'figures', columns, rows }], targets: [], notes };
}

/** A row of the table: of the build before, and of this one, with their runs side by side. */
export function comparedRow(
  name: string,
  lines: number,
  [before, now]: readonly [readonly Measured[], readonly Measured[]],
): string[] {
  const cpu = (runs: readonly Measured[]) => seconds(median(runs.map(({ cpuMs }) => cpuMs)));
  const ratios = now.map(({ cpuMs }, round) => cpuMs / (before[round] as Measured).cpuMs);
  const isSame = now.every(({ output }, round) => output === before[round]?.output);
  const output = before[0]?.output === undefined ? 'not compared' : isSame ? 'the same' : 'differs';
  return [
    name,
    count(lines),
    cpu(before),
    cpu(now),
    range(spread(ratios), (value) => value.toFixed(2)),
    output,
  ];
}

function job(name: string, lines: number, inputOf: (lines: number) => string, command: MakeCommand): Job {
  return {
    name,
    lines,
    rounds: 11,
    run: (build, size) =>
      withFolder(async (folder) => {
        const { cpuMs } = await runToEnd(build(command(inputOf(size), folder)));
        return { cpuMs, output: digestOf(join(folder, 'out.jsonl')) };
      }),
  };
}

/** Publisher and one worker, without the server. */
async function transferWith(build: Build, lines: number): Promise<Measured> {
  const { publish, consume, name } = natsJob(lines, 1);
  const subject = {
    name,
    publish: (url: string, folder: string) => build(publish(url, folder)),
    consume: (url: string, folder: string) => build(consume(url, folder)),
  };
  const { publisherCpuMs, workersCpuMs } = await transfer(subject, 1, statSync(eventsFile(lines)).size);
  return { cpuMs: publisherCpuMs + workersCpuMs };
}

function digestOf(output: string): string {
  const hash = createHash('sha256');
  for (const line of linesOf(output)) hash.update(line.replace(/^\{"timestamp":"[^"]*"/, '')).update('\n');
  return hash.digest('hex');
}
