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
