import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { findRotated } from '../../../operators/files/follow/find-rotated.ts';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { type FileSystem, replaceFileSystem } from '../../../operators/support/file-system.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers, openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
const follow: Followers['follow'] = (...args) => followers.follow(...args);
afterEach(() => {
  followers.stopAll();
});

describe('followFiles, as files are rotated', () => {
  it('finishes a rotated file before the one that takes its place, even with a backlog', async () => {
    fs.writeFileSync(folder('a'), 'old\n'.repeat(2000));
    const demand = new InFlightWindow(100);
    const { lines } = follow([folder('a')], { demand, chunkBytes: 64 }, (batch) =>
      demand.take(batch.lines.length),
    );
    await eventually(() => expect(lines().length).toBe(100));
    const writer = fs.openSync(folder('a'), 'a');
    fs.renameSync(folder('a'), folder('a.1'));
    fs.writeFileSync(folder('a'), 'new\n');
    fs.writeSync(writer, 'late\n');
    await eventually(() => {
      demand.release(demand.open);
      expect(lines().length).toBe(2002);
    });
    expect(lines().slice(-2)).toEqual(['late', 'new']);
    fs.writeSync(writer, 'very late\n');
    await eventually(() => expect(lines().at(-1)).toBe('very late'));
    fs.closeSync(writer);
    await eventually(() => expect(openFiles(folder())).toBe(1));
  });

  describe('keeps the order of a writer that goes on writing to the renamed file, then to the new one', () => {
    /** Appends lines in one step, so that the reader sees all of them or none. */
    const append = (fd: number, from: number, count: number) =>
      fs.writeSync(fd, Array.from({ length: count }, (_, n) => `${from + n}\n`).join(''));

    it.each([
      { when: 'by its path', paths: ['a'] },
      { when: 'among all generations', paths: ['a*'] },
      { when: 'with one descriptor', paths: ['a'], maxOpenFiles: 1 },
    ])('$when', async ({ paths, maxOpenFiles = 100 }) => {
      const expected: string[] = [];
      let old = fs.openSync(folder('a'), 'a');
      const settings = { chunkBytes: 64, quietPolls: 1e9, maxOpenFiles };
      const { lines, ready } = follow(paths.map(folder), settings);
      await ready;
      for (let turn = 0; turn < 3; turn++) {
        fs.renameSync(folder('a'), folder(`a${turn}`));
        const next = fs.openSync(folder('a'), 'a');
        // The successor is known, and both are at their ends, when they grow.
        fs.writeSync(next, `begin ${turn}\n`);
        expected.push(`begin ${turn}`);
        await eventually(() => expect(lines()).toEqual(expected));
        append(old, 0, 100);
        append(next, 100, 100);
        expected.push(...Array.from({ length: 200 }, (_, n) => `${n}`));
        await eventually(() => expect(lines().length).toBe(expected.length));
        expect(lines()).toEqual(expected);
        fs.closeSync(old);
        old = next;
      }
      fs.closeSync(old);
    });

    it('until the renamed one has been quiet for the usual time', async () => {
      const old = fs.openSync(folder('a'), 'a');
      const fstat = jest.spyOn(fs, 'fstat');
      const { lines, ready } = follow([folder('a*')]);
      await ready;
      fs.renameSync(folder('a'), folder('a1'));
      fs.writeFileSync(folder('a'), 'new\n');
      await eventually(() => expect(lines()).toEqual(['new']));
      for (let calls = 0, written = 1; calls < fstat.mock.calls.length; written++) {
        calls = fstat.mock.calls.length;
        fs.appendFileSync(folder('a'), 'more\n');
        await eventually(() => expect(lines().length).toBe(written + 1));
      }
      fs.writeSync(old, 'late\n');
      await eventually(() => expect(lines().at(-1)).toBe('late'));
      fs.closeSync(old);
      fstat.mockRestore();
    });
  });

  it('sees every file of a rotation with a gap in its midst, without a poll', async () => {
    fs.writeFileSync(folder('a'), '');
    const { lines, ready } = follow([folder('a')], { pollMs: 3600_000 });
    await ready;
    for (let turn = 0; turn < 5; turn++) {
      fs.appendFileSync(folder('a'), `${turn}\n`);
      await eventually(() => expect(lines().length).toBe(turn * 2 + 1));
      fs.appendFileSync(folder('a'), `last of ${turn}\n`);
      fs.renameSync(folder('a'), folder(`a.${turn}`));
      await eventually(() => expect(lines().length).toBe(turn * 2 + 2));
      fs.writeFileSync(folder('a'), '');
    }
    fs.appendFileSync(folder('a'), 'end\n');
    await eventually(() => expect(lines().at(-1)).toBe('end'));
  });

  it('does not read a file again that is renamed within the glob', async () => {
    fs.writeFileSync(folder('a.log'), 'one\n');
    const { lines } = follow([folder('*.log')]);
    await eventually(() => expect(lines()).toEqual(['one']));
    fs.renameSync(folder('a.log'), folder('a.1.log'));
    fs.writeFileSync(folder('a.log'), 'two\n');
    await eventually(() => expect(lines()).toEqual(['one', 'two']));
    fs.appendFileSync(folder('a.1.log'), 'three\n');
    await eventually(() => expect(lines()).toEqual(['one', 'two', 'three']));
  });

  it('starts over after a truncation, and keeps what was held', async () => {
    fs.writeFileSync(folder('a'), 'first line\nheld');
    const { lines, batches } = follow([folder('a')], { quietPolls: 1e9, flushPolls: 1e9 });
    await eventually(() => expect(lines()).toEqual(['first line']));
    await eventually(() => expect(openFiles(folder())).toBe(1));
    fs.truncateSync(folder('a'), 0);
    await eventually(() => expect(lines()).toEqual(['first line', 'held']));
    fs.appendFileSync(folder('a'), 'anew\n');
    await eventually(() => expect(lines()).toEqual(['first line', 'held', 'anew']));
    expect(batches.at(-1)).toMatchObject({ startOffset: 0, endOffset: 5, backfill: false });
    // Its end may be what comes first in the new life: half of a secret looks like none.
    expect(batches.map(({ isTruncated }) => isTruncated)).toEqual([false, true, false]);
  });

  it('follows a symbolic link to where it is moved', async () => {
    fs.writeFileSync(folder('one'), '1\n');
    fs.writeFileSync(folder('two'), '2\n');
    fs.symlinkSync(folder('one'), folder('link'));
    const { lines } = follow([folder('link')]);
    await eventually(() => expect(lines()).toEqual(['1']));
    fs.symlinkSync(folder('two'), folder('new'));
    fs.renameSync(folder('new'), folder('link'));
    await eventually(() => expect(lines()).toEqual(['1', '2']));
  });

  it('forgets a file that is deleted, and reads what comes in its place', async () => {
    fs.writeFileSync(folder('a'), '1\n');
    const forget = jest.fn();
    const { lines } = follow([folder('a')], { positions: { startAt: () => 0, forget } });
    await eventually(() => expect(lines()).toEqual(['1']));
    fs.rmSync(folder('a'));
    await eventually(() => expect(forget).toHaveBeenCalledTimes(1));
    await eventually(() => expect(openFiles(folder())).toBe(0));
    fs.writeFileSync(folder('a'), '2\n');
    await eventually(() => expect(lines()).toEqual(['1', '2']));
  });

  it('starts over a file that was truncated and has grown past where it was', async () => {
    fs.writeFileSync(folder('a'), 'old 1\nold 2\n');
    const { lines, ready } = follow([folder('a')], { quietPolls: 1e9, flushPolls: 1e9 });
    await ready;
    await eventually(() => expect(lines().length).toBe(2));
    // In one step, so that no look can see the file while it is short.
    fs.writeFileSync(folder('b'), 'new 1\nnew 2\nnew 3\n');
    const fd = fs.openSync(folder('a'), 'r+');
    fs.writeSync(fd, fs.readFileSync(folder('b')), 0, undefined, 0);
    fs.closeSync(fd);
    await eventually(() => expect(lines().slice(2)).toEqual(['new 1', 'new 2', 'new 3']));
  });

  it('skips the hole that a truncation leaves under a writer that does not append, and says how long it is', async () => {
    const messages: string[] = [];
    const log = { warn: (message: string) => messages.push(message), info: () => {} };
    const writer = fs.openSync(folder('a'), 'w');
    fs.writeSync(writer, 'one\ntwo\n');
    const { lines, batches } = follow([folder('a')], { log, chunkBytes: 1000 });
    await eventually(() => expect(lines()).toEqual(['one', 'two']));
    fs.truncateSync(folder('a'));
    fs.writeSync(writer, 'x', 5000);
    fs.writeSync(writer, ' three\n', 5001);
    fs.closeSync(writer);
    await eventually(() => expect(lines()).toEqual(['one', 'two', 'x three']));
    expect(batches.at(-1)).toMatchObject({ startOffset: 5000, endOffset: 5008 });
    expect(messages.at(-1)).toContain('starts with 5000 NUL bytes, which were skipped');
  });

  it.each([
    { seenBy: 'a poll', pollMs: 20, released: 0 },
    { seenBy: 'a read', pollMs: 3600_000, released: 1 },
  ])('counts what was cut off before it was read, as $seenBy finds', async ({ pollMs, released }) => {
    fs.writeFileSync(folder('a'), 'line\n'.repeat(100));
    const demand = new InFlightWindow(1);
    const gaps: number[] = [];
    const settings = { demand, chunkBytes: 5, pollMs, onGap: (bytes: number) => void gaps.push(bytes) };
    const { lines, warnings } = follow([folder('a')], settings, () => demand.take(1));
    await eventually(() => expect(lines().length).toBe(1));
    fs.truncateSync(folder('a'), 0);
    await eventually(() => {
      demand.release(Math.min(released, demand.open));
      expect(gaps.length).toBe(1);
    });
    expect(gaps[0]).toBeGreaterThan(400);
    expect(warnings).toEqual(['undefined']);
    fs.appendFileSync(folder('a'), 'new\n');
    await eventually(() => {
      demand.release(demand.open);
      expect(lines().at(-1)).toBe('new');
    });
  });

  it('marks a line whose end was cut off before it was read: half of a secret looks like none', async () => {
    fs.writeFileSync(folder('a'), `one\ntwo\n${'x'.repeat(100)}\n`);
    const demand = new InFlightWindow(1);
    const { lines, batches, warnings } = follow([folder('a')], { demand, chunkBytes: 50 }, () =>
      demand.take(1),
    );
    await eventually(() => expect(lines()).toEqual(['one']));
    fs.truncateSync(folder('a'), 0);
    await eventually(() => expect(warnings.length).toBe(1));
    fs.appendFileSync(folder('a'), 'new\n');
    await eventually(() => {
      demand.release(demand.open);
      expect(lines().at(-1)).toBe('new');
    });
    expect(batches.map(({ isTruncated }) => isTruncated)).toEqual([false, false, true, false]);
  });

  it('finds a file by its new name that was rotated away while it was not open', async () => {
    for (const name of ['a', 'b', 'c', 'd']) fs.writeFileSync(folder(name), `${name}1\n`);
    const { lines } = follow(['a', 'b', 'c', 'd'].map(folder), { maxOpenFiles: 1 });
    await eventually(() => expect(lines().length).toBe(4));
    for (const name of ['a', 'b', 'c', 'd']) {
      fs.appendFileSync(folder(name), `${name}2\n`);
      fs.renameSync(folder(name), folder(`${name}.1`));
    }
    await eventually(() => expect(lines().sort()).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'd1', 'd2']));
    await eventually(() => expect(openFiles(folder())).toBe(0));
  });

  it('looks through a folder once, however many files were rotated in it while they were not open', async () => {
    const names = Array.from({ length: 100 }, (_, n) => folder(`${n}`));
    for (const name of names) fs.writeFileSync(name, '1\n');
    const { lines } = follow([folder('*[0-9]')], { maxOpenFiles: 1, quietPolls: 1e9, pollMs: 100 });
    await eventually(() => expect(lines().length).toBe(100));
    const lstat = jest.spyOn(fs, 'lstat');
    for (const name of names) {
      fs.appendFileSync(name, `${name}\n`);
      fs.renameSync(name, `${name}.old`);
    }
    await eventually(() => expect(names.filter((name) => !lines().includes(name))).toEqual([]));
    expect(lines().length).toBe(200);
    // 100 at each poll, of which a slow machine needs some; 20,000 if each file were looked for by itself.
    expect(lstat.mock.calls.length).toBeLessThan(10_000);
    lstat.mockRestore();
  });

  describe('several times between two looks at its path', () => {
    const rotate = (rename: (n: number) => string, count = 10) => {
      for (let n = 1; n <= count; n++) {
        for (let old = count; old > 0; old--) {
          if (fs.existsSync(folder(rename(old)))) fs.renameSync(folder(rename(old)), folder(rename(old + 1)));
        }
        fs.renameSync(folder('a'), folder(rename(1)));
        fs.writeFileSync(folder('a'), `new ${n}\n`);
      }
    };
    /** Until the clock of the file system has moved on. */
    const aTick = () =>
      eventually(() => {
        fs.writeFileSync(folder('tick'), '');
        return fs.statSync(folder('tick')).ctimeMs > fs.statSync(folder('a.20')).ctimeMs;
      });
    const all = ['first', ...Array.from({ length: 10 }, (_, n) => `new ${n + 1}`)];

    it.each([
      ['by number', (n: number) => `a.${n}`],
      ['by date', (n: number) => `a-202601${40 - n}`],
    ])('reads them all, in their order, and no archive of before: %s', async (_, rename) => {
      fs.writeFileSync(folder('a.9'), 'archive\n');
      fs.writeFileSync(folder('a.20'), 'archive\n');
      await aTick();
      fs.writeFileSync(folder('a'), 'first\n');
      const { lines } = follow([folder('a')]);
      await eventually(() => expect(lines()).toEqual(['first']));
      rotate(rename);
      fs.writeFileSync(folder('a.error.1'), 'of another log\n');
      await eventually(() => expect(lines()).toEqual(all));
    });

    it('reads them also if nothing has taken their path', async () => {
      fs.writeFileSync(folder('a'), 'first\n');
      const { lines } = follow([folder('a')]);
      await eventually(() => expect(lines()).toEqual(['first']));
      rotate((n) => `a.${n}`);
      fs.renameSync(folder('a'), folder('a.0'));
      await eventually(() => expect(lines()).toEqual(all));
    });

    it('reads none again that is as old as the last one by the clock of the file system', async () => {
      fs.writeFileSync(folder('a'), 'first\n');
      const { lines } = follow([folder('a')]);
      await eventually(() => expect(lines()).toEqual(['first']));
      const status = (name: string) => fs.statSync(folder(name), { bigint: true });
      const expected = ['first'];
      // A file system whose clock is exact has no such files.
      for (let tries = 0; tries < 50; tries++) {
        rotate((n) => `a.${n}`, 2);
        expected.push('new 1', 'new 2');
        if (status('a.1').birthtimeNs >= status('a').ctimeNs) break;
      }
      await eventually(() => expect(lines()).toEqual(expected));
      await eventually(() => expect(openFiles(folder())).toBe(1));
      fs.renameSync(folder('a'), folder('a.0'));
      await eventually(() => expect(openFiles(folder())).toBe(0));
      fs.writeFileSync(folder('a'), 'last\n');
      await eventually(() => expect(lines().at(-1)).toBe('last'));
      expect(lines()).toEqual([...expected, 'last']);
    });

    it('keeps the order of files of one tick of the clock, of which some were found before another rotation', async () => {
      const rotateTwice = () => {
        for (const n of [2, 3]) {
          for (let old = 2; old > 0; old--)
            if (fs.existsSync(folder(`a.${old}`))) fs.renameSync(folder(`a.${old}`), folder(`a.${old + 1}`));
          fs.writeFileSync(folder('a.1'), `new ${n}`);
        }
      };
      let statuses = 0;
      const ofOneTick =
        (original: (...args: unknown[]) => void) => (of: unknown, options: unknown, done: unknown) =>
          original(of, options, (error: Error | null, stats?: fs.BigIntStats) => {
            if (stats !== undefined) stats.birthtimeNs = 2n;
            if (original === (fs.fstat as unknown) && statuses++ === 0) rotateTwice();
            (done as (...args: unknown[]) => void)(error, stats);
          });
      const restore = replaceFileSystem({
        ...fs,
        lstat: ofOneTick(fs.lstat as never),
        fstat: ofOneTick(fs.fstat as never),
      } as unknown as FileSystem);
      fs.writeFileSync(folder('a.1'), 'new 1');
      const last = { id: '0:0', nextSince: 1n } as const;
      const found = await findRotated(folder('a'), last, {
        isExcluded: () => false,
        isKnown: () => false,
        descriptor: () => undefined,
      });
      restore();
      for (const { fd } of found) fs.closeSync(fd);
      expect(found.map(({ head }) => head.toString())).toEqual(['new 1', 'new 2', 'new 3']);
    });

    it('reads files that begin as the one before does, for as long as its whole length too', async () => {
      const banner = `${'banner '.repeat(20_000)}\n`;
      fs.writeFileSync(folder('a'), banner);
      const { lines } = follow([folder('a')]);
      await eventually(() => expect(lines().length).toBe(1));
      fs.renameSync(folder('a'), folder('a.2'));
      fs.writeFileSync(folder('a'), `${banner}missed\n`);
      fs.renameSync(folder('a'), folder('a.1'));
      fs.writeFileSync(folder('a'), `${banner}new\n`);
      await eventually(() => expect(lines().filter((line) => line.length < 10)).toEqual(['missed', 'new']));
    });

    it('reads no copy of what it has read, and nothing that is excluded', async () => {
      const text = `${'first '.repeat(20)}\n`;
      fs.writeFileSync(folder('a'), text);
      const { lines } = follow([folder('a')], { isExcluded: (path) => path.endsWith('.7') });
      await eventually(() => expect(lines().length).toBe(1));
      fs.copyFileSync(folder('a'), folder('a.1'));
      fs.writeFileSync(folder('a.7'), 'excluded\n');
      fs.renameSync(folder('a'), folder('a.2'));
      fs.writeFileSync(folder('a'), 'new\n');
      await eventually(() => expect(lines().slice(1)).toEqual(['new']));
    });
  });
});
