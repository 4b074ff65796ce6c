import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, tap, toArray, VirtualTimeScheduler } from 'rxjs';
import { type FollowSettings, followFiles } from '../../../operators/files/follow-files.ts';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { eventually } from '../../support/eventually.ts';
import { FAST, Followers, fromStart, linesOf, openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
afterEach(() => {
  followers.stopAll();
});

const readOnce = (paths: string[], settings: Partial<FollowSettings> = {}) =>
  lastValueFrom(followFiles(paths, { positions: fromStart, once: true, ...settings }).pipe(toArray()));

describe('followFiles', () => {
  it.each([
    [undefined, 'not undefined'],
    ['a.log', 'not a string'],
    [[3], 'not one with other values'],
    [{ paths: ['a.log'] }, 'not a value of type Object'],
  ])('refuses paths that are no array of strings: %j', (paths, what) => {
    expect(() => followFiles(paths as never)).toThrow(
      new TypeError(`followFiles: paths must be an array of strings such as ['/var/log/app/*.log'], ${what}`),
    );
  });

  it('polls by the scheduler that it is given', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, 0);
    const { lines, ready } = followers.follow([folder('*.log')], { scheduler, pollMs: 3600_000 });
    scheduler.flush();
    await ready;
    // The first poll ends a few promises later, and two never overlap.
    await new Promise((resolve) => setImmediate(resolve));
    fs.writeFileSync(folder('a.log'), 'a\n');
    scheduler.maxFrames = 3600_000;
    scheduler.flush();
    await eventually(() => expect(lines()).toEqual(['a']));
  });

  it('refuses a setting that it does not know', () => {
    expect(() => followFiles([], { onze: true } as never)).toThrow(
      "followFiles: unknown option 'onze'; it has demand, positions,",
    );
  });
});

