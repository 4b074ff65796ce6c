import fs from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { openState, readState } from '../../src/state/open-state.ts';
import { recordingLogger } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
const journal = () => folder('state/state.journal');
const copy = () => folder('state/state.copy');

describe('a state folder', () => {
  it('keeps what is set, by pipeline and collector', async () => {
    const state = await openState(folder('state'));
    state.of('a', 'files').set('1:2', { offset: 3 });
    state.of('a', 'others').set('1:2', [1, 'two', null]);
    state.of('__proto__', 'files').set('__proto__', true);
    state.of('a', 'files').set('gone', 1);
    state.of('a', 'files').delete('gone');
    await state.close();

    const again = await openState(folder('state'));
    expect(again.of('a', 'files').get('1:2')).toEqual({ offset: 3 });
    expect([...again.of('a', 'files').entries()]).toEqual([['1:2', { offset: 3 }]]);
    expect(again.of('a', 'others').get('1:2')).toEqual([1, 'two', null]);
    expect(again.of('__proto__', 'files').get('__proto__')).toBe(true);
    expect(again.of('b', 'files').get('1:2')).toBeUndefined();
    await again.close();
  });

  it('lists and forgets', async () => {
    const state = await openState(folder('state'));
    for (const pipeline of ['a', 'b']) {
      for (const collector of ['x', 'y']) state.of(pipeline, collector).set('k', pipeline + collector);
    }
    expect(state.forget({ pipeline: 'a', collector: 'x', key: 'k' })).toBe(1);
    expect(state.forget({ pipeline: 'a', collector: 'x' })).toBe(0);
    expect(state.entries().map(({ value }) => value)).toEqual(['ay', 'bx', 'by']);
    expect(state.forget({ pipeline: 'b' })).toBe(2);
    state.flush();
    expect(await readState(folder('state'))).toEqual([
      { pipeline: 'a', collector: 'y', key: 'k', value: 'ay' },
    ]);
    await state.close();
    expect(await readState(folder('nothing'))).toEqual([]);
  });

  it('is written with the first change, readable by its owner alone', async () => {
    const state = await openState(folder('state'));
    expect(fs.existsSync(journal())).toBe(false);
    state.of('a', 'x').set('k', 1);
    state.flush();
    await state.close();
    for (const name of ['state.journal', 'state.copy']) {
      expect(fs.statSync(folder(`state/${name}`)).mode & 0o777).toBe(0o600);
    }
  });

  it('is compacted: its journal stays small however often a value changes', async () => {
    const state = await openState(folder('state'));
    const files = state.of('p', 'c');
    for (let n = 0; n < 5000; n++) {
      files.set('file', { offset: n, text: 'x'.repeat(500) });
      state.flush();
    }
    expect(fs.statSync(journal()).size).toBeLessThan(1024 * 1024 + 2000);
    expect(await readState(folder('state'))).toMatchObject([{ key: 'file', value: { offset: 4999 } }]);
    await state.close();
  });

  it('is refused to another owner by name, until it is closed', async () => {
    const state = await openState(folder('state'));
    await expect(openState(folder('state'))).rejects.toMatchObject({
      code: 'MILLRACE_STATE_LOCKED',
      message: expect.stringContaining(`${folder('state')} is in use by this process (${process.pid})`),
    });
    await state.close();
    await state.close();
    await (await openState(folder('state'))).close();
  });

  it('lets exactly one of many have it', async () => {
    for (let turn = 0; turn < 3; turn++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => openState(folder('state'))));
      const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(opened.length).toBe(1);
      await opened[0]?.close();
    }
    expect(fs.readdirSync(folder('state')).filter((name) => name.startsWith('lock.')).length).toBeLessThan(3);
  });

  it('may have a path longer than a socket can', async () => {
    const long = folder(`${'long/'.repeat(40)}state`);
    const state = await openState(long);
    await expect(openState(long)).rejects.toThrow('is in use');
    await state.close();
  });

  it('is refused where nothing can be written, saying what to do', async () => {
    fs.writeFileSync(folder('file'), '');
    await expect(openState(folder('file/state'))).rejects.toMatchObject({
      code: 'MILLRACE_STATE_FOLDER',
      message: expect.stringMatching(
        /cannot use the state folder .*(?:ENOTDIR|file is a file, not a folder).*; give a writable folder/,
      ),
    });
    await expect(openState(folder('file'))).rejects.toThrow(
      'it is a file, not a folder; give a writable folder',
    );
  });

  it('of a later version is left alone', async () => {
    const state = await openState(folder('state'));
    state.of('a', 'x').set('k', 1);
    await state.close();
    const later = record({ format: 3, sequence: 1, entries: 1 }) + record({ changed: true });
    fs.writeFileSync(copy(), later);
    const before = fs.readFileSync(journal());
    await expect(openState(folder('state'))).rejects.toMatchObject({ code: 'MILLRACE_STATE_FORMAT' });
    await expect(readState(folder('state'))).rejects.toMatchObject({ code: 'MILLRACE_STATE_FORMAT' });
    expect(fs.readFileSync(copy(), 'utf8')).toBe(later);
    expect(fs.readFileSync(journal())).toEqual(before);
    fs.rmSync(copy());
    await (await openState(folder('state'))).close();
  });
});

