import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { type FileSystem, replaceFileSystem } from '../../operators/internal-files.ts';
import { DiskLog, type LogRecord } from '../../src/buffer/disk-log.ts';
import type { EventBufferOptions, Reservation } from '../../src/buffer/event-buffer.ts';
import { eventually } from '../support/eventually.ts';
import { recordingLogger } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
const opened: DiskLog[] = [];
const logger = recordingLogger();
let dropped = 0;
const full: boolean[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()));
  logger.lines.length = 0;
  dropped = 0;
  full.length = 0;
});

async function open(options: Partial<EventBufferOptions> = {}): Promise<DiskLog> {
  fs.mkdirSync(folder('buffer'), { recursive: true, mode: 0o700 });
  const log = await DiskLog.open({
    folder: folder('buffer'),
    maxBytes: 1024 * 1024,
    whenFull: 'wait',
    logger,
    onDropped: (events) => {
      dropped += events;
    },
    onFull: (isFull) => full.push(isFull),
    ...options,
  });
  opened.push(log);
  return log;
}

/** What a crash leaves: the log is not closed, and its folder is used by another process. */
async function reopenAfterCrash(options?: Partial<EventBufferOptions>): Promise<DiskLog> {
  fs.cpSync(folder('buffer'), folder('copy'), { recursive: true });
  await Promise.all(opened.splice(0).map((log) => log.close()));
  fs.rmSync(folder('buffer'), { recursive: true });
  fs.renameSync(folder('copy'), folder('buffer'));
  return open(options);
}

const line = (n: number) => `{"n":${n}}\n`;
const write = (log: DiskLog, ...numbers: number[]) =>
  log.write(Buffer.from(numbers.map(line).join('')), numbers.length);
/** Writes a line if room can be reserved for it. Returns whether it could. */
async function isTaken(log: DiskLog, text: string): Promise<boolean> {
  const room = log.reserve(text.length);
  if (typeof room === 'string') return false;
  await log.write(Buffer.from(text), 1);
  room.end();
  return true;
}

/** What there is to read, released as it is read if `releases`. */
async function readAll(log: DiskLog, releases = false): Promise<number[]> {
  log.end();
  const records: LogRecord[] = [];
  for await (const record of log.read()) {
    records.push(record);
    if (releases) log.release(record.end);
  }
  return records.flatMap(({ documents }) =>
    documents
      .toString()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text).n),
  );
}

const segments = () => fs.readdirSync(folder('buffer')).filter((name) => name.endsWith('.records'));

/** The names of all records that are not released. */
async function readIds(log: DiskLog): Promise<string[]> {
  log.end();
  const ids: string[] = [];
  for await (const { id } of log.read()) ids.push(id);
  return ids;
}

describe('the names of records', () => {
  it('are different in the copies of a folder, as a golden image makes them, even in the same millisecond', async () => {
    const image = await open();
    await write(image, 0);
    for await (const { end } of image.read()) {
      image.release(end);
      break;
    }
    await opened.pop()?.close();
    const now = jest.spyOn(asyncScheduler, 'now').mockReturnValue(1_800_000_000_000);
    try {
      const ids: string[] = [];
      for (const clone of ['one', 'other']) {
        fs.cpSync(folder('buffer'), folder(clone), { recursive: true });
        const log = await open({ folder: folder(clone) });
        await log.write(Buffer.from(`{"host":"${clone.padEnd(5)}"}\n`), 1);
        ids.push(...(await readIds(log)));
      }
      expect(new Set(ids).size).toBe(2);
    } finally {
      now.mockRestore();
    }
  });

  it('stay the same where they can be written, and are written whole or not at all', async () => {
    const log = await open();
    await write(log, 1);
    const ids = await readIds(log);
    expect(fs.statSync(folder('buffer/id')).mode & 0o777).toBe(0o600);
    expect(fs.existsSync(folder('buffer/id.new'))).toBe(false);
    expect(await readIds(await reopenAfterCrash())).toEqual(ids);
    expect(logger.lines).toEqual([]);
  });

  it.each(['writeFileSync', 'rename', 'openSync'] as const)(
    'are new ones if `%s` fails, with a warning, and what waits can be delivered',
    async (call) => {
      const log = await open();
      await write(log, 1);
      await opened.pop()?.close();
      // As an earlier version has left it.
      fs.rmSync(folder('buffer/id'));
      const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      const restore = replaceFileSystem({
        ...fs,
        [call]: (...args: unknown[]) => {
          const done = args.at(-1);
          if (typeof done !== 'function') throw full;
          done(full);
        },
      } as FileSystem);
      try {
        expect(await readIds(await open())).toEqual([expect.stringMatching(/^\d{8}T/)]);
      } finally {
        await opened.pop()?.close();
        restore();
      }
      expect(fs.existsSync(folder('buffer/id'))).toBe(false);
      expect(logger.lines).toEqual([
        expect.stringMatching(
          /^warn cannot write to .*buffer\/id: ENOSPC.*; make room on that disk\. The ids /,
        ),
      ]);
      expect(await readAll(await open())).toEqual([1]);
      expect(fs.readFileSync(folder('buffer/id'), 'latin1')).toHaveLength(36);
    },
  );
});

