import { expect, it } from '@jest/globals';
import { noSmallDisk, smallDisk } from '../support/small-disk.ts';
import { byForm, SEED } from './support/form.ts';
import { type Figures, Life } from './support/life.ts';

const LIVES = Number(process.env.FAULTS_LIVES ?? byForm({ short: 5, long: 100 }));
const AT_A_TIME = 3;
const DISK_KILOBYTES = 64 * 1024;

if (noSmallDisk !== undefined)
  process.stderr.write(`30-random-lives.fault.ts: no full disks: ${noSmallDisk}\n`);

it(`${LIVES} lives of random acts: every line that is promised comes, once where that is promised, masked and whole`, async () => {
  const figures: Figures = {
    lives: 0,
    lines: 0,
    kills: 0,
    stops: 0,
    rotations: 0,
    excused: 0,
    lost: 0,
    twice: 0,
    repeats: 0,
    torn: 0,
    outOfOrder: 0,
    leaked: 0,
  };
  const faults: string[] = [];
  let next = SEED;
  const liveOn = async () => {
    const disk = noSmallDisk === undefined ? smallDisk(DISK_KILOBYTES) : undefined;
    while (next < SEED + LIVES) {
      const seed = next++;
      const fault = await new Life(seed, disk, figures).run();
      if (fault === undefined) continue;
      faults.push(`seed ${seed}`);
      process.stderr.write(`\nFAULTS_SEED=${seed} FAULTS_LIVES=1 repeats this life\n${fault}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, LIVES) }, liveOn));
  process.stderr.write(
    `${Object.entries(figures)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ')}\n`,
  );
  expect(faults).toEqual([]);
});
