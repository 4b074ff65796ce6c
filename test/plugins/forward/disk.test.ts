import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { concat, forkJoin, lastValueFrom, type Observable, toArray } from 'rxjs';
import { DiskConfig, forward, forwardBatch } from '../../../plugins/forward/disk.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
afterEach(() => {
  jest.restoreAllMocks();
});

const timestamp = '2026-01-01T00:00:00.000Z';
const event = (n: number) => ({ timestamp, data: { n } });
const line = (n: number) => `${JSON.stringify(event(n))}\n`;
const text = (name: string) => fs.readFileSync(folder(name), 'utf8');

const context = (input: object = {}, overrides: Partial<PipelineRunContext> = {}) =>
  testContext(DiskConfig.parse({ plugin: 'disk', path: folder('out'), ...input }), overrides);
const toFile = (overrides: Partial<PipelineRunContext> = {}) =>
  context({ filename: 'events.jsonl' }, overrides);

const done = (work: Observable<never>) => lastValueFrom(work.pipe(toArray()));

type Write = (fd: number, b: Buffer, at: number, length: number, position: null, done: unknown) => void;
const realWrite = fs.write as unknown as Write;
const mockWrite = (write: Write) => jest.spyOn(fs, 'write').mockImplementation(write as never);

describe('disk forwarder', () => {
  it('has the schema of the specification', () => {
    expect(DiskConfig.parse({ plugin: 'disk', path: 'p' })).toEqual({
      plugin: 'disk',
      path: 'p',
      pretty_print: false,
      fsync: 'interval',
      file_mode: '0640',
    });
    expect(DiskConfig.safeParse({ plugin: 'disk' }).success).toBe(false);
  });

  it.each(['0400', '600x', '0o600', '999', '1600', '600 '])('refuses the file_mode %j', (file_mode) => {
    const { error } = DiskConfig.safeParse({ plugin: 'disk', path: 'p', file_mode });
    expect(error?.issues).toMatchObject([
      { path: ['file_mode'], message: expect.stringContaining("octal digits in quotes, such as '0600'") },
    ]);
  });

  it.each(['', '.', '..', 'a/b', '/a', '../a', 'a\\b', 'a\0b'])('refuses the filename %j', (filename) => {
    const { error } = DiskConfig.safeParse({ plugin: 'disk', path: 'p', filename });
    expect(error?.issues).toMatchObject([
      { path: ['filename'], message: 'a bare file name, without separators' },
    ]);
  });

  it('appends lines to the file, and makes its folder', async () => {
    const ctx = context({ path: folder('out/deep'), filename: '..events' });
    await done(forward({ ctx, event: event(1) }));
    await done(forwardBatch({ ctx, events: [event(2), event(3)] }));
    expect(text('out/deep/..events')).toBe(line(1) + line(2) + line(3));
  });

  it('keeps the order of many appends at once', async () => {
    const ctx = toFile();
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    await lastValueFrom(forkJoin(numbers.map((n) => concat(forward({ ctx, event: event(n) }), [n]))));
    expect(text('out/events.jsonl')).toBe(numbers.map(line).join(''));
  });

  it('appends to what is there, indented if asked to', async () => {
    fs.mkdirSync(folder('out'));
    fs.writeFileSync(folder('out/events.jsonl'), 'before\n');
    const ctx = context({ filename: 'events.jsonl', pretty_print: true });
    await done(forward({ ctx, event: event(1) }));
    expect(text('out/events.jsonl')).toBe(`before\n${JSON.stringify(event(1), null, 2)}\n`);
  });

  it('goes on after short writes', async () => {
    mockWrite((fd, bytes, at, length, position, next) =>
      realWrite(fd, bytes, at, Math.min(7, length), position, next),
    );
    await done(forwardBatch({ ctx: toFile(), events: [event(1), event(2)] }));
    expect(text('out/events.jsonl')).toBe(line(1) + line(2));
  });

  it('leaves nothing of a write that fails half-way, so that trying again does not double it', async () => {
    const ctx = toFile();
    await done(forward({ ctx, event: event(1) }));
    failAfter(5);
    await expect(done(forwardBatch({ ctx, events: [event(2), event(3)] }))).rejects.toThrow('ENOSPC');
    jest.restoreAllMocks();
    expect(text('out/events.jsonl')).toBe(line(1));
    await done(forwardBatch({ ctx, events: [event(2), event(3)] }));
    expect(text('out/events.jsonl')).toBe(line(1) + line(2) + line(3));
  });

  it('cuts nothing that others wrote', async () => {
    const ctx = toFile();
    await done(forward({ ctx, event: event(1) }));
    failAfter(5, () => fs.appendFileSync(folder('out/events.jsonl'), 'theirs\n'));
    await expect(done(forward({ ctx, event: event(2) }))).rejects.toThrow('ENOSPC');
    jest.restoreAllMocks();
    await done(forward({ ctx, event: event(2) }));
    expect(text('out/events.jsonl')).toBe(`${line(1)}${line(2).slice(0, 5)}theirs\n${line(2)}`);
  });

  it('reports a folder that cannot be made, and recovers when it can', async () => {
    fs.writeFileSync(folder('out'), 'a file');
    const inFile = toFile();
    const dumps = context();
    await expect(done(forward({ ctx: inFile, event: event(1) }))).rejects.toThrow('ENOTDIR');
    await expect(done(forward({ ctx: dumps, event: event(1) }))).rejects.toThrow('ENOTDIR');
    fs.rmSync(folder('out'));
    await done(forward({ ctx: inFile, event: event(1) }));
    await done(forward({ ctx: dumps, event: event(1) }));
    expect(fs.readdirSync(folder('out')).sort()).toEqual(['event-dump-1.json', 'events.jsonl']);
  });

  it('writes one file for each event, and numbers on from what is there', async () => {
    const ctx = context({ pretty_print: true });
    fs.mkdirSync(folder('out'));
    for (const name of ['event-dump-9.json', 'event-dump-x.json', 'event-dump-11.txt']) {
      fs.writeFileSync(folder(`out/${name}`), '');
    }
    await done(forward({ ctx, event: event(1) }));
    fs.writeFileSync(folder('out/event-dump-11.json'), 'of another process');
    await done(forwardBatch({ ctx, events: [event(2), event(3)] }));
    expect([10, 12, 13].map((n) => JSON.parse(text(`out/event-dump-${n}.json`)).data.n)).toEqual([1, 2, 3]);
    expect(text('out/event-dump-10.json')).toBe(JSON.stringify(event(1), null, 2));
    expect(text('out/event-dump-11.json')).toBe('of another process');
  });

  it('leaves no file of a batch that fails', async () => {
    const ctx = context();
    const { writeFile } = fs;
    jest.spyOn(fs, 'writeFile').mockImplementation(((
      path: string,
      data: string,
      options: object,
      next: never,
    ) => {
      if (!data.includes('"n":2')) writeFile(path, data, options, next);
      else process.nextTick(next, noSpace());
    }) as never);
    await expect(done(forwardBatch({ ctx, events: [event(1), event(2)] }))).rejects.toThrow('ENOSPC');
    jest.restoreAllMocks();
    expect(fs.readdirSync(folder('out'))).toEqual([]);
    await done(forwardBatch({ ctx, events: [event(1), event(2)] }));
    expect(fs.readdirSync(folder('out'))).toEqual(['event-dump-1.json', 'event-dump-2.json']);
  });

  it('closes the file when the run is over, and still takes late events', async () => {
    const controller = new AbortController();
    const ctx = toFile({ signal: controller.signal });
    const first = done(forward({ ctx, event: event(1) }));
    controller.abort();
    await first;
    await eventually(() => expect(openFiles()).toEqual([]));
    await done(forward({ ctx, event: event(2) }));
    await eventually(() => expect(openFiles()).toEqual([]));
    expect(text('out/events.jsonl')).toBe(line(1) + line(2));
  });
});

/** The files of the test that this process has open. */
function openFiles(): string[] {
  const links = fs.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [fs.readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return links.filter((path) => path.startsWith(folder()));
}

function noSpace() {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}

/** Lets `count` bytes through, and then no more. */
function failAfter(count: number, then: () => void = () => {}): void {
  let isFull = false;
  mockWrite((fd, bytes, at, _, position, next) => {
    if (isFull) {
      then();
      process.nextTick(next as never, noSpace());
      return;
    }
    isFull = true;
    realWrite(fd, bytes, at, count, position, next);
  });
}
