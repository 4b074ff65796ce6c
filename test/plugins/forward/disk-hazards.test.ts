import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { forkJoin, lastValueFrom, Subject, toArray } from 'rxjs';
import { DiskConfig, forward, forwardBatch } from '../../../plugins/forward/disk.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/pipelines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const controllers: AbortController[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  for (const controller of controllers.splice(0)) controller.abort();
});

const timestamp = '2026-01-01T00:00:00.000Z';
const event = (n: number) => ({ timestamp, data: { n } });
const line = (n: number) => `${JSON.stringify(event(n))}\n`;
const text = (name: string) => fs.readFileSync(folder(name), 'utf8');
const OUT = 'out/events.jsonl';

function context(input: object = {}, overrides: Partial<PipelineRunContext> = {}) {
  const controller = new AbortController();
  controllers.push(controller);
  const config = DiskConfig.parse({
    plugin: 'disk',
    path: folder('out'),
    filename: 'events.jsonl',
    ...input,
  });
  return testContext(config, { signal: controller.signal, ...overrides });
}
type Context = ReturnType<typeof context>;

const write = (ctx: Context, ...numbers: number[]) =>
  lastValueFrom(forwardBatch({ ctx, events: numbers.map(event) }).pipe(toArray()));

function put(name: string, content: string): void {
  fs.mkdirSync(folder('out'), { recursive: true });
  fs.writeFileSync(folder(name), content);
}

describe('what a crash left in the file', () => {
  it.each([false, true])(
    'is cut off before the first write, and reported once (indented: %s)',
    async (pretty_print) => {
      const document = (n: number) => `${JSON.stringify(event(n), null, pretty_print ? 2 : undefined)}\n`;
      put(OUT, document(1) + document(2).slice(0, -9));
      const logger = recordingLogger();
      const ctx = context({ pretty_print }, { logger });
      await write(ctx, 2);
      await write(ctx, 3);
      expect(text(OUT)).toBe(document(1) + document(2) + document(3));
      expect(logger.lines).toEqual([
        `warn ${folder(OUT)} ended with ${document(2).length - 9} bytes of a write that was never confirmed; that was cut off`,
      ]);
    },
  );

  it.each([
    ['a line', `{"timestamp":"${timestamp}","data":{"text":"`, 'x'],
    [
      'an indented document',
      `{\n  "timestamp": "${timestamp}",\n  "data": [\n`,
      `    "${'x'.repeat(56)}",\n`,
    ],
  ])('is found however long it is, in little memory: %s', async (_, start, part) => {
    const copies = Math.ceil((80 << 20) / part.length);
    put(OUT, line(1) + start + part.repeat(copies));
    const before = process.memoryUsage().rss;
    await write(context(), 2);
    expect(text(OUT)).toBe(line(1) + line(2));
    expect(process.memoryUsage().rss - before).toBeLessThan(60 << 20);
  });

  it('is left alone if it is not ours, and gets a newline', async () => {
    put(OUT, 'theirs');
    const logger = recordingLogger();
    await write(context({}, { logger }), 1);
    expect(text(OUT)).toBe(`theirs\n${line(1)}`);
    expect(logger.lines.length).toBe(1);
  });
});

