import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { forward, TestForwardConfig } from '../../../plugins/forward/test.ts';
import { safeReason } from '../../../src/sdk/errors.ts';
import { testContext } from '../../support/context.ts';
import { marbles } from '../../support/marbles.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const event = { timestamp: '2026-01-01T00:00:00.000Z', data: { n: 1 } };
const json = JSON.stringify(event);

const context = (input: object) => testContext(TestForwardConfig.parse({ plugin: 'test', ...input }));

describe('test forwarder', () => {
  it('has the defaults of the specification', () => {
    expect(TestForwardConfig.parse({ plugin: 'test' })).toEqual({
      plugin: 'test',
      sleep: 0,
      dump_event: false,
      add_event_to_shared_cache: false,
    });
  });

  it('refuses path with add_event_to_shared_cache', () => {
    const input = { plugin: 'test', path: 'p', add_event_to_shared_cache: true };
    expect(TestForwardConfig.safeParse(input).error?.issues).toMatchObject([
      { path: ['add_event_to_shared_cache'], message: expect.stringContaining('exclude each other') },
    ]);
  });

  it.each([
    [{ message: 'came', dump_event: true }, `{"came":${json}}`],
    [{ message: 'came' }, 'came'],
    [{ dump_event: true }, json],
    [{}, ''],
  ])('appends a line: %j', async (input, line) => {
    const ctx = context({ ...input, path: folder('out') });
    for (let turn = 0; turn < 2; turn++) await lastValueFrom(forward({ ctx, event }), { defaultValue: 0 });
    expect(fs.readFileSync(folder('out'), 'utf8')).toBe(`${line}\n${line}\n`);
  });

  it('makes a file that others may not read, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const ctx = context({ path: folder('out') });
      await lastValueFrom(forward({ ctx, event }), { defaultValue: 0 });
    } finally {
      process.umask(umask);
    }
    expect(fs.statSync(folder('out')).mode & 0o777).toBe(0o640);
  });

  it.each(['a file', 'nothing'])('does not follow a symbolic link to %s', async (target) => {
    if (target === 'a file') fs.writeFileSync(folder('other'), 'theirs');
    fs.symlinkSync(folder('other'), folder('out'));
    const ctx = context({ path: folder('out'), dump_event: true });
    const failure = await lastValueFrom(forward({ ctx, event })).catch(safeReason);
    expect(failure).toMatch(/ELOOP.*; it is a symbolic link, and none is followed/);
    const content = fs.existsSync(folder('other')) ? fs.readFileSync(folder('other'), 'utf8') : undefined;
    expect(content).toBe(target === 'a file' ? 'theirs' : undefined);
  });

  it('does not wait for the reader of a pipe', async () => {
    execFileSync('mkfifo', [folder('out')]);
    const failure = await lastValueFrom(forward({ ctx: context({ path: folder('out') }), event })).catch(
      safeReason,
    );
    expect(failure).toMatch(/ENXIO.*; it is not a regular file/);
  });

  it('says which file it cannot write', async () => {
    const path = join(folder('missing'), 'out');
    const failure = await lastValueFrom(forward({ ctx: context({ path }), event })).catch(safeReason);
    expect(failure).toBe(
      `cannot write to ${path}: ENOENT: no such file or directory, open '${path}'; its folder is missing`,
    );
  });

  it('sleeps, then adds the event to the shared cache', () => {
    marbles(({ expectObservable, flush }) => {
      const ctx = context({ sleep: 2, add_event_to_shared_cache: true });
      expectObservable(forward({ ctx, event })).toBe('2s |');
      expectObservable(forward({ ctx, event })).toBe('2s |');
      expect(ctx.shared_cache).toEqual({});
      flush();
      expect(ctx.shared_cache).toEqual({ collected_events: [event, event] });
    });
  });

  it('does nothing unless told to', () => {
    marbles(({ expectObservable }) => {
      const ctx = context({ message: 'nowhere to go' });
      expectObservable(forward({ ctx, event })).toBe('|');
    });
  });
});
