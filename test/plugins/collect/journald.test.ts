import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Observable } from 'rxjs';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import journald from '../../../plugins/collect/journald.ts';
import { readEntry } from '../../../plugins/journal/read-entry.ts';
import type { CollectorState, PipelineRunContext } from '../../../src/sdk/context.ts';
import type { EventBatch } from '../../../src/sdk/event-batch.ts';
import { memoryState } from '../../../src/state/state-store.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { type EntryFields, hasJournals, writeJournal } from '../../support/journals.ts';
import { recordingLogger } from '../../support/pipelines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

let stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
  stops = [];
});
const folder = tempFolder();

const entry = (message: string, fields: EntryFields = {}): EntryFields => ({
  MESSAGE: message,
  PRIORITY: '6',
  _SYSTEMD_UNIT: 'web.service',
  ...fields,
});

function run(settings: object = {}, overrides: Partial<PipelineRunContext> = {}) {
  const input = { plugin: 'journald', directory: folder(), ...settings };
  const parsed = journald.get_config_schema().safeParse(input);
  if (!parsed.success) throw new Error('the settings are wrong');
  const logger = recordingLogger();
  const ended: Observable<unknown>[] = [];
  const beforeEnd = (work$: Observable<unknown>) => void ended.push(work$);
  const ctx = testContext(parsed.data as { plugin: string }, { logger, beforeEnd, ...overrides });
  const batches: EventBatch[] = [];
  const result = { batches, error: undefined as unknown, isCompleted: false };
  const subscription = (journald.collect({ ctx: ctx as never }) as Observable<EventBatch>).subscribe({
    next: (batch) => {
      if (overrides.demand instanceof InFlightWindow) overrides.demand.take(batch.size);
      batches.push(batch);
    },
    error: (error) => {
      result.error = error;
    },
    complete: () => {
      result.isCompleted = true;
    },
  });
  const stop = () =>
    new Promise<void>((resolve, reject) => {
      subscription.unsubscribe();
      if (ended[0] === undefined) resolve();
      ended[0]?.subscribe({ error: reject, complete: resolve });
    });
  stops.push(stop);
  const data = () => batches.flatMap((batch) => batch.events.map(({ data }) => data));
  return Object.assign(result, { data, logger, stop, lines: () => data().map(({ line }) => line) });
}

/** All that is there now. */
async function readOnce(settings: object = {}, overrides: Partial<PipelineRunContext> = {}) {
  const reading = run({ backfill: true, ...settings }, { once: true, ...overrides });
  await eventually(() => expect(reading.isCompleted || reading.error !== undefined).toBe(true));
  return reading;
}

const acknowledge = (batches: readonly EventBatch[]) => {
  for (const batch of batches) batch.acknowledge?.('forwarded');
};

