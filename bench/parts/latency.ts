import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { runUntil, sizeOf } from '../measure/run-command.ts';
import { runProgram } from '../measure/run-program.ts';
import { quantile } from '../measure/statistics.ts';
import { maskingConfig, outputName } from '../peers/masking-config.ts';
import { runCommand } from '../peers/millrace.ts';
import { withFolder } from '../places.ts';
import { milliseconds } from './figures.ts';
import { atMost, type Part, type Target } from './part.ts';

const LIVE = 'live';
const MEDIAN_MS = 10;
const P99_MS = 50;
/** Of the first second: the process has just started, and nothing is compiled yet. */
const WARM_UP = 1000;

/** The paths of each pipeline beside the live file. */
type Beside = Readonly<Record<string, readonly string[]>>;

/** From the moment a line is appended until its event can be read in the output file. */
export const latency: Part = {
  name: 'latency',
  title: 'latency: from an appended line to its event in the output, at 1,000 lines a second',
  async run({ quick, progress }) {
    const backlog = logFile(quick ? 1_000_000 : 10_000_000);
    const situations: readonly { readonly name: string; readonly beside: Beside }[] = [
      { name: 'nothing else to do', beside: { [LIVE]: [] } },
      { name: 'a backlog in another pipeline', beside: { [LIVE]: [], backlog: [backlog] } },
      { name: 'a backlog in the same pipeline', beside: { [LIVE]: [backlog] } },
    ];
    const rows: string[][] = [];
    const targets: Target[] = [];
    for (const { name, beside } of situations) {
      progress(name);
      const sorted = (await measure(beside, quick ? 1000 : 5000)).sort((a, b) => a - b);
      const [p50, p99, most] = [0.5, 0.99, 1].map((q) => quantile(sorted, q)) as [number, number, number];
      rows.push([name, ...[p50, p99, most].map(milliseconds)]);
      targets.push(
        atMost(`median, ${name}`, p50, MEDIAN_MS, milliseconds),
        atMost(`p99, ${name}`, p99, P99_MS, milliseconds),
      );
    }
    return {
      tables: [{ cells: 'figures', columns: ['', 'median', 'p99', 'longest'], rows }],
      targets,
      notes: [
        'One process appends, one runs millrace, one looks at the output every millisecond. All read the same ' +
          'monotonic clock. The first second is not counted.',
      ],
    };
  },
};

/** Milliseconds of so many lines, in the order in which their events came. */
function measure(beside: Beside, lines: number): Promise<number[]> {
  return withFolder(async (folder) => {
    const live = join(folder, 'live.log');
    const output = join(folder, outputName(LIVE));
    for (const path of [live, output]) writeFileSync(path, '');
    const pathsOf = { ...beside, [LIVE]: [live, ...(beside[LIVE] ?? [])] };
    const config = maskingConfig(folder, pathsOf, THREE_RULES);
    const all = WARM_UP + lines;
    const seen = Promise.all([
      runProgram<number[]>('watch-events', output, all),
      runProgram<number>('append-lines', live, all),
    ]);
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    seen.then(over, over);
    await runUntil(
      runCommand(folder, config),
      () => sizeOf(output),
      () => isOver,
    );
    const [latencies] = await seen;
    for (const [name, paths] of Object.entries(beside)) checkBacklog(join(folder, outputName(name)), paths);
    return latencies.slice(WARM_UP);
  });
}

/**
 * An event is longer than its line.
 *
 * @throws Error if the backlog was worked off before the end: the latency would be that of a pipeline at rest.
 */
function checkBacklog(output: string, [backlog]: readonly string[]): void {
  if (backlog !== undefined && sizeOf(output) >= sizeOf(backlog)) {
    throw new Error('the backlog ended before the measurement');
  }
}
