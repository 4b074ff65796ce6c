import fs from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { asyncScheduler, EMPTY, lastValueFrom, type Observable, type SchedulerLike, toArray } from 'rxjs';
import { ExactFile, type FileMark } from '../../../operators/files/append/exact-file.ts';
import { FileAppender } from '../../../operators/files/append/file-appender.ts';
import type { RotationOptions } from '../../../operators/files/append/file-rotation.ts';
import { type FileSystem, fileSystem, replaceFileSystem } from '../../../operators/support/file-system.ts';
import { recordingLogger } from '../../support/pipelines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const path = () => folder('events.jsonl');
const done = <T>(work: Observable<T>) => lastValueFrom(work.pipe(toArray()));

let restore = () => {};
afterEach(() => restore());

/** Milliseconds: 03:04:05 on a Friday. */
const START = Date.parse('2026-01-02T03:04:05Z');
const HOUR = 3_600_000;

/** An appender, and a clock that only goes on when it is told to. */
function appender(rotation: RotationOptions, start = START) {
  const clock = { now: start };
  const scheduler = Object.create(asyncScheduler, { now: { value: () => clock.now } }) as SchedulerLike;
  const log = recordingLogger();
  const file = new FileAppender(path(), { rotation, log, scheduler });
  const append = async (...texts: string[]) => {
    for (const text of texts) await done(file.append(text));
    await file.rotation?.settled;
  };
  return { file, append, clock, log };
}

