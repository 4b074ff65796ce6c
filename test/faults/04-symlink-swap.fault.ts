import fs from 'node:fs';
import { describe, it } from '@jest/globals';
import { expectEveryLineOnce, followed, LAST_WRITE, MEETINGS } from './support/rotations.ts';
import type { Trial } from './support/trial.ts';

/** Leads `in/current.log` to a file, in one step. */
function lead(trial: Trial, target: string): void {
  fs.symlinkSync(target, trial.path('in/new'));
  trial.rename('in/new', 'in/current.log');
}

describe.each(MEETINGS)('a symbolic link that is led to another file, $when', (meeting) => {
  it('is followed there, and the file before is read to its end', async () => {
    await expectEveryLineOnce(meeting, {
      paths: 'in/current.log',
      begin: (trial) => {
        trial.appendLines('in/0.log', 300);
        lead(trial, '0.log');
      },
      ready: followed,
      rotate: (trial, round) => {
        trial.appendLines(`in/${round - 1}.log`, 200);
        trial.appendLines(`in/${round}.log`, LAST_WRITE);
        lead(trial, `${round}.log`);
      },
    });
  });
});
