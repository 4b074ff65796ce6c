import { rounds } from '../measure/rounds.ts';
import type { Run } from '../measure/run-command.ts';
import { median } from '../measure/statistics.ts';
import { count, megabytes, microseconds, seconds, times } from './figures.ts';
import { type Growth, growthOfFiles, growthOfLines, growthOfPipelines } from './growth.ts';
import { atMost, notMeasured, type Part, type Table, type Target } from './part.ts';

const MOST_BYTES = 150e6;
/** How many times as much one more may cost at the largest size as at the one before, and still be called linear. */
const LINEAR = 1.5;

/** Peak memory, and how time and memory grow with lines, files and pipelines. */
export const memory: Part = {
  name: 'memory',
  title: 'memory and growth: lines, files, pipelines',
  async run({ quick, progress }) {
    const lines = growthOfLines(quick ? [10_000, 50_000, 200_000] : [100_000, 1_000_000, 10_000_000]);
    const files = growthOfFiles(quick ? [1, 300, 1000] : [1, 100, 1000, 10_000]);
    const pipelines = growthOfPipelines(quick ? [1, 50, 150] : [1, 10, 100, 1000]);
    const measured = new Map<Growth, readonly Step[]>();
    for (const growth of [lines, files, pipelines]) {
      const runs = await rounds(growth.sizes, quick ? 1 : 3, (size, round) => {
        progress(`${count(size)} ${growth.of}, round ${round + 1}`);
        return growth.run(size);
      });
      measured.set(
        growth,
        growth.sizes.map((size) => step(size, runs.get(size) ?? [])),
      );
    }
    return {
      tables: [...measured].map(([growth, steps]) => growthTable(growth, steps)),
      targets: [
        ...(measured.get(lines) ?? []).slice(1).map(peakTarget),
        ...[...measured].map(([growth, steps]) => linearTarget(growth, steps)),
      ],
      notes: [
        'Processor time and memory of the whole process, start included. "Each" is what came on top of the first ' +
          'row, for each line, file or pipeline that came on top: growth is linear where it stays the same or ' +
          'falls. A file has ten lines; each pipeline has a file and an output of its own.',
      ],
    };
  },
};

/** The medians of the runs of one size. */
interface Step {
  readonly size: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
}

function step(size: number, runs: readonly Run[]): Step {
  const of = (value: (run: Run) => number) => median(runs.map(value));
  return {
    size,
    wallMs: of(({ wallMs }) => wallMs),
    cpuMs: of(({ cpuMs }) => cpuMs),
    peakBytes: of(({ peakBytes }) => peakBytes),
  };
}

function each(value: 'cpuMs' | 'peakBytes', first: Step, { size, ...after }: Step): number {
  return (after[value] - first[value]) / (size - first.size);
}

function growthTable({ of }: Growth, steps: readonly Step[]): Table {
  const [first, ...more] = steps as [Step, ...Step[]];
  const row = (at: Step) => [
    count(at.size),
    seconds(at.wallMs),
    seconds(at.cpuMs),
    at === first ? '' : microseconds(each('cpuMs', first, at) * 1000),
    megabytes(at.peakBytes),
    at === first ? '' : `${count(each('peakBytes', first, at))} bytes`,
  ];
  return {
    cells: 'figures',
    columns: [of, 'time', 'processor time', 'each', 'peak memory', 'each'],
    rows: [first, ...more].map(row),
  };
}

function peakTarget({ size, peakBytes }: Step): Target {
  return atMost(`peak memory, ${count(size)} lines`, peakBytes, MOST_BYTES, megabytes);
}

function linearTarget({ of }: Growth, steps: readonly Step[]): Target {
  const [first] = steps as [Step];
  const [before, last] = steps.slice(-2) as [Step, Step];
  const what = `processor time for each of ${count(last.size)} ${of}, against ${count(before.size)}`;
  const eachBefore = each('cpuMs', first, before);
  if (eachBefore <= 0) return notMeasured(what, `≤ ${times(LINEAR)}`, 'too few to tell');
  return atMost(what, each('cpuMs', first, last) / eachBefore, LINEAR, times);
}
