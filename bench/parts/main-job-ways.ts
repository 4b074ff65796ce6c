import { filteredJob, type MakeCommand, mainJob, pipedJob, watchedJob } from '../jobs.ts';
import { logFile } from '../log-file.ts';
import { rounds } from '../measure/rounds.ts';
import { type Run, runToEnd } from '../measure/run-command.ts';
import { median, ratio } from '../measure/statistics.ts';
import { withFolder } from '../places.ts';
import { count, perSecond, seconds, times } from './figures.ts';
import { atLeast, atMost, type Part, type PartContext, type Table } from './part.ts';

/** The main job in two ways, of which the second is compared with the first. */
interface Pair {
  readonly names: readonly [string, string];
  readonly commands: readonly [MakeCommand, MakeCommand];
}

/** Processor time and lines a second of the second way, as multiples of those of the first: medians of the rounds. */
interface Compared {
  readonly table: Table;
  readonly cpu: number;
  readonly speed: number;
  /** Of each run, by way. */
  readonly cpuMs: readonly [readonly number[], readonly number[]];
}

/** Lines from a pipe beside lines from a file. */
export const stdin: Part = {
  name: 'stdin',
  title: 'the main job from standard input, beside a file',
  async run(context) {
    const { table, speed } = await compare(context, {
      names: ['`file`', '`cat` into `stdin`'],
      commands: [mainJob, pipedJob],
    });
    return {
      tables: [table],
      targets: [atLeast('speed of `stdin`, against `file`', speed, 0.9, times)],
      notes: ['The processor time of `stdin` has that of `cat`.'],
    };
  },
};

/** A condition in front of the masks. */
export const filter: Part = {
  name: 'filter',
  title: 'the main job after a `filter` that drops one line in ten',
  async run(context) {
    const { table, cpu } = await compare(context, {
      names: ['the main job', 'after `filter`'],
      commands: [mainJob, filteredJob],
    });
    return {
      tables: [table],
      targets: [atMost('processor time with `filter`, against without', cpu, 1.15, times)],
      notes: [],
    };
  },
};

/** What it costs to be watched. */
export const metrics: Part = {
  name: 'metrics',
  title: 'the main job with metrics, beside without',
  async run(context) {
    const names = ['without', 'with `--admin`'] as const;
    const start = await compare({ ...context, lines: 1 }, { names, commands: [mainJob, watchedJob] });
    const whole = await compare(context, { names, commands: [mainJob, watchedJob] });
    const starts = start.cpuMs.map(median) as [number, number];
    const work = whole.cpuMs.map((all, which) => all.map((ms) => ms - (starts[which] as number)));
    return {
      tables: [whole.table, { ...start.table, columns: ['a single line', ...start.table.columns.slice(1)] }],
      targets: [
        atMost(
          'processor time with `--admin`, against without, beyond that of a single line',
          ratio(work[1] as number[], work[0] as number[]),
          1.02,
          times,
        ),
      ],
      notes: [
        'A run with `--admin` loads the server and prom-client once, which a run over a single line shows. Nothing is scraped.',
      ],
    };
  },
};

const ROUNDS = 11;

type Context = PartContext & { readonly lines?: number };

async function compare(context: Context, { names, commands }: Pair): Promise<Compared> {
  const { quick, progress, lines = quick ? 100_000 : 2_000_000 } = context;
  const input = logFile(lines);
  const measured = await rounds<0 | 1, Run>([0, 1], quick ? 2 : ROUNDS, (which, round) => {
    progress(`${names[which]}, round ${round + 1}`);
    return withFolder((folder) => runToEnd(commands[which](input, folder)));
  });
  const runs = (which: 0 | 1) => measured.get(which) ?? [];
  const cpu = (which: 0 | 1) => runs(which).map(({ cpuMs }) => cpuMs);
  const speeds = (which: 0 | 1) => runs(which).map(({ wallMs }) => perSecond(lines, wallMs));
  return {
    cpu: ratio(cpu(1), cpu(0)),
    cpuMs: [cpu(0), cpu(1)],
    speed: ratio(speeds(1), speeds(0)),
    table: {
      cells: 'figures',
      columns: ['', 'lines a second', 'processor time'],
      rows: ([0, 1] as const).map((which) => [
        names[which],
        count(median(speeds(which))),
        seconds(median(cpu(which))),
      ]),
    },
  };
}
