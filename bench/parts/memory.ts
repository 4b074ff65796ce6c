import type { Run } from '../measure/run-command.ts';
import { count, megabytes, seconds, times } from './figures.ts';
import { type Growth, growthOfFiles, growthOfLines, growthOfPipelines } from './growth.ts';
import { atMost, type Part, type Table, type Target } from './part.ts';

const MOST_BYTES = 150e6;
/** One more costs no more than this many times what one more has cost at the size before. */
const LINEAR = 1.5;

/** Peak memory, and how time and memory grow with lines, files and pipelines. */
export const memory: Part = {
  name: 'memory',
  title: 'memory and growth: lines, files, pipelines',
  async run({ quick, progress }) {
    const lines = growthOfLines(quick ? [10_000, 100_000, 200_000] : [100_000, 1_000_000, 10_000_000]);
    const files = growthOfFiles(quick ? [1, 100, 1000] : [1, 100, 1000, 10_000]);
    const pipelines = growthOfPipelines(quick ? [1, 10, 100] : [1, 10, 100, 1000]);
    const measured = new Map<Growth, Step[]>();
    for (const growth of [lines, files, pipelines]) {
      const steps: Step[] = [];
      for (const size of growth.sizes) {
        progress(`${count(size)} ${growth.of}`);
        steps.push({ size, run: await growth.run(size) });
      }
      measured.set(growth, steps);
    }
    return {
      tables: [...measured].map(([growth, steps]) => growthTable(growth, steps)),
      targets: [
        ...(measured.get(lines) ?? []).slice(1).map(peakTarget),
        ...[...measured].map(([growth, steps]) => linearTarget(growth, steps)),
      ],
      notes: [
        'One run each. "One more" is the difference to the row above, for each line, file or pipeline that came on ' +
          'top: growth is linear where it stays the same. Files and pipelines have ten lines each.',
      ],
    };
  },
};

interface Step {
  readonly size: number;
  readonly run: Run;
}

/** What one more has cost, between two sizes. */
function onePerMore(before: Step, after: Step): { us: number; bytes: number } {
  const more = after.size - before.size;
  return {
    us: ((after.run.wallMs - before.run.wallMs) * 1000) / more,
    bytes: (after.run.peakBytes - before.run.peakBytes) / more,
  };
}

function growthTable({ of }: Growth, steps: readonly Step[]): Table {
  return {
    cells: 'figures',
    columns: [of, 'time', 'one more', 'peak memory', 'one more'],
    rows: steps.map((step, index) => {
      const before = steps[index - 1];
      const more = before && onePerMore(before, step);
      return [
        count(step.size),
        seconds(step.run.wallMs),
        more === undefined ? '' : `${more.us.toFixed(1)} µs`,
        megabytes(step.run.peakBytes),
        more === undefined ? '' : `${more.bytes.toFixed(more.bytes < 10 ? 1 : 0)} bytes`,
      ];
    }),
  };
}

function peakTarget({ size, run }: Step): Target {
  return atMost(`peak memory, ${count(size)} lines`, run.peakBytes, MOST_BYTES, megabytes);
}

function linearTarget({ of }: Growth, steps: readonly Step[]): Target {
  const [a, b, c] = steps.slice(-3) as [Step, Step, Step];
  return atMost(
    `time of one more of ${of}, at ${count(c.size)} against ${count(b.size)}`,
    onePerMore(b, c).us / onePerMore(a, b).us,
    LINEAR,
    times,
  );
}
