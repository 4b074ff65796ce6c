import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import {
  AcknowledgedPositions,
  type AcknowledgedPositionsOptions,
  type FilePosition,
  type GoneFile,
} from '../../../operators/files/follow/acknowledged-positions.ts';
import { fingerprintOf, HEAD_BYTES } from '../../../operators/files/follow/file-fingerprint.ts';
import type { FileId } from '../../../operators/files/follow/file-status.ts';
import type { FollowSettings } from '../../../operators/files/follow-files.ts';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers, openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
let store = new Map<string, FilePosition>();
afterEach(() => {
  followers.stopAll();
  store = new Map();
  jest.restoreAllMocks();
});

/** One run; every line is acknowledged at once, unless `acknowledges` says no. Positions are kept as JSON. */
function run(
  paths: string[],
  options: Partial<AcknowledgedPositionsOptions & FollowSettings> & {
    acknowledges?: (line: string) => boolean;
  } = {},
  each = () => {},
) {
  store = new Map(JSON.parse(JSON.stringify([...store])));
  const { backfill = true, isFollowed, wasFollowed, onGone, acknowledges = () => true, ...rest } = options;
  let truncations = 0;
  const onTruncation = () => truncations++;
  const positions = new AcknowledgedPositions(store, {
    backfill,
    ...(isFollowed && { isFollowed }),
    ...(wasFollowed && { wasFollowed }),
    ...(onGone && { onGone }),
  });
  let isAcknowledging = true;
  const run = followers.follow(paths.map(folder), { onTruncation, ...rest, positions }, (batch) => {
    each();
    isAcknowledging &&= batch.lines.every(acknowledges);
    if (isAcknowledging) positions.acknowledge(batch);
  });
  return { ...run, stop: () => run.subscription.unsubscribe(), truncations: () => truncations };
}

/** Runs until these lines have come, then stops. */
async function read(paths: string[], lines: string[], options: Parameters<typeof run>[1] = {}) {
  const { batches, lines: found, stop } = run(paths, { quietPolls: 1e9, flushPolls: 1e9, ...options });
  await eventually(() => expect(found()).toEqual(lines));
  stop();
  return batches;
}

/** The next call fails that is made for a file. */
function failOnce(call: 'open' | 'read', code: string) {
  jest.spyOn(fs, call).mockImplementationOnce(((...args: unknown[]) => {
    process.nextTick(args.at(-1) as (error: Error) => void, Object.assign(new Error(code), { code }));
  }) as never);
}

/** Tells whether a read behind the first `bytes` of a file has ended; the look at what it begins with aside. */
function readsBehind(bytes: number): () => boolean {
  const read = fs.read as (...args: unknown[]) => void;
  // A run that was stopped may still read at its end; the new one starts with the first bytes.
  let hasStarted = false;
  let hasRead = false;
  jest.spyOn(fs, 'read').mockImplementation(((...args: unknown[]) => {
    const [, , , length, at] = args;
    const done = args.pop() as (...results: unknown[]) => void;
    read(...args, (...results: unknown[]) => {
      if (Number(at) === 0 && Number(length) === HEAD_BYTES) hasStarted = true;
      else if (hasStarted && Number(at) + Number(length) > bytes) hasRead = true;
      done(...results);
    });
  }) as never);
  return () => hasRead;
}

/** As if truncated and rewritten so quickly that no poll sees it shorter. */
function overwrite(name: string, text: string) {
  const fd = fs.openSync(folder(name), 'r+');
  fs.writeSync(fd, text);
  fs.closeSync(fd);
}

const append = (name: string, text: string) => fs.appendFileSync(folder(name), text);
const rename = (from: string, to: string) => fs.renameSync(folder(from), folder(to));
const offsets = () => [...store.values()].map(({ offset }) => offset);