(hasJournals ? describe : describe.skip)('journald collector, with real journals', () => {
  it('emits one event for each entry, with its time, source and fields', async () => {
    writeJournal(folder(), [
      entry('hello', { _HOSTNAME: 'web1', _PID: '17', SYSLOG_IDENTIFIER: 'nginx', CODE_FILE: 'a.c' }),
      { MESSAGE: 'no unit', SYSLOG_IDENTIFIER: 'cron' },
      { MESSAGE: 'neither' },
    ]);
    const { batches, data } = await readOnce();
    expect(data()).toEqual([
      {
        ...{ line: 'hello', source: 'web.service', PRIORITY: '6', SYSLOG_IDENTIFIER: 'nginx' },
        ...{ _SYSTEMD_UNIT: 'web.service', _HOSTNAME: 'web1', _PID: '17' },
      },
      { line: 'no unit', source: 'cron', SYSLOG_IDENTIFIER: 'cron' },
      { line: 'neither', source: 'journal' },
    ]);
    expect(batches[0]?.events[0]?.timestamp).toMatch(/^2023-11-14T22:\d\d:\d\d\.000Z$/);
  });

  it('has the fields that are chosen, or all', async () => {
    writeJournal(folder(), [entry('a', { CODE_FILE: 'a.c' })]);
    expect((await readOnce({ fields: ['CODE_FILE', 'NOT_THERE'] })).data()).toEqual([
      { line: 'a', source: 'web.service', CODE_FILE: 'a.c' },
    ]);
    expect((await readOnce({ fields: [] })).data()).toEqual([{ line: 'a', source: 'web.service' }]);
    expect((await readOnce({ fields: 'all' })).data()).toEqual([
      expect.objectContaining({ CODE_FILE: 'a.c', PRIORITY: '6', _BOOT_ID: 'a'.repeat(32) }),
    ]);
  });

  it('reads messages that are not text, occur twice, are long or have several lines', async () => {
    const long = 'x'.repeat(100_000);
    writeJournal(folder(), [
      entry('one\ntwo'),
      { MESSAGE: Buffer.from('\x1b[31mred\x1b[0m d\xe9', 'latin1') },
      { MESSAGE: ['first', 'second'], CODE: ['a', Buffer.from([1])] },
      entry(long),
      { MESSAGE: Buffer.from('d\u00e9j\u00e0 \u{1f600}') },
      { PRIORITY: '3' },
    ]);
    const { data } = await readOnce({ fields: ['CODE'] });
    expect(data()).toEqual([
      { line: 'one\ntwo', source: 'web.service' },
      { line: '\x1b[31mred\x1b[0m d\ufffd', source: 'journal' },
      { line: 'first\nsecond', source: 'journal', CODE: expect.arrayContaining(['a', '\x01']) },
      { line: long, source: 'web.service' },
      { line: 'd\u00e9j\u00e0 \u{1f600}', source: 'journal' },
      { source: 'journal' },
    ]);
  });

  it('has only the units and priorities that are chosen', async () => {
    writeJournal(folder(), [
      entry('a', { PRIORITY: '3' }),
      entry('b', { PRIORITY: '5' }),
      entry('c', { _SYSTEMD_UNIT: 'db.service', PRIORITY: '4' }),
      entry('d', { _SYSTEMD_UNIT: 'ssh.service' }),
    ]);
    expect((await readOnce({ units: ['web', 'db.service'] })).lines()).toEqual(['a', 'b', 'c']);
    expect((await readOnce({ units: ['db*', 's?h.service'] })).lines()).toEqual(['c', 'd']);
    expect((await readOnce({ priority: 'warning' })).lines()).toEqual(['a', 'c']);
    expect((await readOnce({ priority: 3 })).lines()).toEqual(['a']);
    expect((await readOnce({ priority: 'warning', units: ['web'] })).lines()).toEqual(['a']);
  });

  it('continues after the last entry that was acknowledged', async () => {
    const state = memoryState('test', 'journald');
    writeJournal(folder(), [entry('a'), entry('b')]);
    const first = await readOnce({}, { state });
    expect(first.lines()).toEqual(['a', 'b']);
    expect((await readOnce({}, { state })).lines()).toEqual(['a', 'b']);
    acknowledge(first.batches);
    expect((await readOnce({}, { state })).lines()).toEqual([]);
    writeJournal(folder(), [entry('c')]);
    const second = await readOnce({}, { state });
    expect(second.lines()).toEqual(['c']);
    expect(second.logger.lines).toEqual([]);
    // A batch that is open holds back nothing but itself.
    acknowledge(second.batches);
    writeJournal(folder(), [entry('d')], 'b.journal');
    expect((await readOnce({}, { state })).lines()).toEqual(['d']);
  });

  it('follows the journal, from its end or from its start', async () => {
    writeJournal(folder(), [entry('old')]);
    const state = memoryState('test', 'journald');
    const following = run({}, { state });
    const all = run({ backfill: true });
    await eventually(() => expect(all.lines()).toEqual(['old']));
    // The position is noted before anything is read.
    await eventually(() => expect(state.get('position')).toBeDefined());
    acknowledge(all.batches);
    writeJournal(folder(), [entry('new')]);
    await eventually(() => expect(following.lines()).toEqual(['new']));
    await eventually(() => expect(all.lines()).toEqual(['old', 'new']));
  });

  it('loses nothing that comes while a run that has read nothing yet is down', async () => {
    for (const isEmpty of [false, true]) {
      const path = folder(String(isEmpty));
      fs.mkdirSync(path);
      if (!isEmpty) writeJournal(path, [entry('old')]);
      const state = memoryState('test', 'journald');
      const first = run({ directory: path }, { state });
      await eventually(() => expect(state.get('position')).toBeDefined());
      await first.stop();
      writeJournal(path, [entry('meanwhile')]);
      const second = run({ directory: path }, { state });
      await eventually(() => expect(second.lines()).toEqual(['meanwhile']));
    }
  });

  it('does not skip an entry where the filters changed', async () => {
    const state = memoryState('test', 'journald');
    const other = { _SYSTEMD_UNIT: 'db.service' };
    writeJournal(folder(), [entry('a'), entry('b', other), entry('c', other), entry('d')]);
    const window = run(
      { units: ['web'], backfill: true },
      { state, demand: new InFlightWindow(1), once: true },
    );
    await eventually(() => expect(window.lines()).toEqual(['a']));
    acknowledge(window.batches);
    await window.stop();
    const second = await readOnce({ units: ['db'] }, { state });
    expect(second.lines()).toEqual(['b', 'c']);
    expect(second.logger.lines.join()).toContain('the filters changed');
  });

  it('says so where the entry at which it stopped was rotated away, and reads what is left', async () => {
    const state = memoryState('test', 'journald');
    writeJournal(folder(), [entry('a')]);
    acknowledge((await readOnce({}, { state })).batches);
    fs.rmSync(folder('a.journal'));
    writeJournal(folder(), [entry('c'), entry('d')], 'b.journal');
    const next = await readOnce({}, { state });
    expect(next.lines()).toEqual(['c', 'd']);
    expect(next.logger.lines).toEqual([
      expect.stringMatching(/^warn .*the entry at which reading has stopped is no longer found .* of 2023-/),
    ]);
  });

  it.each([
    { cursor: 'garbage; --vacuum-size=1' },
    { cursor: 's=zz' },
    { cursor: '--output=cat' },
    { cursor: 17 },
  ])('reads on at the time of the last entry where the state has no cursor: %j', async ({ cursor }) => {
    const state = memoryState('test', 'journald');
    writeJournal(folder(), [entry('a'), entry('b'), entry('c')]);
    const { batches } = await readOnce({}, { state });
    acknowledge(batches);
    const { time } = state.get('position') as { time: string };
    state.set('position', { cursor, time });
    const next = await readOnce({}, { state });
    // At least once: the last entry is of that time.
    expect(next.lines().at(-1)).toBe('c');
    expect(next.lines().length).toBeLessThan(3);
    expect(next.logger.lines.length).toBeGreaterThan(0);
  });

  it('starts as a first run does where the state is of another kind', async () => {
    for (const position of [null, 7, [], { cursor: null }, { cursor: null, time: '1; rm' }]) {
      const state = memoryState('test', 'journald') as CollectorState;
      state.set('position', position);
      fs.rmSync(folder('a.journal'), { force: true });
      writeJournal(folder(), [entry('a')]);
      expect((await readOnce({}, { state })).lines()).toEqual(['a']);
    }
  });

  it('starts journalctl again where it was, if it is killed', async () => {
    writeJournal(folder(), [entry('a'), entry('b')]);
    const reading = run({ backfill: true }, { random: () => 0 });
    await eventually(() => expect(reading.lines()).toEqual(['a', 'b']));
    const isOurs = (pid: string) => {
      try {
        const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return command.startsWith('journalctl') && command.includes(folder());
      } catch {
        return false;
      }
    };
    const [pid] = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name));
    process.kill(Number(pid), 'SIGKILL');
    writeJournal(folder(), [entry('c')]);
    await eventually(() => expect(reading.lines()).toEqual(['a', 'b', 'c']));
    expect(reading.logger.lines.join()).toMatch(/journalctl ended with the signal SIGKILL; starting/);
  });

  it('reads no more than there is room for', async () => {
    writeJournal(
      folder(),
      Array.from({ length: 1000 }, (_, n) => entry(String(n))),
    );
    const demand = new InFlightWindow(3);
    const reading = run({ backfill: true }, { demand });
    await eventually(() => expect(reading.lines()).toEqual(['0', '1', '2']));
    for (const batch of [...reading.batches]) {
      batch.acknowledge?.('forwarded');
      demand.release(batch.size);
    }
    await eventually(() => expect(reading.lines().slice(0, 6)).toEqual(['0', '1', '2', '3', '4', '5']));
    expect(reading.lines()).toHaveLength(6);
  });

  it('says why journalctl fails', async () => {
    const { error } = await readOnce({ directory: folder('nothing') });
    expect(error).toMatchObject({
      message: expect.stringMatching(/^journalctl ended with exit code 1: .*No such file or directory$/),
      fatal: true,
      permanent: true,
    });
    const following = run({ directory: folder('nothing') }, { random: () => 0 });
    await eventually(() => expect(following.logger.lines.length).toBeGreaterThan(0));
    expect(following.logger.lines[0]).toMatch(
      /No such file or directory; starting journalctl again in 0.0 s$/,
    );
  });

  it('warns that a first run with `once` has nothing to read without `backfill`', async () => {
    writeJournal(folder(), [entry('a')]);
    const { logger, lines } = await readOnce({ backfill: false });
    expect(lines()).toEqual([]);
    expect(logger.lines).toEqual([expect.stringContaining('nothing to read: without `backfill: true`')]);
  });
});