describe('followFiles, once', () => {
  it('reads to the end, takes a last line without newline, and completes', async () => {
    fs.writeFileSync(folder('a'), 'one\ntwo\r\nthree');
    const [batch, ...rest] = await readOnce([folder('a')]);
    expect(batch).toMatchObject({ lines: ['one', 'two'], startOffset: 0, endOffset: 9, backfill: true });
    expect(rest).toMatchObject([{ lines: ['three'], startOffset: 9, endOffset: 14, backfill: true }]);
    await eventually(() => expect(openFiles(folder())).toBe(0));
  });

  it('completes on nothing, on an empty file and on one that is missing', async () => {
    fs.writeFileSync(folder('empty'), '');
    expect(await readOnce([])).toEqual([]);
    expect(await readOnce([folder('empty'), folder('missing'), 'a\0b', folder('*.none')])).toEqual([]);
  });

  it.each([
    ['folder', (path: string) => fs.mkdirSync(path), 'it is a folder; expected a file, or a pattern'],
    ['pipe', (path: string) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ])(
    'fails behind the others on a %s that a path names, and not on one that a pattern might',
    async (_, make, message) => {
      make(folder('odd.log'));
      fs.writeFileSync(folder('z.log'), 'one\n');
      expect(linesOf(await readOnce([folder('*.log')]))).toEqual(['one']);
      const lines: string[] = [];
      const reading$ = followFiles([folder('odd.log'), folder('z.log')], {
        positions: fromStart,
        once: true,
      }).pipe(tap((batch) => void lines.push(...batch.lines)));
      await expect(lastValueFrom(reading$)).rejects.toMatchObject({
        ...{ code: 'NOT_A_FILE', loggable: true },
        message: expect.stringContaining(`cannot read ${folder('odd.log')}: ${message}`),
      });
      expect(lines).toEqual(['one']);
    },
  );

  it('tells a symbolic link that leads nowhere from a file that is missing', async () => {
    fs.symlinkSync('nowhere', folder('link'));
    const messages: string[] = [];
    const log = { warn: (message: string) => messages.push(message), info: () => {} };
    await readOnce([folder('link'), folder('missing')], { log });
    expect(messages.sort()).toEqual([
      `a symbolic link leads to no file: ${folder('link')}`,
      `there is no file: ${folder('missing')}`,
    ]);
  });

  describe('with a file that is no UTF-8 text', () => {
    const FOREIGN: [string, Buffer][] = [
      ['UTF-16', Buffer.from('\ufeffpin 1234\n', 'utf16le')],
      ['UTF-16', Buffer.from('pin 1234\n', 'utf16le')],
      ['UTF-16', Buffer.from('pin 1234\n', 'utf16le').swap16()],
      ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
      ['gzip', gzipSync('pin 1234\n')],
      ['bzip2', Buffer.from('BZh91AY&SY and more', 'latin1')],
      ['zip', Buffer.from('PK\u0003\u0004 and more', 'latin1')],
    ];

    it.each(FOREIGN)(
      'reads nothing of one that looks like %s, and fails behind the others',
      async (name, bytes) => {
        fs.writeFileSync(folder('a'), bytes);
        fs.writeFileSync(folder('b'), 'plain\n');
        const messages: string[] = [];
        const log = { warn: (message: string) => messages.push(message), info: () => {} };
        const lines: string[] = [];
        const reading$ = followFiles([folder('a'), folder('b')], {
          ...{ positions: fromStart, once: true, log, chunkBytes: 8 },
        }).pipe(tap((batch) => void lines.push(...batch.lines)));
        await expect(lastValueFrom(reading$)).rejects.toMatchObject({
          code: 'NOT_TEXT',
          loggable: true,
          fatal: true,
          permanent: true,
        });
        expect(lines).toEqual(['plain']);
        expect(messages).toEqual([
          expect.stringMatching(
            new RegExp(`cannot read .*/a: it looks like ${name}(?:LE|BE)?, in which .* expected UTF-8 text`),
          ),
        ]);
        await eventually(() => expect(openFiles(folder())).toBe(0));
      },
    );

    it('knows it by its start, also where only the end would be read', async () => {
      fs.writeFileSync(folder('a'), gzipSync('x'));
      const positions = { startAt: ({ size }: { size: number }) => size - 2, forget: () => {} };
      await expect(readOnce([folder('a')], { positions })).rejects.toMatchObject({ code: 'NOT_TEXT' });
    });

    it('reads text that only begins with the letters of one', async () => {
      fs.writeFileSync(folder('a'), 'BZh9: the eponym\n');
      expect(linesOf(await readOnce([folder('a')]))).toEqual(['BZh9: the eponym']);
    });
  });

  it('leaves empty lines out with `skipEmptyLines`', async () => {
    fs.writeFileSync(folder('a'), '\n\r\none\n\n \r\n\r\n\ntwo\n\n');
    const settings = { skipEmptyLines: true };
    const batches = await readOnce([folder('a')], settings);
    expect(linesOf(batches)).toEqual(['one', ' ', 'two']);
    expect(batches.at(-1)?.endOffset).toBe(fs.statSync(folder('a')).size);
    const one = await readOnce([folder('a')], { ...settings, batchLines: 1, chunkBytes: 2 });
    expect(linesOf(one)).toEqual(['one', ' ', 'two']);
    expect(one.every(({ size }) => size === 1)).toBe(true);
  });

  it('counts the files that it follows', async () => {
    const messages: string[] = [];
    const log = { warn: () => {}, info: (message: string) => messages.push(message) };
    fs.writeFileSync(folder('a'), '');
    await readOnce([folder('a')], { log });
    fs.writeFileSync(folder('b'), '');
    await readOnce([folder('*')], { log });
    expect(messages).toEqual(['following 1 file', 'following 2 files']);
  });

  it('errors after all the rest when there is a file that cannot be read', async () => {
    fs.symlinkSync('loop', folder('loop'));
    fs.writeFileSync(folder('z'), 'one\n');
    const lines: string[] = [];
    const paths = [folder('loop'), folder('z')];
    const reading$ = followFiles(paths, { ...FAST, once: true }).pipe(
      tap((batch) => void lines.push(...batch.lines)),
    );
    await expect(lastValueFrom(reading$)).rejects.toMatchObject({
      code: 'ELOOP',
      message: expect.stringMatching(/^cannot read .*loop: ELOOP/),
    });
    expect(lines).toEqual(['one']);
  });

  it('takes a path without glob characters literally, odd as it may be', async () => {
    fs.writeFileSync(folder('!odd (1) $x.log'), 'odd\n');
    expect(linesOf(await readOnce([folder('!odd (1) $x.log')]))).toEqual(['odd']);
  });

  it('reads a file once, whatever its names', async () => {
    fs.writeFileSync(folder('a.log'), 'x\n');
    fs.symlinkSync(folder('a.log'), folder('b.log'));
    fs.linkSync(folder('a.log'), folder('c.log'));
    expect(linesOf(await readOnce([folder('a.log'), folder('*.log')]))).toEqual(['x']);
  });

  it('reads several files a chunk of each in turn', async () => {
    fs.writeFileSync(folder('a'), 'a1\na2\na3\n'.repeat(50));
    fs.writeFileSync(folder('b'), 'b1\nb2\nb3\n'.repeat(50));
    const lines = linesOf(await readOnce([folder('a'), folder('b')], { chunkBytes: 3 }));
    const turns = lines.map((line) => line[0]);
    expect(turns.filter((file) => file === 'a').length).toBe(150);
    // Read one after the other, they would end 150 lines apart; how much a chunk waits is the disk's business.
    expect(Math.abs(turns.lastIndexOf('a') - turns.lastIndexOf('b'))).toBeLessThan(75);
  });

  it('reads 200 small files with 10 descriptors', async () => {
    for (let n = 0; n < 200; n++) fs.writeFileSync(folder(`${n}.log`), `line ${n}\nlast`);
    const lines = linesOf(await readOnce([folder('*.log')], { maxOpenFiles: 10 }));
    expect(new Set(lines).size).toBe(201);
    expect(lines.length).toBe(400);
    // Each is opened three times or so: on a busy machine that takes a while.
  });

  it('keeps to the demand, line by line', async () => {
    fs.writeFileSync(folder('a'), '1\n2\n3\n');
    const demand = new InFlightWindow(1);
    const seen: (readonly string[])[] = [];
    const { subscription } = followers.follow([folder('a')], { once: true, demand }, (batch) => {
      demand.take(batch.lines.length);
      seen.push(batch.lines);
    });
    await eventually(() => expect(seen).toEqual([['1']]));
    demand.release(1);
    expect(seen).toEqual([['1'], ['2']]);
    demand.release(1);
    expect(seen).toEqual([['1'], ['2'], ['3']]);
    await eventually(() => subscription.closed);
  });

  it('does not recurse when lines are acknowledged at once', async () => {
    fs.writeFileSync(folder('a'), 'line\n'.repeat(200_000));
    const demand = new InFlightWindow(1);
    const depths = new Set<number>();
    let count = 0;
    const { subscription } = followers.follow([folder('a')], { once: true, demand }, (batch) => {
      demand.take(batch.lines.length);
      count += batch.lines.length;
      if (count % 1000 === 1) depths.add((new Error().stack ?? '').split('\n').length);
      demand.release(batch.lines.length);
    });
    await eventually(() => subscription.closed);
    expect(count).toBe(200_000);
    expect(Math.max(...depths)).toBeLessThan(40);
  });

  it('reads on from the byte that it is given, and from the begin if the file is shorter', async () => {
    fs.writeFileSync(folder('a'), 'one\ntwo\n');
    const at = (offset: number) => ({ positions: { startAt: () => offset, forget: () => {} } });
    expect(await readOnce([folder('a')], at(4))).toMatchObject([
      { lines: ['two'], startOffset: 4, endOffset: 8 },
    ]);
    expect(linesOf(await readOnce([folder('a')], at(9)))).toEqual(['one', 'two']);
  });

  it('leaves a byte order mark out of the first line, also of a file that starts over', async () => {
    fs.writeFileSync(folder('a'), '\ufeffone, and more\n');
    const { batches, lines } = followers.follow([folder('a')]);
    await eventually(() => expect(lines()).toEqual(['one, and more']));
    expect(batches[0]).toMatchObject({ startOffset: 0, endOffset: 17 });
    fs.writeFileSync(folder('a'), '\ufefftwo\n');
    await eventually(() => expect(lines()[1]).toBe('two'));
    fs.renameSync(folder('a'), folder('a.1'));
    fs.writeFileSync(folder('a'), '\ufeffthree\n');
    await eventually(() => expect(lines()[2]).toBe('three'));
  });
});