describe('followFiles, across a restart', () => {
  it('goes on behind what is acknowledged, and not behind what is not', async () => {
    append('a', '1\n2\n3\n');
    await read(['a'], ['1', '2', '3'], { batchLines: 1, acknowledges: (line) => line !== '2' });
    expect(offsets()).toEqual([2]);
    append('a', '4\n');
    await read(['a'], ['2', '3', '4']);
  });

  it('finishes a file that was renamed meanwhile, before the one that took its path', async () => {
    append('a.log', '1\n2\n');
    await read(['a.log'], ['1', '2']);
    append('a.log', '3\n'.repeat(1000));
    rename('a.log', 'a.log.1');
    append('a.log', 'new\n');
    const { lines } = run(['a.log'], { chunkBytes: 64 });
    await eventually(() => expect(lines()).toEqual([...Array(1000).fill('3'), 'new']));
    await eventually(() => expect(offsets().sort()).toEqual([2004, 4]));
    await eventually(() => expect(openFiles(folder())).toBe(1));
  });

  it('begins at the first byte of a file after a truncation that cut a line with the same first bytes', async () => {
    append('a', 'start\n2026-11-22 cut');
    const { batches, lines, stop } = run(['a'], { flushPolls: 1e9 });
    await eventually(() => expect(lines()).toEqual(['start']));
    fs.truncateSync(folder('a'));
    await eventually(() => expect(batches).toMatchObject([{ isTruncated: false }, { isTruncated: true }]));
    stop();
    append('a', 'start\n2026-11-22 cut differently\n');
    await read(['a'], ['start', '2026-11-22 cut differently']);
  });

  it('knows a file by what was read of it, though it was another one when it was found', async () => {
    append('a', '1\n2\n');
    const demand = new InFlightWindow(1);
    const { lines, stop } = run(['a', 'b'], { demand }, () => demand.take(1));
    await eventually(() => expect(lines()).toEqual(['1']));
    // It is opened, and its turn does not come.
    append('b', 'old\n'.repeat(10));
    await eventually(() => expect(openFiles(folder())).toBe(2));
    fs.writeFileSync(folder('b'), 'new\n'.repeat(20));
    await eventually(() => {
      demand.release(demand.open);
      expect(lines()).toEqual(['1', '2', ...Array(20).fill('new')]);
    });
    stop();
    append('b', 'more\n');
    await read(['a', 'b'], ['more']);
  });

  it('finishes a file that was renamed, however many restarts that takes', async () => {
    const isFollowed = (path: string) => path === folder('a.log');
    append('a.log', '1\n2\n3\n4\n');
    await read(['a.log'], ['1', '2', '3', '4'], {
      batchLines: 1,
      acknowledges: (line) => line < '2',
      isFollowed,
    });
    rename('a.log', 'a.log.1');
    append('a.log', 'new\n');
    const rest = ['2', '3', '4', 'new'];
    await read(['a.log'], rest, { batchLines: 1, acknowledges: (line) => line < '3', isFollowed });
    await read(['a.log'], rest.slice(1), { batchLines: 1, acknowledges: () => false, isFollowed });
    rename('a.log.1', 'a.log.2');
    await read(['a.log'], rest.slice(1), { isFollowed });
  });

  it('follows what took the path of a file that was renamed, not its new name, when both are rotated during the start', async () => {
    const isFollowed = (path: string) => path === folder('a.log');
    append('a.log', 'a\n');
    await read(['a.log'], ['a'], { acknowledges: () => false, isFollowed });
    rename('a.log', 'a.log.1');
    append('a.log', 'b\n');
    const isTakenUp = () => [...store.values()].some(({ path }) => path === folder('a.log.1'));
    const { lstat } = fs;
    const rotateFirst = async (look: () => void) => {
      const told = new Promise<unknown>((resolve) => {
        const watcher = fs.watch(folder('a.log.1'), (event) => {
          if (event !== 'rename') return;
          watcher.close();
          resolve(event);
        });
      });
      rotate();
      await told;
      // Whatever is looked at because of the event comes before the path.
      for (let n = 0; n < 20; n++) await fs.promises.stat(folder());
      look();
    };
    let isRotated = false;
    jest.spyOn(fs, 'lstat').mockImplementation(((...args: Parameters<typeof lstat>) => {
      if (isRotated || args[0] !== folder('a.log') || !isTakenUp()) {
        lstat(...args);
        return;
      }
      isRotated = true;
      void rotateFirst(() => lstat(...args));
    }) as never);
    await read(['a.log'], ['a', 'b', 'c'], { acknowledges: () => false, isFollowed });
    expect([...store.values()].map(({ followedAt }) => followedAt)).toEqual(Array(3).fill(folder('a.log')));
    rotate();
    await read(['a.log'], ['a', 'b', 'c'], { isFollowed });

    function rotate() {
      if (fs.existsSync(folder('a.log.2'))) rename('a.log.2', 'a.log.3');
      rename('a.log.1', 'a.log.2');
      rename('a.log', 'a.log.1');
      fs.writeFileSync(folder('a.log'), isRotated && fs.existsSync(folder('a.log.3')) ? '' : 'c\n');
    }
  });

  it('finishes a renamed file that is renamed again while it is looked for', async () => {
    const isFollowed = (path: string) => path === folder('a.log');
    append('a.log', 'a\n');
    await read(['a.log'], ['a'], { acknowledges: () => false, isFollowed });
    rename('a.log', 'a.log.1');
    append('a.log', 'b\n');
    append('empty', '');
    const { open } = fs;
    jest.spyOn(fs, 'open').mockImplementationOnce(((...args: Parameters<typeof open>) => {
      rename('a.log.1', 'a.log.2');
      rename('empty', 'a.log.1');
      open(...args);
    }) as never);
    await read(['a.log'], ['a', 'b'], { isFollowed });
  });

  it('finishes a renamed file of which only a rotated name is known', async () => {
    const isFollowed = (path: string) => path === folder('a.log');
    append('a.log', 'a\n');
    await read(['a.log'], ['a'], { acknowledges: () => false, isFollowed });
    for (const [id, position] of store) store.set(id, { ...position, followedAt: folder('a.log.1') });
    rename('a.log', 'a.log.2');
    append('a.log', 'b\n');
    await read(['a.log'], ['a', 'b'], { isFollowed });
  });

  it.each([
    ['by the order in which they came', true],
    ['by their times, where that is not known', false],
  ])('finishes several that were followed at one path in their order: %s', async (_, hasSequence) => {
    const isFollowed = (path: string) => path === folder('a.log');
    const text = (letter: string) => `${letter}1\n${letter}2\n`;
    append('a.log', text('a'));
    const { lines, stop } = run(['a.log'], { acknowledges: () => false, isFollowed });
    await eventually(() => expect(lines()).toEqual(['a1', 'a2']));
    rename('a.log', 'a.log.1');
    append('a.log', text('b'));
    await eventually(() => expect(lines()).toEqual(['a1', 'a2', 'b1', 'b2']));
    stop();
    // The order of the folder, and of what is known, may be any.
    rename('a.log.1', 'z');
    rename('a.log', 'b');
    store = new Map([...store].reverse());
    const [older, newer] = hasSequence ? [2000, 1000] : [1000, 2000];
    fs.utimesSync(folder('z'), older, older);
    fs.utimesSync(folder('b'), newer, newer);
    if (!hasSequence) for (const [id, position] of store) store.set(id, { ...position, sequence: 0 });
    append('a.log', text('c'));
    const all = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'];
    await read(['a.log'], all, { chunkBytes: 3, batchLines: 1, isFollowed });
  });

  it.each([
    ['a.log', 'a.log.1'],
    ['a.log.1', 'a.log'],
  ])(
    'finishes one before the other that has its path by now, whichever was found first: %s',
    async (first, second) => {
      const sequences = [first, second].map((name) => folder(name));
      append('a.log.1', 'a1\na2\n');
      append('a.log', 'b1\nb2\n');
      const all = ['a1', 'a2', 'b1', 'b2'];
      const { lines, stop } = run(['a.log.1', 'a.log'], { acknowledges: () => false });
      await eventually(() => expect(lines().sort()).toEqual(all));
      stop();
      for (const [id, position] of store) {
        store.set(id, { ...position, sequence: sequences.indexOf(position.path) + 1 });
      }
      rename('a.log.1', 'a.log.2');
      rename('a.log', 'a.log.1');
      append('a.log', 'c1\n');
      await read(['a.log.1', 'a.log'], [...all, 'c1'], { chunkBytes: 3, batchLines: 1 });
    },
  );

  it('finishes several that were renamed within reach of the glob', async () => {
    append('a.log', '1\n');
    await read(['a*'], ['1']);
    append('a.log', '2\n');
    rename('a.log', 'a.log.1');
    append('a.log', '3\n');
    rename('a.log.1', 'a.log.2');
    rename('a.log', 'a.log.1');
    append('a.log', '4\n');
    const { lines } = run(['a*']);
    await eventually(() => expect(lines().sort()).toEqual(['2', '3', '4']));
    expect(store.size).toBe(3);
  });

  it('reads nothing of a file that only has the inode of one that is gone', async () => {
    append('a.log', '1\n');
    await read(['a.log'], ['1']);
    rename('a.log', 'unrelated');
    fs.writeFileSync(folder('unrelated'), 'secret\n');
    append('a.log', '2\n');
    await read(['a.log'], ['2']);
  });

  it('reads nothing of another file that has the inode and the beginning of one that is gone', async () => {
    const banner = `${'='.repeat(1200)}\n`;
    append('a.log', `${banner}1\n`);
    await read(['a.log'], [banner.trim(), '1']);
    rename('a.log', 'unrelated');
    fs.writeFileSync(folder('unrelated'), `${banner}secret\n`);
    append('a.log', '2\n');
    await read(['a.log'], ['2']);
  });

  it('does not look for files of paths that are not followed any more', async () => {
    append('a.log', '1\n');
    await read(['a.log'], ['1']);
    append('a.log', '2\n');
    rename('a.log', 'a.log.1');
    append('b.log', 'b\n');
    await read(['b.log'], ['b'], { isFollowed: (path) => path.endsWith('b.log') });
  });

  it.each([
    ['shorter', 'x\n'],
    ['as long', '9\n8\n7\n'],
    ['longer', 'new 1\nnew 2\nnew 3\n'],
  ])('starts over a file that was truncated and has grown: %s', async (_, text) => {
    append('a', '1\n2\n3\n');
    await read(['a'], ['1', '2', '3']);
    fs.writeFileSync(folder('a'), text);
    await read(['a'], text.trimEnd().split('\n'), { backfill: false });
  });

  it('knows a file that has only grown, however short it was', async () => {
    append('a', '1\n');
    await read(['a'], ['1']);
    append('a', `${'x'.repeat(600)}\n`);
    await read(['a'], ['x'.repeat(600)]);
    append('a', `${'y'.repeat(600)}\n`);
    await read(['a'], ['y'.repeat(600)]);
    expect([...store.values()][0]?.fingerprint.length).toBe(1024);
    append('a', 'z\n');
    await read(['a'], ['z']);
  });

  it.each([
    ['open', 'EACCES'],
    ['read', 'EIO'],
  ] as const)('starts over a file that was replaced, though its first %s fails', async (call, code) => {
    append('a', 'a1\na2\na3\n');
    await read(['a'], ['a1', 'a2', 'a3']);
    fs.writeFileSync(folder('a'), 'B1\nB2\nB3\nB4\n');
    failOnce(call, code);
    const batches = await read(['a'], ['B1', 'B2', 'B3', 'B4'], { backfill: false });
    expect(batches.some(({ backfill }) => backfill)).toBe(false);
  });

  it.each([
    ['open', 'EMFILE'],
    ['read', 'EIO'],
  ] as const)(
    'goes on in a file that has only grown, though its first %s fails, and knows it later',
    async (call, code) => {
      append('a', 'a1\na2\na3\n');
      await read(['a'], ['a1', 'a2', 'a3']);
      append('a', 'a4\n');
      failOnce(call, code);
      await read(['a'], ['a4']);
      fs.writeFileSync(folder('a'), 'B1\nB2\nB3\nB4\nB5\n');
      await read(['a'], ['B1', 'B2', 'B3', 'B4', 'B5']);
    },
  );

  it('starts at the end of what was there, and goes on from there, though the first open fails', async () => {
    append('a', 'old\n');
    failOnce('open', 'EMFILE');
    const { stop } = run(['a'], { backfill: false });
    await eventually(() => expect(openFiles(folder())).toBe(1));
    await eventually(() => expect([...store.values()][0]?.fingerprint.length).toBe(4));
    stop();
    append('a', 'new\n');
    await read(['a'], ['new'], { backfill: false });
  });

  it('does not resume in a file that nothing is known of but an offset', async () => {
    append('a', '1\n2\n3\n');
    await read(['a'], ['1', '2', '3']);
    for (const [id, position] of store) {
      store.set(id, { ...position, fingerprint: fingerprintOf(Buffer.alloc(0)) });
    }
    await read(['a'], ['1', '2', '3']);
  });

  it('follows a link that was led elsewhere', async () => {
    append('one', '1\n');
    append('two', '2\n');
    fs.symlinkSync(folder('one'), folder('link'));
    await read(['link'], ['1']);
    fs.rmSync(folder('link'));
    fs.symlinkSync(folder('two'), folder('link'));
    const { lines } = run(['link']);
    await eventually(() => expect(lines()).toContain('2'));
    expect(lines()).not.toContain('1');
  });

  it('makes no line of the newline that comes after a last line that was taken without it', async () => {
    append('a', 'first\nlast');
    await read(['a'], ['first', 'last'], { quietPolls: 2, flushPolls: 2 });
    append('a', '\r\n');
    const { lines, stop } = run(['a']);
    await eventually(() => expect(openFiles(folder())).toBe(1));
    stop();
    append('a', 'next\n\n');
    await read(['a'], ['next', '']);
    expect(lines()).toEqual([]);
  });

  it('keeps a last line that was not taken yet', async () => {
    append('a', 'first\nla');
    await read(['a'], ['first']);
    append('a', 'st\n');
    await read(['a'], ['last']);
  });

  it('marks as backfill what was there when a file was first followed, in whichever run it is read', async () => {
    append('a', '1\n2\n');
    const first = await read(['a'], ['1', '2'], { batchLines: 1, acknowledges: (line) => line !== '2' });
    append('a', '3\n');
    append('b', 'new\n');
    const next = run(['a', 'b'], { batchLines: 1 });
    await eventually(() => expect(next.lines().sort()).toEqual(['2', '3', 'new']));
    next.stop();
    const backfilled = [...first, ...next.batches].filter(({ backfill }) => backfill);
    expect(backfilled.map(({ text }) => text)).toEqual(['1', '2', '2']);
    append('a', '4\n');
    expect(await read(['a'], ['4'])).toMatchObject([{ backfill: false }]);
  });

  it.each([
    ['of the same length', ''],
    ['and longer', 'more\n'],
  ])(
    'reads a file again that was truncated and has grown again with the same beginning and end: %s',
    async (_, more) => {
      const banner = `${'='.repeat(1200)}\n`;
      const end = `${'-'.repeat(100)}\n`;
      append('a', `${banner}old\n${end}`);
      await read(['a'], [banner.trim(), 'old', end.trim()]);
      fs.writeFileSync(folder('a'), `${banner}new\n${end}${more}`);
      const { lines, stop, truncations } = run(['a']);
      const all = [banner, 'new\n', end, more].flatMap((line) => (line === '' ? [] : [line.trim()]));
      await eventually(() => expect(lines()).toEqual(all));
      stop();
      expect(truncations()).toBe(1);
      await read(['a'], []);
    },
  );

  it.each<[string, { isKnown?: boolean }]>([
    ['resumed at its end', {}],
    ['not read of yet', { isKnown: false }],
  ])(
    'reads a file again that was %s, and was truncated and has grown again before more came',
    async (_, { isKnown = true }) => {
      append('a', 'old line\n'.repeat(20));
      if (isKnown) await read(['a'], Array(20).fill('old line'));
      const hasRead = readsBehind(180);
      const { lines, truncations } = run(['a'], { backfill: false });
      await eventually(() => expect(hasRead()).toBe(true));
      overwrite('a', 'a newer line\n'.repeat(40));
      await eventually(() => expect(lines()).toEqual(Array(40).fill('a newer line')));
      expect(truncations()).toBe(1);
    },
  );

  it('reads a file again that was replaced by one with the same beginning before anything was read of it', async () => {
    const banner = '='.repeat(1200);
    append('a', `${banner}\n${'old\n'.repeat(100)}`);
    const hasRead = readsBehind(1601);
    const { stop } = run(['a'], { backfill: false });
    await eventually(() => expect(hasRead()).toBe(true));
    stop();
    overwrite('a', `${banner}\n${'new\n'.repeat(200)}`);
    await read(['a'], [banner, ...Array(200).fill('new')], { backfill: false });
  });

  it('knows what stands before the offset however little each run reads', async () => {
    const banner = '='.repeat(1200);
    append('a', `${banner}\n`);
    await read(['a'], [banner]);
    for (let i = 0; i < 4; i++) {
      append('a', 'old\n'.repeat(1750));
      await read(['a'], Array(1750).fill('old'));
    }
    overwrite('a', `${banner}\n${'new\n'.repeat(8000)}`);
    await read(['a'], [banner, ...Array(8000).fill('new')]);
  });

  it('knows a file again whose device has another number since', async () => {
    append('a', '1\n');
    append('b', '1\n');
    await read(['a', 'b'], ['1', '1']);
    const ids = [...store.keys()];
    store = new Map(Array.from(store, ([id, position]) => [id.replace(/^\d+/, '4711'), position]));
    fs.writeFileSync(folder('b'), '9\n');
    append('a', '2\n');
    // One by one: there is no order between files.
    await read(['a'], ['2']);
    await read(['b'], ['9']);
    expect([...store.keys()].filter((id) => ids.includes(id)).sort()).toEqual(ids.sort());
    await read(['a', 'b'], []);
  });

  it('starts at the end of what was there, and reads all of what has come since', async () => {
    append('a.log', 'old\n');
    const first = run(['*.log'], { backfill: false });
    await first.ready;
    first.stop();
    append('a.log', 'new\n');
    append('b.log', 'b\n');
    append('other', 'old\n');
    const wasFollowed = (path: string) => path.endsWith('.log');
    const { lines } = run(['*.log', 'other'], { backfill: false, wasFollowed });
    await eventually(() => expect(lines().sort()).toEqual(['b', 'new']));
  });

  it('keeps the position of a file that is missing for 7 days', async () => {
    const now = jest.spyOn(asyncScheduler, 'now').mockReturnValue(1e12);
    append('a', '1\n');
    await read(['a'], ['1']);
    rename('a', 'elsewhere');
    fs.mkdirSync(folder('far'));
    rename('elsewhere', 'far/a');
    const look = async () => {
      const { ready, stop } = run(['a']);
      await ready;
      stop();
    };
    await look();
    now.mockReturnValue(1e12 + 7 * 86_400_000);
    await look();
    expect(store.size).toBe(1);
    rename('far/a', 'a');
    append('a', '2\n');
    await read(['a'], ['2']);
    rename('a', 'far/a');
    await look();
    now.mockReturnValue(1e12 + 15 * 86_400_000);
    await look();
    expect(store.size).toBe(0);
  });

  it('forgets a file that is done with only when its last line is acknowledged', async () => {
    append('a', '1\n2\n');
    const positions = new AcknowledgedPositions(store, { backfill: true });
    const { batches } = followers.follow([folder('a')], { positions, batchLines: 1 });
    await eventually(() => expect(batches.length).toBe(2));
    fs.rmSync(folder('a'));
    await eventually(() => expect(openFiles(folder())).toBe(0));
    expect(store.size).toBe(1);
    for (const batch of batches) positions.acknowledge(batch);
    expect(store.size).toBe(0);
  });

  it('reads a file that was renamed, and cannot be opened at the start, when it can', async () => {
    append('a', '1\n');
    await read(['a'], ['1']);
    append('a', '2\n');
    rename('a', 'a.1');
    const open = fs.open;
    let isDenied = true;
    jest.spyOn(fs, 'open').mockImplementation(((path: string, flags: number, done: (e: Error) => void) => {
      if (!isDenied || !path.endsWith('a.1')) open(path, flags, done as never);
      else process.nextTick(done, Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }));
    }) as never);
    append('a', 'new\n');
    const { lines, warnings } = run(['a']);
    await eventually(() => expect(lines()).toEqual(['new']));
    expect(warnings).toEqual(['EACCES']);
    isDenied = false;
    await eventually(() => expect(lines()).toEqual(['new', '2']));
    expect(offsets()).toEqual([4, 4]);
  });

  it('reads a file once that was renamed and gets its path back while it is opened under its other name', async () => {
    append('a', '1\n');
    await read(['a'], ['1']);
    append('a', '2\n');
    rename('a', 'a.1');
    append('a', 'new\n');
    const open = fs.open;
    let isDenied = true;
    let held = (): void => {};
    const hold = jest.fn((openNow: () => void) => {
      held = openNow;
    });
    jest.spyOn(fs, 'open').mockImplementation(((path: string, flags: number, done: (e: Error) => void) => {
      const openNow = () => open(path, flags, done as never);
      if (!path.endsWith('a.1')) openNow();
      else if (isDenied) process.nextTick(done, Object.assign(new Error('EACCES'), { code: 'EACCES' }));
      else hold(openNow);
    }) as never);
    const { lines } = run(['a']);
    await eventually(() => expect(lines()).toEqual(['new']));
    isDenied = false;
    await eventually(() => expect(hold).toHaveBeenCalled());
    rename('a', 'a.2');
    fs.linkSync(folder('a.1'), folder('a'));
    await eventually(() => expect(lines()).toEqual(['new', '2']));
    const closed = jest.spyOn(fs, 'close');
    held();
    await eventually(() => expect(closed).toHaveBeenCalled());
    append('a', '3\n');
    await eventually(() => expect(lines()).toEqual(['new', '2', '3']));
  });

  it('resumes in the same run where it was when a file that was gone comes back, also if lines are unacknowledged', async () => {
    append('a', '1\n');
    append('b', '1\n');
    const { lines, stop } = run(['a', 'b'], { acknowledges: (line) => line !== '2' });
    await eventually(() => expect(lines()).toEqual(['1', '1']));
    append('a', '2\n');
    await eventually(() => expect(lines().length).toBe(3));
    for (const name of ['a', 'b']) rename(name, `../${path.basename(folder())}-${name}`);
    await eventually(() => expect(openFiles(folder())).toBe(0));
    for (const name of ['a', 'b']) rename(`../${path.basename(folder())}-${name}`, name);
    append('a', '3\n');
    append('b', '4\n');
    await eventually(() => expect(lines().slice(3).sort()).toEqual(['3', '4']));
    stop();
  });

  it('forgets the position of a file that is deleted, and keeps that of one that is elsewhere', async () => {
    append('a', '1\n');
    append('b', '22\n');
    const { lines } = run(['a', 'b']);
    await eventually(() => expect(lines().length).toBe(2));
    fs.rmSync(folder('a'));
    fs.mkdirSync(folder('archive'));
    rename('b', 'archive/b');
    await eventually(() => expect([offsets(), openFiles(folder())]).toEqual([[3], 0]));
  });

  describe('reports files of an earlier run', () => {
    const gone: GoneFile[] = [];
    const onGone = (files: readonly GoneFile[]) => gone.push(...files);
    const others = (settings: Parameters<typeof run>[1] = {}) => run(['a*'], { onGone, ...settings });
    const report = (name: string, offset: number, unread: number, isReplaced = false) => ({
      path: folder(name),
      offset,
      unread,
      isReplaced,
    });
    const idOf = (name: string) => {
      const { dev, ino } = fs.statSync(folder(name), { bigint: true });
      return `${dev}:${ino}`;
    };
    beforeEach(() => void gone.splice(0));

    /** Reads `a`, of which the pipeline takes some lines, until the position knows how long the file is. */
    async function stuckAt(taken: number) {
      append('a', 'line0\n');
      const acknowledges = (line: string) => Number(line.slice(4)) < taken;
      // One chunk waits, and the rest of the file is not read.
      const demand = new InFlightWindow(20);
      const { stop } = run(['a*'], { acknowledges, batchLines: 1, chunkBytes: 64, demand }, () =>
        demand.take(1),
      );
      append('a', Array.from({ length: 100 }, (_, n) => `line${n + 1}\n`).join(''));
      const { size } = fs.statSync(folder('a'));
      await eventually(() => expect(store.get(idOf('a'))).toMatchObject({ size }));
      stop();
      const { offset } = store.get(idOf('a')) as FilePosition;
      return { offset, unread: size - offset };
    }

    it.each([0, 10])('that were rotated away with %d of their lines acknowledged', async (taken) => {
      const { offset, unread } = await stuckAt(taken);
      // Made first: it must not get the inode of the other one.
      append('a2', 'new\n');
      fs.rmSync(folder('a'));
      const { lines, stop } = others();
      await eventually(() => expect([lines(), gone]).toEqual([['new'], [report('a', offset, unread)]]));
      stop();
      const again = others();
      append('a2', 'newer\n');
      await eventually(() => expect(again.lines()).toEqual(['newer']));
      expect(gone.length).toBe(1);
    });

    it('that were truncated between the runs', async () => {
      const { offset, unread } = await stuckAt(10);
      fs.truncateSync(folder('a'));
      append('a', 'new\n');
      const { lines } = others();
      await eventually(() => expect([lines(), gone]).toEqual([['new'], [report('a', offset, unread, true)]]));
    });

    it('that had been read, with nothing known to be missing', async () => {
      append('a', '1\n');
      await read(['a'], ['1']);
      fs.rmSync(folder('a'));
      others();
      await eventually(() => expect(gone).toEqual([report('a', 2, 0)]));
    });

    it.each<[what: string, change: () => void]>([
      ['are as they were', () => {}],
      ['were renamed', () => fs.renameSync(folder('a'), folder('a.1'))],
      ['were renamed to what is not followed', () => fs.renameSync(folder('a'), folder('b'))],
    ])('but not if they %s', async (_, change) => {
      append('a', '1\n');
      await read(['a'], ['1']);
      change();
      append('a2', '2\n');
      const { lines } = others();
      await eventually(() => expect(lines()).toEqual(['2']));
      expect(gone).toEqual([]);
    });

    it('but not if they would not be followed any more', async () => {
      append('a', '1\n');
      await read(['a'], ['1']);
      fs.rmSync(folder('a'));
      append('a2', '2\n');
      const { lines } = others({ isFollowed: (path) => path === folder('a2') });
      await eventually(() => expect(lines()).toEqual(['2']));
      expect(gone).toEqual([]);
    });
  });

  it('keeps nothing of files that are deleted, whose inodes are used again and again', () => {
    const positions = new AcknowledgedPositions(store, { backfill: true });
    const found = { path: 'a', size: 0, existed: false, head: Buffer.alloc(0) };
    const startIn = (id: FileId) => positions.startAt({ ...found, id });
    for (let device = 1; device <= 1000; device++) {
      const id: FileId = `${BigInt(device)}:7`;
      startIn(id);
      positions.forget(id, { offset: 0, isUnterminated: false });
      positions.deleted(id);
    }
    const lookUps = jest.spyOn(store, 'get');
    startIn('1001:7');
    expect(lookUps.mock.calls.length).toBeLessThan(10);
  });

  it('finds a file that was renamed when its folder was not there at the start', async () => {
    fs.mkdirSync(folder('in'));
    append('in/a', '1\n');
    await read(['in/a'], ['1']);
    append('in/a', '2\n');
    rename('in', 'away');
    const { lines, ready } = run(['in/a']);
    await ready;
    rename('away/a', 'away/a.1');
    append('away/a', 'new\n');
    rename('away', 'in');
    await eventually(() => expect(lines().sort()).toEqual(['2', 'new']));
  });

  it('finds a file that is renamed between the search for renamed files and the first look at its path', async () => {
    append('a', '1\n');
    await read(['a'], ['1']);
    append('a', '2\n');
    const lstat = fs.lstat;
    jest.spyOn(fs, 'lstat').mockImplementationOnce(((
      path: string,
      options: object,
      done: (...result: unknown[]) => void,
    ) =>
      lstat(path, options as never, (...result: unknown[]) => {
        rename('a', 'a.1');
        append('a', 'new\n');
        done(...result);
      })) as never);
    const { lines } = run(['a']);
    await eventually(() => expect(lines().sort()).toEqual(['2', 'new']));
  });
});
