import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { openState, readState } from '../../src/state/open-state.ts';
import { recordingLogger } from '../support/pipelines.ts';
import { sourceFile, sourceFiles } from '../support/sources.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();

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

  it('is the only thing that loads lmdb, with the first change', async () => {
    const loading = sourceFiles('src', 'operators', 'plugins')
      .filter(({ text }) => /^import (?!type ).*'lmdb'|\)\('lmdb'\)/m.test(text))
      .map(({ path }) => path);
    expect(loading).toEqual(['src/state/lmdb.ts']);
    const { text } = sourceFile('src/state/lmdb.ts');
    expect(text).not.toMatch(/^import .*'lmdb'/m);

    const state = await openState(folder('state'));
    const store = folder('state/state.mdb');
    expect(fs.existsSync(store)).toBe(false);
    state.of('a', 'x').set('k', 1);
    state.flush();
    expect(fs.existsSync(store)).toBe(true);
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
      message: expect.stringMatching(/cannot use the state folder .*ENOTDIR.*; give a folder/),
    });
    await expect(openState(folder('file'))).rejects.toThrow('it is a file, not a folder; give a folder');
  });

  it('of a later version is left alone', async () => {
    const state = await openState(folder('state'));
    state.of('a', 'x').set('k', 1);
    await state.close();
    const { encode } = await import('../../src/state/record.ts');
    const later = `${encode({ format: 2, entries: 0, boot: '' })}\n`;
    fs.writeFileSync(folder('state/state.closed'), later);
    const before = fs.readFileSync(folder('state/state.mdb'));
    await expect(openState(folder('state'))).rejects.toMatchObject({ code: 'MILLRACE_STATE_FORMAT' });
    expect(fs.readFileSync(folder('state/state.closed'), 'utf8')).toBe(later);
    expect(fs.readFileSync(folder('state/state.mdb'))).toEqual(before);
    fs.rmSync(folder('state/state.closed'));
    await (await openState(folder('state'))).close();
  });
});

describe('a state folder that was damaged', () => {
  const store = () => folder('state/state.mdb');
  const closed = () => folder('state/state.closed');
  const damages: [string, (path: string) => void][] = [
    ['emptied', (path) => fs.truncateSync(path, 0)],
    ['cut', (path) => fs.truncateSync(path, 5000)],
    ['cut at a page', (path) => fs.truncateSync(path, Math.floor(fs.statSync(path).size / 8192) * 4096)],
    ['zeroed', (path) => fs.writeFileSync(path, Buffer.alloc(fs.statSync(path).size))],
    ['half zeroed', (path) => zero(path, Math.floor(fs.statSync(path).size / 2))],
    ['zeroed behind its first pages', (path) => zero(path, 8192)],
    ['garbage', (path) => fs.writeFileSync(path, Buffer.alloc(fs.statSync(path).size, 'garbage'))],
    ['text', (path) => fs.writeFileSync(path, 'hello\n')],
  ];
  const zero = (path: string, from: number) => {
    const bytes = fs.readFileSync(path);
    fs.writeFileSync(path, bytes.fill(0, from));
  };
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

  it.each(damages)('after it was closed, the store %s: goes on with the copy', async (_, damage) => {
    await fill();
    damage(store());
    const { count, lines } = await open();
    expect(count).toBe(200);
    expect(lines).toEqual([
      expect.stringMatching(/^error .*state\.mdb is broken.*broken-1.*Nothing is lost/),
    ]);
    expect(fs.existsSync(`${store()}.broken-1`)).toBe(true);
  });

  it.each(damages)('after a crash, the store %s: goes on with the last copy', async (_, damage) => {
    await fill();
    fs.renameSync(closed(), folder('state/state.backup'));
    damage(store());
    const { count, lines } = await open();
    expect(count).toBe(200);
    expect(lines).toEqual([
      expect.stringMatching(/^error .*is broken.*broken-1.*the copy of 20.*come twice/),
    ]);
  });

  it.each(damages)(
    'after a crash, the store %s, without a copy: begins anew and says so',
    async (_, damage) => {
      await fill();
      fs.rmSync(closed());
      damage(store());
      const { count, lines } = await open();
      expect(count).toBe(0);
      expect(lines).toEqual([expect.stringMatching(/^error .*is broken.*broken-1.*`backfill` decides/)]);
    },
  );

  it('with a store that is torn: `readState` says so, and not that something crashed', async () => {
    await fill();
    fs.truncateSync(store(), 8192);
    const attempt = () => readState(folder('state'));
    await expect(attempt()).rejects.toThrow(
      /cannot read .*state\.mdb: it (is torn: .*\(SIG\w+\)|does not open);/,
    );
    await expect(attempt()).rejects.toThrow('the next run repairs it from the last good copy');
  });

  it.each(damages.slice(0, -1))('the copy %s: goes on with the store', async (_, damage) => {
    await fill();
    damage(closed());
    const { count, lines } = await open();
    expect(count).toBe(200);
    expect(lines).toEqual([expect.stringMatching(/^error .*state\.closed is broken/)]);
  });

  it('the store removed: goes on with the copy', async () => {
    await fill();
    fs.renameSync(closed(), folder('state/state.backup'));
    fs.rmSync(store());
    expect(await open()).toEqual({ count: 200, lines: [expect.stringMatching(/^warn .*is missing/)] });
  });

  it('a machine that went down: goes on with the copy that was flushed', async () => {
    await fill();
    const { encode } = await import('../../src/state/record.ts');
    const { StateFile } = await import('../../src/state/state-file.ts');
    StateFile.create(await import('lmdb'), store(), { format: 1, entries: 0, boot: 'another' }, []).close();
    fs.renameSync(closed(), folder('state/state.backup'));
    expect(encode({ format: 1, entries: 0, boot: '' })).toMatch(/^[0-9a-f]{8} \{/);
    expect(await open()).toEqual({ count: 200, lines: [expect.stringMatching(/^warn .*not flushed/)] });
  });
});