describe('log rotation', () => {
  it('writes to a new file as soon as the old one is renamed or removed', async () => {
    const ctx = context();
    await write(ctx, 1);
    fs.renameSync(folder(OUT), folder('out/old'));
    await write(ctx, 2);
    expect([text('out/old'), text(OUT)]).toEqual([line(1), line(2)]);
    fs.rmSync(folder(OUT));
    await write(ctx, 3);
    expect(text(OUT)).toBe(line(3));
    fs.rmSync(folder('out'), { recursive: true });
    await write(ctx, 4);
    expect(text(OUT)).toBe(line(4));
  });

  it.each([
    ['renamed', () => fs.renameSync(folder(OUT), folder('out/old'))],
    ['removed', () => fs.rmSync(folder(OUT))],
    ['replaced', () => put('out/other', '')],
    ['truncated', () => fs.truncateSync(folder(OUT))],
  ])('writes again what was being written while the file was %s', async (what, rotate) => {
    type Write = (fd: number, b: Buffer, at: number, length: number, position: null, next: unknown) => void;
    const real = fs.write as unknown as Write;
    const ctx = context();
    await write(ctx, 1);
    jest.spyOn(fs, 'write').mockImplementationOnce(((fd, b, at, length, position, next) => {
      const written = (...result: unknown[]) => {
        rotate();
        if (what === 'replaced') fs.renameSync(folder('out/other'), folder(OUT));
        (next as (...result: unknown[]) => void)(...result);
      };
      real(fd, b, at, length, position, written);
    }) as Write as never);
    await write(ctx, 2);
    await write(ctx, 3);
    expect(text(OUT)).toBe(line(2) + line(3));
    if (what === 'renamed') expect(text('out/old')).toBe(line(1));
  });

  it('takes nothing for written while another file takes its place each time', async () => {
    const ctx = context();
    await write(ctx, 1);
    const lstat = jest
      .spyOn(fs, 'lstat')
      .mockImplementation(((_: string, __: unknown, next: unknown) =>
        fs.stat(folder('out'), { bigint: true }, next as never)) as never);
    await expect(write(ctx, 2)).rejects.toThrow(/cannot write to .*events\.jsonl: the file was replaced/);
    lstat.mockRestore();
    await write(ctx, 2);
    expect(text(OUT)).toBe(line(1) + line(2));
  });

  it('goes on in a new file at once when it is told to, for logrotate', async () => {
    const reopen$ = new Subject<void>();
    const ctx = context({}, { reopen$ });
    await write(ctx, 1);
    fs.renameSync(folder(OUT), folder('out/old'));
    reopen$.next();
    await write(ctx, 2);
    expect([text('out/old'), text(OUT)]).toEqual([line(1), line(2)]);
  });

  it('leaves no hole where the file was truncated', async () => {
    const ctx = context();
    await write(ctx, 1);
    fs.truncateSync(folder(OUT));
    await write(ctx, 2);
    expect(text(OUT)).toBe(line(2));
  });
});

describe('what is written to', () => {
  it('is never what a symbolic link leads to, but its folder may be one', async () => {
    put('out/target', '');
    fs.symlinkSync('target', folder(OUT));
    const refusal = write(context(), 1);
    await expect(refusal).rejects.toThrow(/cannot write to .*events\.jsonl.*it is a symbolic link/);
    fs.rmSync(folder(OUT));
    fs.symlinkSync('/nowhere/at/all', folder(OUT));
    await expect(write(context(), 1)).rejects.toThrow('symbolic link');
    fs.rmSync(folder(OUT));
    fs.symlinkSync('out', folder('link'));
    await write(context({ path: folder('link') }), 1);
    expect([text(OUT), text('out/target')]).toEqual([line(1), '']);
  });

  it('is neither a folder nor a pipe', async () => {
    fs.mkdirSync(folder(OUT), { recursive: true });
    await expect(write(context(), 1)).rejects.toThrow('EISDIR');
    fs.rmdirSync(folder(OUT));
    execFileSync('mkfifo', [folder(OUT)]);
    await expect(write(context(), 1)).rejects.toThrow('not a regular file');
  });

  it('is for the owner and the group alone', async () => {
    await write(context(), 1);
    await write(context({ filename: undefined }), 2);
    const modes = ['out', OUT, 'out/event-dump-1.json'].map((name) => fs.statSync(folder(name)).mode & 0o777);
    const mask = ~process.umask();
    expect(modes).toEqual([0o750 & mask, 0o640 & mask, 0o640 & mask]);
  });
});

describe('several pipelines', () => {
  it('write to one file without tearing lines, while some start and stop', async () => {
    type Write = (fd: number, b: Buffer, at: number, length: number, position: null, next: unknown) => void;
    const real = fs.write as unknown as Write;
    jest
      .spyOn(fs, 'write')
      .mockImplementation(((fd, b, at, length, position, next) =>
        real(fd, b, at, Math.min(length, 11), position, next)) as Write as never);
    const first = context();
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    const early = numbers.map((n) => forward({ ctx: first, event: event(n) }));
    // Each opens the file again: it must not take for torn what another one is writing.
    const others = numbers.map((n) => forward({ ctx: context(), event: event(100 + n) }));
    await lastValueFrom(forkJoin([...early, ...others].map((work) => work.pipe(toArray()))));
    const found = text(OUT)
      .trimEnd()
      .split('\n')
      .map((document) => JSON.parse(document).data.n);
    expect(found).toEqual([...numbers, ...numbers.map((n) => 100 + n)]);
  });
});