describe('a log on disk', () => {
  it('gives what was written, in order, also while it is being written', async () => {
    const log = await open();
    const read: number[] = [];
    const reading = (async () => {
      for await (const { documents, end } of log.read()) {
        read.push(JSON.parse(documents.toString()).n);
        log.release(end);
      }
    })();
    for (let n = 0; n < 50; n++) await write(log, n);
    await eventually(() => expect(read).toEqual(Array.from({ length: 50 }, (_, n) => n)));
    log.end();
    await reading;
    expect(log.status).toEqual({ bytes: expect.any(Number), events: 0, oldest: undefined });
  });

  it('gives what was not released again after a crash, and nothing that was', async () => {
    const log = await open();
    for (let n = 0; n < 10; n++) await write(log, n);
    const records = log.read();
    for (let n = 0; n < 4; n++) log.release((await records.next()).value.end);
    await eventually(() => expect(fs.readFileSync(folder('buffer/released'), 'latin1')).toMatch(/^1 12\d /));
    expect(await readAll(await reopenAfterCrash())).toEqual([4, 5, 6, 7, 8, 9]);
  });

  it('keeps its files from others', async () => {
    const log = await open();
    await write(log, 1);
    expect(fs.statSync(folder('buffer')).mode & 0o777).toBe(0o700);
    expect(fs.statSync(folder('buffer/000000000001.records')).mode & 0o777).toBe(0o600);
  });

  it('loses no whole record to a tail that was torn at any byte, and goes on after it', async () => {
    const log = await open();
    for (let n = 0; n < 3; n++) await write(log, n);
    const path = folder('buffer/000000000001.records');
    const whole = fs.readFileSync(path);
    await opened.pop()?.close();
    for (let length = whole.length; length >= 0; length--) {
      fs.rmSync(folder('buffer'), { recursive: true });
      fs.mkdirSync(folder('buffer'));
      fs.writeFileSync(path, whole.subarray(0, length));
      const kept = [0, 1, 2].slice(0, Math.floor((length * 3) / whole.length));
      const again = await open();
      expect(again.status.events).toBe(kept.length);
      await write(again, 99);
      expect(await readAll(await reopenAfterCrash())).toEqual([...kept, 99]);
      await opened.pop()?.close();
    }
    expect(logger.lines).toEqual([]);
  });

  it.each([
    ['header', 0],
    ['number of events', 12],
    ['content', 24],
  ])('a damaged %s costs no other segment, is reported, and nothing wrong is read', async (_, offset) => {
    const log = await open({ maxBytes: 800 });
    for (let n = 0; n < 9; n++) await write(log, n);
    expect(segments()).toHaveLength(3);
    await opened.pop()?.close();
    const path = folder('buffer/000000000002.records');
    const bytes = fs.readFileSync(path);
    (bytes[offset] as number) ^= 1;
    fs.writeFileSync(path, bytes);
    const again = await open();
    const left = await readAll(again);
    expect(left).toEqual(expect.arrayContaining([0, 1, 2, 6, 7, 8]));
    expect(left).not.toContain(3);
    expect(left).toEqual([...left].sort());
    expect(logger.lines).toEqual([
      expect.stringMatching(/^error .*000000000002\.records: .* checksum does not match/),
    ]);
  });

  it('goes on after a damaged record in the segment that is being written, and keeps no room for it', async () => {
    const log = await open();
    const read: number[] = [];
    await write(log, 1);
    await write(log, 2);
    const path = folder('buffer/000000000001.records');
    const bytes = fs.readFileSync(path);
    (bytes[0] as number) ^= 1;
    fs.writeFileSync(path, bytes);
    const reading = (async () => {
      for await (const { documents, end } of log.read()) {
        read.push(JSON.parse(documents.toString()).n);
        log.release(end);
      }
    })();
    await eventually(() => expect(dropped).toBe(2));
    await write(log, 3);
    await write(log, 4);
    await eventually(() => expect(read).toEqual([3, 4]));
    expect(dropped).toBe(2);
    expect(log.status.events).toBe(0);
    log.end();
    await reading;
  });

  describe('that is full', () => {
    const fill = async (log: DiskLog) => {
      for (let n = 0; n < 20; n++) await write(log, n);
    };

    it('drops the oldest events if it is to, and says how many', async () => {
      const log = await open({ maxBytes: 320, whenFull: 'drop_oldest' });
      await fill(log);
      const left = await readAll(log);
      expect(left).toEqual(Array.from({ length: left.length }, (_, n) => 20 - left.length + n));
      expect(left.length + dropped).toBe(20);
      expect(left.length).toBeGreaterThan(4);
    });

    it('reserves no room if it is to refuse events, until there is some', async () => {
      const log = await open({ maxBytes: 320, whenFull: 'reject' });
      const taken: boolean[] = [];
      for (let n = 0; n < 12; n++) taken.push(await isTaken(log, line(n)));
      const count = taken.indexOf(false);
      expect(count).toBeGreaterThan(4);
      expect(taken.slice(count)).not.toContain(true);
      expect([log.isFull, full]).toEqual([true, [true]]);
      const records = log.read();
      for (let n = 0; n < count; n++) log.release((await records.next()).value.end);
      expect([log.isFull, full]).toEqual([false, [true, false]]);
      expect(await isTaken(log, line(100))).toBe(true);
    });

    it('keeps what is reserved, and gives it back', async () => {
      const log = await open({ maxBytes: 320, whenFull: 'reject' });
      const first = log.reserve(200);
      expect(log.reserve(200)).toBe('none');
      expect(log.reserve(321)).toBe('never');
      if (typeof first !== 'string') first.end();
      expect(log.isFull).toBe(false);
      expect(log.reserve(320)).not.toBe('none');
    });

    it('is full until there is room for more than a few events', async () => {
      const log = await open({ maxBytes: 1000, whenFull: 'reject' });
      expect(log.reserve(900)).toBeInstanceOf(Object);
      expect(log.reserve(200)).toBe('none');
      expect(log.reserve(1)).toBeInstanceOf(Object);
      expect(log.isFull).toBe(true);
      const large = await open({ maxBytes: 1000, whenFull: 'reject' });
      expect(large.reserve(300)).toBeInstanceOf(Object);
      expect(large.reserve(900)).toBe('none');
      expect(large.reserve(1)).toBeInstanceOf(Object);
      expect(large.isFull).toBe(false);
    });

    it('is not full after it has refused a large request, and is until a segment is free after a small one', async () => {
      const log = await open({ maxBytes: 8000, whenFull: 'reject' });
      for (let n = 0; n < 12; n++) expect(await isTaken(log, `${String(n).repeat(76)}\n`)).toBe(true);
      expect(log.reserve(7200)).toBe('none');
      expect([log.isFull, full]).toEqual([false, []]);
      const taken = log.reserve(6500) as Reservation;
      expect(log.reserve(300)).toBe('none');
      expect(full).toEqual([true]);
      taken.end();
      expect(full).toEqual([true, false]);
    });

    it('stays full while there is room for what was refused last, and not for a segment', async () => {
      const log = await open({ maxBytes: 8000, whenFull: 'reject' });
      const [most, some] = [log.reserve(7000), log.reserve(900)] as Reservation[];
      expect(log.reserve(300)).toBe('none');
      some?.end();
      expect([log.isFull, typeof log.reserve(300)]).toEqual([true, 'object']);
      most?.end();
      expect(full).toEqual([true, false]);
    });

    it('counts events once while they are written: what is stored is no longer reserved', async () => {
      const log = await open({ maxBytes: 1000, whenFull: 'reject' });
      const text = `${'x'.repeat(375)}\n`;
      const first = log.reserve(text.length) as Reservation;
      await log.write(Buffer.from(text), 1);
      const second = log.reserve(text.length);
      expect(second).toBeInstanceOf(Object);
      expect(log.reserve(text.length)).toBe('none');
      first.end();
      expect(log.reserve(text.length)).toBe('none');
    });

    it('keeps the room of events that others have overtaken', async () => {
      const log = await open({ maxBytes: 1000, whenFull: 'reject' });
      const overtaken = log.reserve(300) as Reservation;
      const text = `${'x'.repeat(299)}\n`;
      const overtaking = log.reserve(text.length) as Reservation;
      await log.write(Buffer.from(text), 1);
      overtaking.end();
      expect(log.reserve(400)).toBe('none');
      overtaken.end();
      expect(log.reserve(400)).toBeInstanceOf(Object);
    });

    it('has all of its room again when all is released, also in the segment that is written to', async () => {
      const log = await open({ maxBytes: 1000, whenFull: 'reject' });
      expect(await isTaken(log, `${'x'.repeat(800)}\n`)).toBe(true);
      const records = log.read();
      log.release((await records.next()).value.end);
      expect(await isTaken(log, `${'y'.repeat(800)}\n`)).toBe(true);
      expect(log.status.bytes).toBeLessThanOrEqual(1000);
    });

    it('waits for room otherwise, also where all room is in one segment', async () => {
      const log = await open({ maxBytes: 150 });
      const writing = fill(log);
      const read: number[] = [];
      for await (const { documents, end } of log.read()) {
        read.push(JSON.parse(documents.toString()).n);
        expect(log.status.bytes).toBeLessThanOrEqual(150);
        log.release(end);
        if (read.length === 20) break;
      }
      await writing;
      expect(read).toEqual(Array.from({ length: 20 }, (_, n) => n));
    });

    it('takes a record that is larger than the whole log once it is empty', async () => {
      const log = await open({ maxBytes: 100 });
      const long = Buffer.from(`{"text":"${'x'.repeat(200)}"}\n`);
      await log.write(long, 1);
      expect(full).toEqual([]);
      const writing = write(log, 1);
      await eventually(() => expect(full).toEqual([true]));
      log.release((await log.read().next()).value.end);
      await writing;
      expect(full).toEqual([true, false]);
    });
  });
});
