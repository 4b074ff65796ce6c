import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { noSmallDisk, smallDisk } from '../support/small-disk.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const KILLS = byForm({ short: 10, long: 100 });
const BUFFER = 'buffer: { type: disk, path: buffer }';

if (noSmallDisk !== undefined) process.stderr.write(`28-buffer.fault.ts, in part: skipped: ${noSmallDisk}\n`);
const onSmallDisk = noSmallDisk === undefined ? it : it.skip;

/** What the buffer holds is checked too: nothing unmasked may reach the disk. */
const verdictOf = (trial: Trial) =>
  trial.verdict({ others: [trial.path('dead'), trial.path('state'), trial.path('buffer')] });

describe('a buffer on disk', () => {
  it(`kill -9 at ${KILLS} points: nothing is lost, and nothing unmasked is in the buffer`, async () => {
    const trial = new Trial(fileToDisk({ pipeline: BUFFER }));
    const { oracle } = trial;
    const leaks: string[] = [];
    trial.appendLines('in/a.log', 300);
    for (let turn = 0; turn < KILLS; turn++) {
      const before = trial.outputBytes;
      const child = await trial.run();
      trial.appendLines('in/a.log', oracle.between(500, 5000));
      if (turn % 2 === 0) await delay(oracle.between(0, 300));
      else await trial.until(() => trial.outputBytes > before);
      await kill(child);
      leaks.push(...verdictOf(trial).leaks);
      if (oracle.random() < 0.3) trial.rename('in/a.log', `in/a.log.${turn}`);
      trial.appendLines('in/a.log', oracle.between(1, 50));
    }
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    const verdict = verdictOf(trial);
    expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled: verdict.doubled });
    expect(leaks).toEqual([]);
  });

  it('takes events while the output is away, over kills, and delivers them in order when it is back', async () => {
    const away = 'plugin: disk, path: away/out, filename: out.jsonl';
    const trial = new Trial(fileToDisk({ pipeline: BUFFER, forwarder: away }));
    trial.append('away', 'a file where the folder of the output belongs\n');
    for (let round = 0; round < 3; round++) {
      trial.appendLines('in/a.log', 2000);
      const child = await trial.run();
      await child.shows('stderr', /cannot write/);
      await kill(child);
    }
    trial.write('p.yaml', fileToDisk({ pipeline: BUFFER }));
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    const verdict = verdictOf(trial);
    expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled: verdict.doubled });
  });

  onSmallDisk('on a full disk: says so, takes no more until there is room, and loses nothing', async () => {
    const trial = new Trial(fileToDisk());
    const disk = smallDisk(4096);
    const buffer = `buffer: { type: disk, path: ${disk.path}/buffer, max_bytes: 16MiB }`;
    trial.write('p.yaml', fileToDisk({ pipeline: buffer }));
    disk.leave(8192);
    trial.append('in/a.log', trial.oracle.lines(4000));
    const child = await trial.run();
    await child.shows('stderr', /cannot write to .*buffer: .*ENOSPC.*make room/);
    disk.leave(3 * 1024 * 1024);
    await trial.allDelivered();
    expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
    const verdict = verdictOf(trial);
    expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled: 0 });
  });
});
