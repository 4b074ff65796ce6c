import fs from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { EMPTY, lastValueFrom, type Observable, toArray } from 'rxjs';
import type { FileMark } from '../../../operators/files/append/exact-file.ts';
import { ExactFile } from '../../../operators/files/append/exact-file.ts';
import { FileAppender } from '../../../operators/files/append/file-appender.ts';
import { recordingLogger } from '../../support/pipelines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const path = () => folder('out/events');
const text = (name = 'out/events') => fs.readFileSync(folder(name), 'utf8');
const done = <T>(work: Observable<T>) => lastValueFrom(work.pipe(toArray()));

function exactFile() {
  const begun: FileMark[] = [];
  const removed: object[] = [];
  const appender = new FileAppender(path());
  const log = recordingLogger();
  const file = new ExactFile(appender, {
    log,
    begun: (mark) => {
      begun.push(mark);
      return EMPTY;
    },
    removed: (place) => removed.push(place),
  });
  const write = async (...texts: string[]) => (await done(file.write(texts)))[0] as readonly FileMark[];
  return { file, appender, begun, removed, write, log };
}

describe('an output that can be cut back', () => {
  it('tells where each text ends, and ahead of each write where it goes', async () => {
    fs.mkdirSync(folder('out'));
    fs.writeFileSync(path(), 'theirs');
    const { begun, write, appender } = exactFile();
    const marks = await write('é\n', 'two\n');
    expect(marks.map(({ length }) => length)).toEqual([10, 14]);
    expect(begun.map(({ length }) => length)).toEqual([7]);
    fs.renameSync(path(), folder('out/old'));
    appender.close();
    const [next] = await write('three\n');
    expect(begun[1]).toMatchObject({ id: next?.id, length: 0 });
    expect(text('out/old')).toBe('theirs\né\ntwo\n');
    expect(text()).toBe('three\n');
    appender.close();
  });

  it('is not confirmed after the disk has failed beside the writes, which the kernel tells once', async () => {
    const { file, write, appender } = exactFile();
    const failing = jest.spyOn(fs, 'fdatasync').mockImplementationOnce((_, callback) => {
      callback(Object.assign(new Error('i/o error'), { code: 'EIO' }));
    });
    await write('one\n');
    expect(failing).toHaveBeenCalledTimes(1);
    await expect(done(file.sync())).rejects.toThrow('i/o error');
    await write('two\n');
    await done(file.sync());
    failing.mockRestore();
    appender.close();
  });

  it('is cut back to any mark, under whatever name it has in its folder', async () => {
    const first = exactFile();
    const texts = Array.from({ length: 300 }, (_, n) => `text ${n}\n`);
    const marks = await first.write(...texts);
    first.appender.close();
    fs.renameSync(path(), folder('out/renamed'));
    for (let n = texts.length - 1; n >= 0; n -= 17) {
      const { file, log } = exactFile();
      await done(file.restore([marks[n] as FileMark]));
      expect(text('out/renamed')).toBe(texts.slice(0, n + 1).join(''));
      expect(log.lines.length).toBe(n === texts.length - 1 ? 0 : 1);
    }
  });

  it.each([
    ['shorter', () => fs.truncateSync(path(), 3), /it has 3 bytes, of 8 that were confirmed/],
    [
      'another one',
      () => fs.writeFileSync(path(), 'one\nTWO\nthree\n'),
      /it no longer starts with the same bytes/,
    ],
    ['gone', () => fs.rmSync(path()), /it is gone/],
    ['in a folder that is gone', () => fs.rmSync(folder('out'), { recursive: true }), /it is gone/],
  ])('is refused for good if it is %s', async (_, change, message) => {
    const { write, appender } = exactFile();
    const [, mark] = await write('one\n', 'two\n');
    appender.close();
    change();
    const restored = done(exactFile().file.restore([mark as FileMark]));
    await expect(restored).rejects.toMatchObject({
      permanent: true,
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['removed', (at: string) => fs.rmSync(at), true],
    [
      'renamed, then removed, as by logrotate',
      (at: string) => {
        fs.renameSync(at, `${at}.1`);
        fs.rmSync(`${at}.1`);
      },
      false,
    ],
  ])('tells how long a file was that was %s', async (_, change, isRemoved) => {
    const { file, write, removed, appender } = exactFile();
    const [mark] = await write('one\n');
    change(path());
    await done(file.sync());
    expect(removed).toEqual(isRemoved ? [{ id: mark?.id, length: 4 }] : []);
    appender.close();
  });

  it('is cut back as well if it was compressed meanwhile and is put back', async () => {
    const { write, appender } = exactFile();
    const [mark] = await write('one\n', 'two\n');
    appender.close();
    fs.copyFileSync(path(), folder('out/copy'));
    fs.rmSync(path());
    const restored = done(exactFile().file.restore([mark as FileMark]));
    await expect(restored).rejects.toThrow(/it is gone\. Its first 4 bytes were committed.*put it back at/);
    fs.renameSync(folder('out/copy'), path());
    await done(exactFile().file.restore([mark as FileMark]));
    expect(text()).toBe('one\n');
  });

  it('needs not be there if nothing of it was confirmed, which is said', async () => {
    const { begun, write, appender } = exactFile();
    await write('one\n');
    appender.close();
    fs.rmSync(path());
    const { file, log } = exactFile();
    expect(await done(file.restore(begun))).toEqual([]);
    expect(log.lines).toEqual([
      expect.stringMatching(/is gone, of which nothing was confirmed; all .* again/),
    ]);
  });

  it('starts over when another program truncates it', async () => {
    const { begun, write, appender } = exactFile();
    await write('one\n', 'two\n');
    fs.truncateSync(path());
    appender.close();
    const [mark] = await write('three\n');
    expect([begun.length, begun[1]?.length, mark?.length, text()]).toEqual([2, 0, 6, 'three\n']);
    appender.close();
  });
});
