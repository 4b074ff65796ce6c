import { expect } from '@jest/globals';
import type { CliProcess } from '../../support/cli.ts';
import { byForm } from './form.ts';
import { type FileToDisk, FLAWLESS, fileToDisk, kill, Trial } from './trial.ts';

const ROUNDS = byForm({ short: 3, long: 40 });

/** When a rotation happens: with the settings under which every line has to come once. */
export const MEETINGS = [
  { when: 'while it runs', end: undefined, settings: {} },
  // One event at a time, and slowly: most of the lines wait when their file is rotated.
  {
    when: 'while there is a backlog',
    end: undefined,
    settings: { delay: 0.004, pipeline: 'max_in_flight: 2' },
  },
  { when: 'while it is stopped', end: 'SIGTERM', settings: {} },
  // By default a kill doubles what was open, which would hide what a rotation doubles.
  { when: 'while it is killed', end: 'SIGKILL', settings: { pipeline: 'exactly_once: true', delay: 0.004 } },
] as const satisfies readonly {
  when: string;
  end: NodeJS.Signals | undefined;
  settings: FileToDisk;
}[];

export type Meeting = (typeof MEETINGS)[number];

/** What happens to the input of a trial, round after round. */
export interface Rotation {
  readonly paths: string;
  /** Default: true. */
  readonly backfill?: boolean;
  /** Makes the input, with its first lines. */
  begin(trial: Trial): void;
  /** Rotates it, however far it is read, and writes on. */
  rotate(trial: Trial, round: number): void;
  /** What has to be so before it is rotated. Default: nothing. */
  ready?(trial: Trial): Promise<void>;
}

/** Rotates an input again and again, and expects every line once, whatever the process does meanwhile. */
export async function expectEveryLineOnce({ end, settings }: Meeting, rotation: Rotation): Promise<Trial> {
  const { paths, backfill = true } = rotation;
  const trial = new Trial(fileToDisk({ paths, backfill, ...settings }));
  rotation.begin(trial);
  let child: CliProcess = await trial.run();
  for (let round = 1; round <= ROUNDS; round++) {
    await rotation.ready?.(trial);
    if (end !== undefined) await kill(child, end);
    rotation.rotate(trial, round);
    if (end !== undefined) child = await trial.run();
  }
  await trial.allDelivered();
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  return trial;
}

/** Waits until a new line has come out of the file that is there now: it is followed. */
export async function followed(trial: Trial): Promise<void> {
  const before = trial.oracle.written;
  await trial.until(() => {
    const newest = Math.max(-1, ...trial.oracle.found([trial.path('out')]).keys());
    return newest >= before - LAST_WRITE;
  });
}

/** Lines that each round writes at the end of it, into the file that is there then. */
export const LAST_WRITE = 30;
