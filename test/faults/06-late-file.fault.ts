import { describe, it } from '@jest/globals';
import { expectEveryLineOnce, LAST_WRITE, MEETINGS } from './support/rotations.ts';
import type { Trial } from './support/trial.ts';

describe.each(MEETINGS)('files that appear $when', (meeting) => {
  it('are read from their beginning, also without `backfill`, in folders that appear as well', async () => {
    await expectEveryLineOnce(meeting, {
      paths: 'in/**/*.log',
      backfill: false,
      begin: () => {},
      rotate: (trial: Trial, round) => {
        trial.appendLines(`in/${round}.log`, 200);
        trial.appendLines(`in/deep/${round}/late.log`, 200);
        // One that is complete before it is seen, as those that are moved in.
        trial.appendLines(`elsewhere/${round}`, LAST_WRITE);
        trial.rename(`elsewhere/${round}`, `in/moved-${round}.log`);
      },
    });
  });
});
