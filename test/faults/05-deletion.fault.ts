import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { expectEveryLineOnce, followed, LAST_WRITE, MEETINGS } from './support/rotations.ts';
import { FLAWLESS, fileToDisk, kill, Trial as NewTrial, type Trial } from './support/trial.ts';

const INPUT = 'in/a.log';
const begin = (trial: Trial) => trial.appendLines(INPUT, 200);

describe.each(MEETINGS)('a file that is deleted and made again, $when', (meeting) => {
  it('is read from its beginning, as a new file', async () => {
    await expectEveryLineOnce(meeting, {
      paths: INPUT,
      begin,
      // What was not read of a file that is gone when a run begins, is lost.
      ready: meeting.end === undefined ? followed : (trial) => trial.allAcknowledged(),
      rotate: (trial) => {
        fs.rmSync(trial.path(INPUT));
        trial.appendLines(INPUT, LAST_WRITE);
      },
    });
  });

  it('is read from its beginning also if it has the inode of the deleted one', async () => {
    await expectEveryLineOnce(meeting, {
      paths: INPUT,
      begin,
      ready: (trial) => trial.allAcknowledged(),
      rotate: (trial, round) => {
        // The surest way to an inode that is used again: the same one, with other bytes from the first one on.
        trial.rename(INPUT, `in/reused.${round}`);
        fs.writeFileSync(trial.path(`in/reused.${round}`), trial.oracle.lines(round % 2 === 0 ? 400 : 10));
        trial.rename(`in/reused.${round}`, INPUT);
        trial.appendLines(INPUT, LAST_WRITE);
      },
    });
  });
});

it('what a deleted file still holds is read, as long as it is open', async () => {
  const trial = new NewTrial(fileToDisk({ paths: INPUT, delay: 0.004, pipeline: 'max_in_flight: 2' }));
  trial.appendLines(INPUT, 2000);
  const child = await trial.run();
  await trial.until(() => trial.delivered > 0);
  fs.rmSync(trial.path(INPUT));
  await trial.allDelivered();
  await kill(child, 'SIGTERM');
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});