describe('an entry of the journal', () => {
  const json = (fields: object) =>
    JSON.stringify({ __CURSOR: 's=1', __REALTIME_TIMESTAMP: '1700000000000001', ...fields });

  it.each([
    ['null, which stands for a value that is too large', { MESSAGE: null }, { source: 'journal' }],
    ['bytes', { MESSAGE: [104, 105] }, { line: 'hi', source: 'journal' }],
    ['no bytes', { MESSAGE: [] }, { line: '', source: 'journal' }],
    ['several', { MESSAGE: ['a', [98], null] }, { line: 'a\nb', source: 'journal' }],
    ['a unit that occurs twice', { _SYSTEMD_UNIT: ['a', 'b'] }, { source: 'a' }],
    ['a field that every object has', { MESSAGE: 'a' }, { line: 'a', source: 'journal' }],
  ])('may have %s', (_, fields, data) => {
    expect(readEntry(json(fields), ['toString', 'constructor', 'CODE'])?.event.data).toEqual(data);
  });

  it.each([
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"__CURSOR":1}',
    json({ __REALTIME_TIMESTAMP: 'x' }),
    json({ __CURSOR: null }),
  ])('is not %s', (line) => {
    expect(readEntry(line, 'all')).toBeUndefined();
  });

  it('has its time with microseconds', () => {
    expect(readEntry(json({}), [])?.time).toBe('1700000000.000001');
    expect(readEntry(json({ __REALTIME_TIMESTAMP: '7' }), [])?.time).toBe('0.000007');
  });
});
