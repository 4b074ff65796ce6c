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

  describe('with sources that cannot be read again', () => {
    const written = async () => {
      const { write, appender } = exactFile();
      const marks = await write('one\n', 'two\n', 'three\n');
      appender.close();
      return marks as readonly [FileMark, FileMark, FileMark];
    };
    const restore = async (mark: FileMark, lost = ['/in/a.log']) => {
      const { file, log } = exactFile();
      await done(file.restore([mark], lost));
      return log.lines;
    };

    it('is cut back, and what is cut off is in a file that the log names', async () => {
      const [one, two] = await written();
      fs.chmodSync(path(), 0o600);
      const lines = await restore(two);
      expect(lines).toEqual([
        expect.stringMatching(/6 bytes.*events\.uncommitted-1: it has lines of \/in\/a\.log/),
      ]);
      await restore(one);
      expect([text(), text('out/events.uncommitted-1'), text('out/events.uncommitted-2')]).toEqual([
        'one\n',
        'three\n',
        'two\n',
      ]);
      expect(fs.statSync(folder('out/events.uncommitted-1')).mode & 0o777).toBe(0o600);
    });

    it('sets nothing aside where nothing has to be cut off', async () => {
      const [, , three] = await written();
      expect(await restore(three)).toEqual([]);
      expect(fs.readdirSync(folder('out'))).toEqual(['events']);
    });

    it('names three sources, and counts the others', async () => {
      const [one] = await written();
      const [line] = await restore(one, ['a', 'b', 'c', 'd', 'e']);
      expect(line).toMatch(/it has lines of a, b, c and 2 other sources, which/);
    });

    it('stays as it is, and leaves no part of a copy, while it cannot be copied', async () => {
      const [one] = await written();
      const failing = jest.spyOn(fs, 'write').mockImplementationOnce(((...args: unknown[]) => {
        const callback = args.at(-1) as (error: Error) => void;
        callback(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
      }) as never);
      await expect(restore(one)).rejects.toThrow(/no space left/);
      failing.mockRestore();
      expect([text(), fs.readdirSync(folder('out'))]).toEqual(['one\ntwo\nthree\n', ['events']]);
    });

    it('does not follow a link in the place of the copy', async () => {
      const [one] = await written();
      fs.symlinkSync(folder('elsewhere'), folder('out/events.uncommitted-1'));
      await restore(one);
      expect([fs.existsSync(folder('elsewhere')), text('out/events.uncommitted-2')]).toEqual([
        false,
        'two\nthree\n',
      ]);
    });

    it('says to keep a copy of an output that is gone', async () => {
      const { begun, write, appender } = exactFile();
      await write('one\n');
      appender.close();
      fs.rmSync(path());
      expect(await restore(begun[0] as FileMark)).toEqual([
        expect.stringMatching(/is gone.*keep that copy: lines of \/in\/a\.log in it cannot be read again/),
      ]);
    });
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
