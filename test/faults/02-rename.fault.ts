import { describe, expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { expectEveryLineOnce, followed, LAST_WRITE, MEETINGS } from './support/rotations.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const begin = (trial: Trial) => trial.appendLines('in/a.log', 500);

/** The writer is told late, as logrotate does without `copytruncate`: it writes to the old file for a while. */
function renameAndCreate(trial: Trial, round: number): void {
  trial.appendLines('in/a.log', 300);
  trial.rename('in/a.log', `in/a.log.${round}`);
  trial.appendLines(`in/a.log.${round}`, 20);
  trial.appendLines('in/a.log', LAST_WRITE);
}

describe.each(MEETINGS)('files that are renamed and created again, $when', (meeting) => {
  it('are read to their ends, at a path', async () => {
    // One that is rotated twice between two looks was never at the path.
    await expectEveryLineOnce(meeting, {
      paths: 'in/a.log',
      begin,
      ready: followed,
      rotate: renameAndCreate,
    });
  });

  it('are read to their ends, each once, when all generations are matched', async () => {
    await expectEveryLineOnce(meeting, { paths: 'in/a.log*', begin, rotate: renameAndCreate });
  });

  it('are read to their ends when all generations move up by one', async () => {
    const rotate = (trial: Trial, round: number) => {
      for (let n = round - 1; n > 0; n--) trial.rename(`in/a.log.${n}`, `in/a.log.${n + 1}`);
      renameAndCreate(trial, 1);
    };
    await expectEveryLineOnce(meeting, { paths: 'in/a.log*', begin, rotate });
  });
});

it.each([
  { what: 'of a path', paths: 'in/a.log' },
  { what: 'of all generations', paths: 'in/a.log*' },
  { what: 'with workers', paths: 'in/a.log', pipeline: 'workers: 2' },
])('lines $what keep their order when the old file grows, then the new one', async (settings) => {
  const trial = new Trial(fileToDisk(settings));
  begin(trial);
  const child = await trial.run();
  for (let round = 1; round <= byForm({ short: 2, long: 20 }); round++) {
    await trial.allDelivered();
    trial.rename('in/a.log', `in/a.log.${round}`);
    trial.appendLines('in/a.log', LAST_WRITE);
    await trial.allDelivered();
    // It finds several chunks of each at a time.
    child.kill('SIGSTOP');
    trial.appendLines(`in/a.log.${round}`, 10_000);
    trial.appendLines('in/a.log', 10_000);
    child.kill('SIGCONT');
  }
  await trial.allDelivered();
  expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
  const { seed, written } = trial.oracle;
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed });
  const ids = [...trial.oracle.found([trial.path('out')]).keys()];
  expect(ids.findIndex((id, n) => id !== n)).toBe(-1);
  expect(ids.length).toBe(written);
});