describe('a write that nobody waits for any more', () => {
  it('is undone, because its events will come again', async () => {
    const ctx = context();
    await write(ctx, 1);
    const late = forwardBatch({ ctx, events: [event(2)] }).subscribe();
    late.unsubscribe();
    await write(ctx, 2, 3);
    expect(text(OUT)).toBe(line(1) + line(2) + line(3));
  });

  it('leaves no files of their own', async () => {
    const ctx = context({ filename: undefined });
    await write(ctx, 1);
    const late = forwardBatch({ ctx, events: [event(2)] }).subscribe();
    late.unsubscribe();
    await write(ctx, 3);
    const texts = fs.readdirSync(folder('out')).map((name) => text(`out/${name}`));
    expect(texts).toEqual([1, 3].map((n) => JSON.stringify(event(n))));
  });
});

describe('files of their own', () => {
  it('are rid of what a killed process left, and leave that of living ones', async () => {
    const dead = ['.event-dump-4194305-0.tmp', `.event-dump-${process.pid}-999.tmp`];
    const others = [`.event-dump-${process.ppid}-0.tmp`, '.event-dump-x.tmp'];
    for (const name of [...dead, ...others]) put(`out/${name}`, '{"half');
    await write(context({ filename: undefined }), 1);
    expect(fs.readdirSync(folder('out')).sort()).toEqual([...others, 'event-dump-1.json'].sort());
  });

  it('are written where there are no hard links', async () => {
    jest
      .spyOn(fs, 'link')
      .mockImplementation(((_: string, __: string, next: (error: Error) => void) =>
        process.nextTick(next, Object.assign(new Error('EPERM'), { code: 'EPERM' }))) as never);
    put('out/event-dump-2.json', 'before');
    const ctx = context({ filename: undefined });
    fs.rmSync(folder('out/event-dump-2.json'));
    await write(ctx, 1);
    put('out/event-dump-2.json', 'theirs');
    await write(ctx, 2);
    expect(fs.readdirSync(folder('out')).sort()).toEqual([1, 2, 3].map((n) => `event-dump-${n}.json`));
    expect(text('out/event-dump-2.json')).toBe('theirs');
  });
});

describe('fsync', () => {
  const failing = (call: 'fdatasync') =>
    jest
      .spyOn(fs, call)
      .mockImplementationOnce(((_: number, next: (error: Error) => void) =>
        process.nextTick(
          next,
          Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' }),
        )) as never);

  it('batch: what the disk does not confirm is not written, and not doubled', async () => {
    const ctx = context({ fsync: 'batch' });
    await write(ctx, 1);
    failing('fdatasync');
    await expect(write(ctx, 2)).rejects.toThrow(/EIO.*look at that disk/);
    expect(text(OUT)).toBe(line(1));
    await write(ctx, 2);
    expect(text(OUT)).toBe(line(1) + line(2));
  });

  it('interval: within a second of a write, not for each; that it fails is reported once', async () => {
    const logger = recordingLogger();
    const ctx = context({}, { logger });
    const calls = failing('fdatasync');
    for (let n = 0; n < 10; n++) await write(ctx, n);
    expect(calls).toHaveBeenCalledTimes(1);
    await eventually(() => expect(calls).toHaveBeenCalledTimes(2));
    expect(logger.lines).toEqual([expect.stringMatching(/EIO.*may not outlive a power cut/)]);
  });

  it('interval: writes on while a slow disk is at it, and closes the file only behind that', async () => {
    const held: (() => void)[] = [];
    const { fdatasync } = fs;
    const calls = jest.spyOn(fs, 'fdatasync').mockImplementation((fd, done) => {
      held.push(() => fdatasync(fd, done));
    });
    const ctx = context({ fsync: 'interval' });
    for (let n = 0; n < 5; n++) await write(ctx, n);
    expect([calls.mock.calls.length, text(OUT)]).toEqual([1, [0, 1, 2, 3, 4].map(line).join('')]);

    const fd = calls.mock.calls[0]?.[0];
    const close = jest.spyOn(fs, 'close');
    const isClosed = () => close.mock.calls.some(([closed]) => closed === fd);
    controllers.splice(0)[0]?.abort();
    // Behind the closing of the first one, which waits.
    const other = write(context(), 5);
    held.shift()?.();
    // What was written meanwhile is forced as well.
    await eventually(() => expect([held.length, isClosed()]).toEqual([1, false]));
    held.shift()?.();
    await other;
    expect(isClosed()).toBe(true);
  });

  it('never: leaves it to the kernel', async () => {
    const calls = jest.spyOn(fs, 'fdatasync');
    const ctx = context({ fsync: 'never' });
    await write(ctx, 1);
    controllers.splice(0)[0]?.abort();
    await write(context({ fsync: 'never' }), 2);
    expect(calls).toHaveBeenCalledTimes(0);
  });
});
