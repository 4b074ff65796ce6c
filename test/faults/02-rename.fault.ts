import { describe, it } from '@jest/globals';
import { expectEveryLineOnce, followed, LAST_WRITE, MEETINGS } from './support/rotations.ts';
import type { Trial } from './support/trial.ts';

const begin = (trial: Trial) => trial.appendLines('in/a.log', 500);

/** The writer is told late, as logrotate does without `copytruncate`: it writes to the old file for a while. */
function renameAndCreate(trial: Trial, round: number): void {
  trial.appendLines('in/a.log', 300);
  trial.rename('in/a.log', `in/a.log.${round}`);
  trial.appendLines(`in/a.log.${round}`, 20);
  trial.appendLines('in/a.log', LAST_WRITE);
}

describe.each(MEETINGS)('files that are renamed, and begun anew, $when', (meeting) => {
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
