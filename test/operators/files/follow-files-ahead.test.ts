import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers, openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
afterEach(() => {
  followers.stopAll();
  jest.restoreAllMocks();
});

/** Ten bytes each, so that five fill a chunk. */
const linesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name} ${String(i).padStart(5, '0')}`);
const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

/** Follows `a` with room for one line, until two chunks of it are read. */
async function followWithOneAhead({ pollMs = 3600_000 } = {}) {
  const demand = new InFlightWindow(1);
  const ended = readsThatEnd();
  const settings = { demand, chunkBytes: 50, pollMs };
  const following = followers.follow([folder('a')], settings, (batch) => demand.take(batch.size));
  await eventually(() => expect([ended(), following.lines().length]).toEqual([2, 1]));
  return { ...following, drain: () => demand.release(demand.open) };
}

/** Counts the reads of chunks that have ended. */
function readsThatEnd(): () => number {
  const read = fs.read as unknown as (...args: unknown[]) => void;
  let ended = 0;
  jest.spyOn(fs, 'read').mockImplementation(((...args: unknown[]) => {
    const callback = args.pop() as (...results: unknown[]) => void;
    read(...args, (...results: unknown[]) => {
      callback(...results);
      if ((args[3] as number) <= 50 + 64) ended++;
    });
  }) as never);
  return () => ended;
}

describe('followFiles, reading ahead', () => {
  it('reads the next chunk while the lines of one wait to be taken, and no further', async () => {
    const lines = linesOf('old', 23);
    fs.writeFileSync(folder('a'), textOf(lines));
    const following = await followWithOneAhead();
    await eventually(() => {
      following.drain();
      expect(following.lines()).toEqual(lines);
    });
  });

  it('emits what was read of a file that is overwritten since, then all of the new one', async () => {
    const [old, young] = [linesOf('old', 15), linesOf('new', 40)];
    fs.writeFileSync(folder('a'), textOf(old));
    const following = await followWithOneAhead();
    const fd = fs.openSync(folder('a'), 'r+');
    fs.writeSync(fd, textOf(young), 0);
    fs.closeSync(fd);
    await eventually(() => {
      following.drain();
      expect(following.lines()).toEqual([...old.slice(0, 10), ...young]);
    });
  });

  it('drops what was read of a file that is shorter by then', async () => {
    const [old, young] = [linesOf('old', 15), linesOf('new', 2)];
    fs.writeFileSync(folder('a'), textOf(old));
    const following = await followWithOneAhead({ pollMs: 20 });
    fs.writeFileSync(folder('a'), textOf(young));
    await eventually(() => expect(following.warnings).toHaveLength(1));
    await eventually(() => {
      following.drain();
      expect(following.lines()).toEqual([...old.slice(0, 5), ...young]);
    });
  });

  it('closes the file that is being read ahead when it is stopped', async () => {
    fs.writeFileSync(folder('a'), textOf(linesOf('old', 100)));
    for (let i = 0; i < 20; i++) {
      const settings = { demand: new InFlightWindow(1000), chunkBytes: 50 };
      const following = followers.follow([folder('a')], settings);
      await eventually(() => expect(following.lines().length).toBeGreaterThan(i));
      following.subscription.unsubscribe();
    }
    await eventually(() => expect(openFiles(folder())).toBe(0));
  });
});
