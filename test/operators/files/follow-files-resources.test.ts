import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { followFiles } from '../../../operators/files/follow-files.ts';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { eventually } from '../../support/eventually.ts';
import { FAST, Followers, openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
const follow: Followers['follow'] = (...args) => followers.follow(...args);
afterEach(() => {
  followers.stopAll();
  jest.restoreAllMocks();
});

describe('followFiles, with what it needs', () => {
  it('goes on with the others when a file cannot be opened, says so once, and reads it when it can', async () => {
    fs.writeFileSync(folder('bad'), 'bad\n');
    fs.writeFileSync(folder('good'), 'good\n');
    const open = fs.open;
    let isDenied = true;
    jest.spyOn(fs, 'open').mockImplementation(((path: string, flags: number, done: (e: Error) => void) => {
      if (!isDenied || !path.endsWith('bad')) open(path, flags, done as never);
      else process.nextTick(done, Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }));
    }) as never);
    const { lines, warnings } = follow([folder('bad'), folder('good')]);
    await eventually(() => expect(warnings).toEqual(['EACCES']));
    await eventually(() => expect(lines()).toEqual(['good']));
    isDenied = false;
    await eventually(() => expect(lines()).toEqual(['good', 'bad']));
    expect(warnings).toEqual(['EACCES']);
  });

  it('says of a file that cannot be read to its end with `once` only why', async () => {
    fs.writeFileSync(folder('bad'), 'bad\n');
    jest.spyOn(fs, 'open').mockImplementation(((...args: unknown[]) => {
      const done = args.at(-1) as (error: Error) => void;
      process.nextTick(done, Object.assign(new Error('permission denied'), { code: 'EACCES' }));
    }) as never);
    const warn = jest.fn();
    const batch$ = followFiles([folder('bad')], { ...FAST, once: true, log: { warn, info: () => {} } });
    await expect(lastValueFrom(batch$)).rejects.toMatchObject({ code: 'EACCES' });
    expect(warn.mock.calls.map(([text]) => text)).toEqual([
      `cannot read ${folder('bad')}: permission denied`,
    ]);
  });

  it('reads on where it was when a read fails', async () => {
    fs.writeFileSync(folder('a'), 'one\ntw');
    const { lines, warnings } = follow([folder('a')], { quietPolls: 1e9, flushPolls: 1e9 });
    await eventually(() => expect(lines()).toEqual(['one']));
    const failing = jest.spyOn(fs, 'read').mockImplementation(((...args: unknown[]) => {
      const done = args.at(-1) as (error: Error, count: number) => void;
      process.nextTick(done, Object.assign(new Error('EIO'), { code: 'EIO' }), 0);
    }) as never);
    fs.appendFileSync(folder('a'), 'o\n');
    await eventually(() => expect(warnings).toEqual(['EIO']));
    failing.mockRestore();
    await eventually(() => expect(lines()).toEqual(['one', 'two']));
  });

  it('keeps few descriptors open, and still sees every file grow', async () => {
    for (let n = 0; n < 30; n++) fs.writeFileSync(folder(`${n}.log`), `a${n}\n`);
    const { lines } = follow([folder('*.log')], { maxOpenFiles: 5 });
    await eventually(() => expect(lines().length).toBe(30));
    await eventually(() => expect(openFiles(folder())).toBeLessThanOrEqual(5));
    for (let n = 0; n < 30; n++) fs.appendFileSync(folder(`${n}.log`), `b${n}\n`);
    await eventually(() => expect(new Set(lines()).size).toBe(60));
    expect(lines().length).toBe(60);
  });

  it('reports the bytes left to read', async () => {
    fs.writeFileSync(folder('a'), '12345\n'.repeat(10));
    const demand = new InFlightWindow(1);
    const backlog: number[] = [];
    const { lines } = follow([folder('a')], {
      chunkBytes: 12,
      demand,
      onBacklog: (bytes) => backlog.push(bytes),
    });
    await eventually(() => expect(lines().length).toBe(10));
    expect(backlog).toEqual([60, 48, 36, 24, 12, 0]);
  });

  it('leaves nothing open when it is unsubscribed from, whenever that is', async () => {
    fs.writeFileSync(folder('a'), 'x\n'.repeat(1000));
    for (let turn = 0; turn < 20; turn++) {
      const { subscription, batches } = follow([folder('a')], { chunkBytes: 64 });
      await eventually(() => batches.length >= turn);
      subscription.unsubscribe();
    }
    await eventually(() => expect(openFiles(folder())).toBe(0));
  });

  it('stops at once when it is unsubscribed from within', async () => {
    fs.writeFileSync(folder('a'), 'x\n'.repeat(1000));
    const source = followFiles([folder('a')], { ...FAST, batchLines: 10 });
    let count = 0;
    const subscription = source.subscribe(() => {
      count++;
      subscription.unsubscribe();
    });
    await eventually(() => subscription.closed);
    await eventually(() => expect(openFiles(folder())).toBe(0));
    expect(count).toBe(1);
  });
});