/** Names and contents, in order of names. */
function contents(): Record<string, string> {
  const read = (name: string) => {
    const bytes = fs.readFileSync(folder(name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  };
  return Object.fromEntries(
    fs
      .readdirSync(folder())
      .sort()
      .map((name) => [name, read(name)]),
  );
}

describe('a file that is rotated', () => {
  it('never gets larger than it may, and no text is divided', async () => {
    const { append, clock } = appender({ bytes: 10 });
    await append('one\n', 'two\n', 'three\n');
    clock.now += 1000;
    await append('a line that is longer\n', 'x\n');
    expect(contents()).toEqual({
      'events-20260102T030405Z.jsonl': 'one\ntwo\n',
      'events-20260102T030406Z-2.jsonl': 'a line that is longer\n',
      'events-20260102T030406Z.jsonl': 'three\n',
      'events.jsonl': 'x\n',
    });
  });

  it('is rotated before the first write of a new period, also by another process', async () => {
    const first = appender({ period: HOUR });
    await first.append('a\n');
    first.clock.now += HOUR / 2;
    await first.append('b\n');
    first.clock.now += HOUR / 2;
    await first.append('c\n');
    expect(contents()).toEqual({ 'events-20260102T040405Z.jsonl': 'a\nb\n', 'events.jsonl': 'c\n' });
    first.file.close();
    fs.utimesSync(path(), first.clock.now / 1000, first.clock.now / 1000);
    await appender({ period: HOUR }, first.clock.now + HOUR / 2).append('d\n');
    expect(contents()['events.jsonl']).toBe('c\nd\n');
    fs.utimesSync(path(), first.clock.now / 1000, first.clock.now / 1000);
    await appender({ period: HOUR }, first.clock.now + 30 * HOUR).append('e\n');
    expect(contents()).toMatchObject({ 'events-20260103T100405Z.jsonl': 'c\nd\n', 'events.jsonl': 'e\n' });
  });

  it('is not rotated while it is empty', async () => {
    fs.writeFileSync(path(), '');
    fs.utimesSync(path(), 0, 0);
    await appender({ period: HOUR, bytes: 1 }).append('too long\n');
    expect(contents()).toEqual({ 'events.jsonl': 'too long\n' });
  });

  it('has names without an extension too', async () => {
    const file = new FileAppender(folder('events'), { rotation: { bytes: 1 } });
    await done(file.append('a\n'));
    await done(file.append('b\n'));
    expect(Object.keys(contents())).toEqual(['events', expect.stringMatching(/^events-\d{8}T\d{6}Z$/)]);
  });

  it('is compressed, with its permissions', async () => {
    const { append } = appender({ bytes: 1, compression: 'gzip' });
    await append('one\n');
    fs.chmodSync(path(), 0o600);
    const long = `${'line\n'.repeat(200_000)}`;
    await append(long, 'three\n');
    expect(contents()).toEqual({
      'events-20260102T030405Z-2.jsonl.gz': long,
      'events-20260102T030405Z.jsonl.gz': 'one\n',
      'events.jsonl': 'three\n',
    });
    expect(fs.statSync(folder('events-20260102T030405Z.jsonl.gz')).mode & 0o777).toBe(0o600);
  });

  it('is tidied up after a crash in the middle of a compression', async () => {
    const name = 'events-20260101T000000Z.jsonl';
    fs.writeFileSync(folder(name), 'one\n');
    fs.writeFileSync(folder(`${name}.gz.999999999.tmp`), 'half');
    fs.writeFileSync(folder('events-20260101T000001Z.jsonl'), 'two\n');
    fs.writeFileSync(folder('events-20260101T000001Z.jsonl.gz'), gzipSync('two\n'));
    // Of another process that runs, and of other programs.
    const others = [`${name}.gz.1.tmp`, 'events-1.jsonl', 'other-20260101T000000Z.jsonl', 'events.jsonl.1'];
    for (const other of others) fs.writeFileSync(folder(other), 'theirs');
    await appender({ bytes: 1000, compression: 'gzip' }).append('now\n');
    expect(contents()).toEqual({
      ...Object.fromEntries(others.map((other) => [other, 'theirs'])),
      'events-20260101T000000Z.jsonl.gz': 'one\n',
      'events-20260101T000001Z.jsonl.gz': 'two\n',
      'events.jsonl': 'now\n',
    });
  });

  it.each<[NonNullable<RotationOptions['keep']>, string[]]>([
    [{ files: 2 }, ['e3\n', 'e4\n']],
    [{ bytes: 7 }, ['e3\n', 'e4\n']],
    [{ age: 2500 }, ['e2\n', 'e3\n', 'e4\n']],
    [{ files: 3, bytes: 4 }, ['e4\n']],
    [{}, ['e0\n', 'e1\n', 'e2\n', 'e3\n', 'e4\n']],
  ])('keeps the newest ones: %j', async (keep, kept) => {
    const { append, clock } = appender({ bytes: 1, keep });
    for (let n = 0; n < 6; n++) {
      await append(`e${n}\n`);
      clock.now += 1000;
    }
    const { 'events.jsonl': open, ...rotated } = contents();
    expect([open, Object.values(rotated)]).toEqual(['e5\n', kept]);
  });

  it('keeps the newest ones of one second, of which there are more than nine', async () => {
    const { append } = appender({ bytes: 1, keep: { files: 2 }, compression: 'gzip' });
    for (let n = 0; n < 13; n++) await append(`e${n}\n`);
    expect(Object.values(contents()).sort()).toEqual(['e10\n', 'e11\n', 'e12\n']);
  });

  it('is written to as it is if it cannot be renamed, with one warning', async () => {
    const refused = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    const rename = ((_from, _to, callback) => callback(refused)) as FileSystem['rename'];
    restore = replaceFileSystem({ ...fileSystem, rename });
    const { append, log } = appender({ bytes: 1 });
    await append('one\n', 'two\n', 'three\n');
    expect(contents()).toEqual({ 'events.jsonl': 'one\ntwo\nthree\n' });
    expect(log.lines).toEqual([
      expect.stringMatching(/^warn .*cannot be rotated, and is written to as it is/),
    ]);
  });

  it('may be rotated by another program as well', async () => {
    const { append } = appender({ bytes: 10 });
    await append('one\n');
    fs.renameSync(path(), folder('events.jsonl.1'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await append('two\n');
    expect(contents()).toEqual({ 'events.jsonl': 'two\n', 'events.jsonl.1': 'one\n' });
  });
});

describe('a file that may have to be cut back', () => {
  function exactFile(rotation: RotationOptions) {
    const { file, log } = appender(rotation);
    const exact = new ExactFile(file, { log, begun: () => EMPTY, removed: () => {} });
    const write = async (...texts: string[]) => (await done(exact.write(texts)))[0] as readonly FileMark[];
    return { exact, write, log, settled: () => file.rotation?.settled };
  }

  it('is neither compressed nor deleted before what is in it is committed', async () => {
    const { exact, write, settled } = exactFile({ bytes: 4, compression: 'gzip', keep: { files: 1 } });
    const [first] = await write('a\n');
    const [second] = await write('bb\n');
    const [third] = await write('ccc\n');
    const [fourth] = await write('dddd\n');
    await settled();
    const plain = { 'events-20260102T030405Z.jsonl': 'a\n' };
    expect(contents()).toMatchObject(plain);
    // The cut is in a file: it may have to be cut there.
    exact.committed(first as FileMark);
    await settled();
    expect(contents()).toMatchObject(plain);
    exact.committed(second as FileMark);
    exact.committed(third as FileMark);
    await settled();
    expect(contents()).toEqual({ 'events-20260102T030405Z-3.jsonl': 'ccc\n', 'events.jsonl': 'dddd\n' });
    exact.committed(fourth as FileMark);
    await settled();
    expect(contents()).toEqual({ 'events-20260102T030405Z-3.jsonl.gz': 'ccc\n', 'events.jsonl': 'dddd\n' });
  });

  it('is found and cut back under its new name', async () => {
    const { write } = exactFile({ bytes: 4 });
    const [first] = await write('a\n', 'b\n');
    const [second] = await write('c\n');
    expect(contents()).toEqual({ 'events-20260102T030405Z.jsonl': 'a\nb\n', 'events.jsonl': 'c\n' });
    const next = exactFile({ bytes: 4, compression: 'gzip' });
    await done(
      next.exact.restore([first as FileMark, { ...(second as FileMark), length: 0, head: HEAD_OF_NOTHING }]),
    );
    expect(contents()).toEqual({ 'events-20260102T030405Z.jsonl': 'a\n', 'events.jsonl': '' });
    const [again] = await next.write('b\n', 'c\n');
    next.exact.committed(again as FileMark);
    await next.settled();
    expect(contents()).toEqual({ 'events-20260102T030405Z.jsonl.gz': 'a\n', 'events.jsonl': 'b\nc\n' });
  });
});

const HEAD_OF_NOTHING = 'e3b0c44298fc1c14';