/** A line of a journal. */
function record(content: unknown): string {
  const json = JSON.stringify(content);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

describe('a state folder that was damaged', () => {
  const zero = (path: string, from: number) => {
    const bytes = fs.readFileSync(path);
    fs.writeFileSync(path, bytes.fill(0, from));
  };
  const damages: [string, (path: string) => void][] = [
    ['emptied', (path) => fs.truncateSync(path, 0)],
    ['cut', (path) => fs.truncateSync(path, 5000)],
    ['zeroed', (path) => fs.writeFileSync(path, Buffer.alloc(fs.statSync(path).size))],
    ['half zeroed', (path) => zero(path, Math.floor(fs.statSync(path).size / 2))],
    ['garbage', (path) => fs.writeFileSync(path, Buffer.alloc(fs.statSync(path).size, 'garbage'))],
    ['text', (path) => fs.writeFileSync(path, 'hello\n')],
  ];
  const fill = async () => {
    const state = await openState(folder('state'));
    for (let n = 0; n < 200; n++) state.of('p', 'c').set(`file ${n}`, { offset: n, path: 'x'.repeat(200) });
    await state.close();
  };
  const open = async () => {
    const logger = recordingLogger();
    const state = await openState(folder('state'), { logger });
    const count = state.entries().length;
    state.of('p', 'c').set('more', 1);
    await state.close();
    const again = await openState(folder('state'));
    expect(again.entries().length).toBe(count + 1);
    await again.close();
    return { count, lines: logger.lines };
  };

  it.each(damages)('the journal %s: goes on with the copy', async (_, damage) => {
    await fill();
    damage(journal());
    const { count, lines } = await open();
    expect(count).toBe(200);
    expect(lines).toEqual([
      expect.stringMatching(/^error .*state\.journal is broken.*broken-1.*the copy of 20.*delivered twice/),
    ]);
    expect(fs.existsSync(`${journal()}.broken-1`)).toBe(true);
  });

  it.each(damages)('the journal %s, without a copy: starts afresh and says so', async (_, damage) => {
    await fill();
    fs.rmSync(copy());
    damage(journal());
    const { count, lines } = await open();
    expect(count).toBe(0);
    expect(lines).toEqual([expect.stringMatching(/^error .*is broken.*broken-1.*`backfill` decides/)]);
  });

  it.each(damages)('the copy %s: goes on with the journal', async (_, damage) => {
    await fill();
    damage(copy());
    const { count, lines } = await open();
    expect(count).toBe(200);
    expect(lines).toEqual([
      expect.stringMatching(/^error .*state\.copy is broken.*Going on with the journal/),
    ]);
  });

  it('the journal removed: goes on with the copy', async () => {
    await fill();
    fs.rmSync(journal());
    expect(await open()).toEqual({ count: 200, lines: [expect.stringMatching(/^warn .*is missing/)] });
  });

  it('the journal set back to an older one: goes on with the copy', async () => {
    await fill();
    const older = fs.readFileSync(journal());
    const state = await openState(folder('state'));
    state.of('p', 'c').set('file 200', 1);
    await state.close();
    fs.writeFileSync(journal(), older);
    expect(await open()).toEqual({ count: 201, lines: [expect.stringMatching(/older than its copy/)] });
  });

  /** A journal whose last commit set `file` to 2, after one that set it to 1. */
  const commits = async () => {
    const state = await openState(folder('state'));
    for (const n of [0, 1, 2]) {
      state.of('p', 'c').set('file', n);
      state.flush();
    }
    await state.close();
    fs.rmSync(copy());
  };

  it('a commit torn by a crash did not happen, and is no damage', async () => {
    await commits();
    fs.truncateSync(journal(), fs.statSync(journal()).size - 3);
    const logger = recordingLogger();
    const state = await openState(folder('state'), { logger });
    expect(state.of('p', 'c').get('file')).toBe(1);
    expect(logger.lines).toEqual([]);
    await state.close();
  });

  it('a damaged commit: goes on with what precedes it, and says so', async () => {
    await commits();
    const text = fs.readFileSync(journal(), 'utf8');
    fs.writeFileSync(journal(), text.replace('"value":1', '"value":7'));
    const logger = recordingLogger();
    const state = await openState(folder('state'), { logger });
    expect(state.of('p', 'c').get('file')).toBe(0);
    expect(logger.lines).toEqual([
      expect.stringMatching(/checksum.*what precedes the damage.*delivered twice/),
    ]);
    await state.close();
  });

  it('a damaged journal without a copy: the next start finds what precedes the damage as well', async () => {
    await commits();
    const text = fs.readFileSync(journal(), 'utf8');
    fs.writeFileSync(journal(), text.replace('"value":1', '"value":7'));
    for (let start = 0; start < 2; start++) {
      const state = await openState(folder('state'));
      expect(state.of('p', 'c').get('file')).toBe(0);
      await state.close();
    }
  });

  it('`readState` shows what a run would start with', async () => {
    await fill();
    zero(journal(), 10);
    expect(await readState(folder('state'))).toHaveLength(200);
    fs.rmSync(journal());
    expect(await readState(folder('state'))).toHaveLength(200);
    expect(fs.readdirSync(folder('state')).filter((name) => name.includes('broken'))).toEqual([]);
  });
});

describe('a state folder in use', () => {
  it('is rewritten when its journal is removed', async () => {
    const state = await openState(folder('state'));
    const files = state.of('p', 'c');
    files.set('one', 1);
    state.flush();
    fs.rmSync(journal());
    files.set('two', 2);
    state.flush();
    expect(await readState(folder('state'))).toMatchObject([{ key: 'one' }, { key: 'two' }]);
    await state.close();
  });

  it.each([
    ['is undefined', undefined],
    ['is NaN', Number.NaN],
    ['is -Infinity', Number.NEGATIVE_INFINITY],
    ['is a bigint', 10n],
    ['is a function', () => {}],
    ['is a symbol', Symbol('x')],
    ['is a Map', new Map([['a', 1]])],
    ['is a Set', new Set([1])],
    ['is a Date', new Date(0)],
    ['is a Buffer', Buffer.from('x')],
    ['is a Promise', Promise.resolve(1)],
    ['contains undefined', { etag: undefined }],
    ['contains undefined', new Array(1)],
    ['contains NaN', { at: [1, { deep: Number.NaN }] }],
    ['contains a Date', { at: new Date(0) }],
    ['is an object with `toJSON`', { toJSON: () => 'other' }],
    ['contains values nested more than 200 deep, or itself', cyclic()],
  ])('refuses a value that JSON would change, and goes on writing the others: %s', async (problem, value) => {
    const state = await openState(folder('state'));
    const files = state.of('p', 'c');
    files.set('bad', 'before');
    expect(() => files.set('bad', value as never)).toThrow(
      `ctx.state.set: the value of \`bad\` ${problem}; expected null, booleans, finite numbers, strings`,
    );
    files.set('good', { list: [1, 'ü', null, true], nested: { at: -0.5 }, none: Object.create(null) });
    state.flush();
    expect(await readState(folder('state'))).toMatchObject([
      { key: 'bad', value: 'before' },
      { key: 'good', value: { list: [1, 'ü', null, true], nested: { at: -0.5 }, none: {} } },
    ]);
    await state.close();
  });

  it('refuses a key that is not a string', async () => {
    const state = await openState(folder('state'));
    expect(() => state.of('p', 'c').set(undefined as never, 1)).toThrow(
      'ctx.state.set: a key is undefined; expected a string',
    );
    await state.close();
  });
});

function cyclic(): object {
  const value: Record<string, unknown> = {};
  value.self = { value };
  return value;
}
