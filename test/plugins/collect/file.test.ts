import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom, type Subscription, tap, toArray } from 'rxjs';
import { collect, FileCollectConfig, get_config_schema } from '../../../plugins/collect/file.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import { silentLogger } from '../../../src/sdk/context.ts';
import type { EventBatch } from '../../../src/sdk/event-batch.ts';
import { CollectedLineEvent } from '../../../src/sdk/events.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();

let subscriptions: Subscription[] = [];
afterEach(() => {
  for (const subscription of subscriptions) subscription.unsubscribe();
  subscriptions = [];
});

const context = (overrides: Partial<PipelineRunContext> = {}, input: object = {}) =>
  testContext(
    FileCollectConfig.parse({ plugin: 'file', paths: [folder('a')], backfill: true, ...input }),
    overrides,
  );

function run(ctx: ReturnType<typeof context>) {
  const batches: EventBatch[] = [];
  const subscription = collect({ ctx }).subscribe((batch) => batches.push(batch));
  subscriptions.push(subscription);
  const lines = () => batches.flatMap((batch) => batch.events.map(({ data }) => data.line));
  return { batches, subscription, lines };
}

describe('file collector', () => {
  it('has the schema of the specification', () => {
    expect(get_config_schema()).toBe(FileCollectConfig);
    expect(FileCollectConfig.parse({ plugin: 'file', paths: ['a'] })).toEqual({
      plugin: 'file',
      paths: ['a'],
      backfill: false,
    });
    for (const paths of [undefined, 'a', [''], [1]]) {
      expect(FileCollectConfig.safeParse({ plugin: 'file', paths }).success).toBe(false);
    }
  });

  it('emits line events with their source, marked as backfill', async () => {
    fs.writeFileSync(folder('a'), 'one\ntwo\n');
    const [batch] = await lastValueFrom(collect({ ctx: context({ once: true }) }).pipe(toArray()));
    const timestamp = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(batch?.events).toEqual([
      { timestamp, data: { line: 'one', source: folder('a') }, backfill: true },
      { timestamp, data: { line: 'two', source: folder('a') }, backfill: true },
    ]);
    expect(batch?.events).toEqual(batch?.events.map((event) => CollectedLineEvent.parse(event)));
    expect(batch?.origin).toMatchObject({ path: folder('a'), startOffset: 0, endOffset: 8 });
  });

  it('says that there is nothing to read in a run that ends, without backfill', async () => {
    fs.writeFileSync(folder('a'), 'one\n');
    const warn = jest.fn();
    const ctx = context({ once: true, logger: { ...silentLogger, warn } }, { backfill: false });
    expect(await lastValueFrom(collect({ ctx }).pipe(toArray()))).toEqual([]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('backfill: true'));
  });

  it('blames no missing backfill where there are no paths', async () => {
    const warn = jest.fn();
    const ctx = context({ once: true, logger: { ...silentLogger, warn } }, { backfill: false, paths: [] });
    expect(await lastValueFrom(collect({ ctx }).pipe(toArray()))).toEqual([]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('names the pattern that matches nothing', async () => {
    const warn = jest.fn();
    const paths = [folder('*.none')];
    const ctx = context({ once: true, logger: { ...silentLogger, warn } }, { paths, allow_missing: true });
    expect(await lastValueFrom(collect({ ctx }).pipe(toArray()))).toEqual([]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(folder('*.none')), expect.anything());
  });

  it.each(['*.none', 'none'])(
    'fails for good in a run that ends if a path names no file: %s',
    async (name) => {
      fs.writeFileSync(folder('a'), 'one\n');
      const ctx = context({ once: true }, { paths: [folder(name), folder('a')] });
      const emitted = jest.fn();
      const failed = lastValueFrom(collect({ ctx }).pipe(tap(emitted)));
      await expect(failed).rejects.toMatchObject({
        message: expect.stringMatching(/no(ne: there is no| file matches).*`allow_missing: true`/),
        fatal: true,
        permanent: true,
      });
      expect(emitted).toHaveBeenCalledTimes(1);
    },
  );

  it('leaves out what is compressed, or what is excluded, but no path that names no pattern', async () => {
    for (const name of ['app.log', 'app.log.1', 'app.log.2.gz', 'app.log.3.zst', 'app.log.4.bak']) {
      fs.writeFileSync(folder(name), `${name}\n`);
    }
    const linesOf = async (input: object) => {
      const ctx = context({ once: true }, input);
      const batches = await lastValueFrom(collect({ ctx }).pipe(toArray()));
      return batches.flatMap((batch) => batch.events.map(({ data }) => data.line)).sort();
    };
    const paths = [folder('app.log*')];
    expect(await linesOf({ paths })).toEqual(['app.log', 'app.log.1', 'app.log.4.bak']);
    expect(await linesOf({ paths, exclude: ['*.bak', folder('*.[0-9]'), '*.zst'] })).toEqual([
      'app.log',
      'app.log.2.gz',
    ]);
    expect(await linesOf({ paths: [folder('app.log.4.bak')], exclude: ['*.bak'] })).toEqual([
      'app.log.4.bak',
    ]);
    await expect(linesOf({ paths: [folder('*.gz')] })).rejects.toThrow(
      'no file matches but 1 that `exclude`',
    );
  });

  it('reads a file whose name is not UTF-8, and shows of its name what can be shown', async () => {
    fs.writeFileSync(Buffer.concat([Buffer.from(folder('caf')), Buffer.from([0xe9])]), 'one\n');
    const run = lastValueFrom(collect({ ctx: context({ once: true }, { paths: [folder('*')] }) }));
    expect((await run).events).toMatchObject([{ data: { line: 'one', source: folder('caf\ufffd') } }]);
  });

  it('counts as followed only what can be read', async () => {
    fs.writeFileSync(folder('a'), 'one\n');
    fs.writeFileSync(folder('b'), Buffer.from([0x1f, 0x8b, 8, 0]));
    const info = jest.fn();
    run(context({ logger: { ...silentLogger, info } }, { paths: [folder('*')] }));
    await eventually(() =>
      expect(info).toHaveBeenCalledWith('test: following 1 file; 1 other cannot be read', { files: 1 }),
    );
  });

  it('reads what is there, then follows', async () => {
    fs.writeFileSync(folder('a'), 'old\n');
    const { batches, lines } = run(context());
    await eventually(() => expect(lines()).toEqual(['old']));
    fs.appendFileSync(folder('a'), 'new\n');
    await eventually(() => expect(lines()).toEqual(['old', 'new']));
    expect(batches.flatMap(({ events }) => events)).toMatchObject([{ backfill: true }, { backfill: false }]);
  });

  it('takes what has no newline for a line after flush_timeout, in seconds, or never', async () => {
    fs.writeFileSync(folder('a'), 'par');
    const soon = run(context({}, { flush_timeout: 1 }));
    const never = run(context({}, { flush_timeout: null }));
    await eventually(() => expect(soon.lines()).toEqual(['par']));
    fs.appendFileSync(folder('a'), 'tial\n');
    await eventually(() => expect(soon.lines()).toEqual(['par', 'tial']));
    await eventually(() => expect(never.lines()).toEqual(['partial']));
    for (const flush_timeout of [0, 0.5, -1, '5']) {
      expect(FileCollectConfig.safeParse({ plugin: 'file', paths: ['a'], flush_timeout }).success).toBe(
        false,
      );
    }
  });

  it('goes on behind the last acknowledged line when it is run again', async () => {
    fs.writeFileSync(folder('a'), '1\n');
    const ctx = context();
    const first = run(ctx);
    await eventually(() => expect(first.lines()).toEqual(['1']));
    first.batches[0]?.acknowledge?.('forwarded');
    fs.appendFileSync(folder('a'), '2\n');
    await eventually(() => expect(first.lines()).toEqual(['1', '2']));
    first.subscription.unsubscribe();
    fs.appendFileSync(folder('a'), '3\n');
    const second = run(ctx);
    await eventually(() => expect(second.lines()).toEqual(['2', '3']));
    second.batches[0]?.acknowledge?.('failed');
    second.subscription.unsubscribe();
    const third = run(ctx);
    fs.appendFileSync(folder('a'), '4\n');
    await eventually(() => expect(third.lines()).toEqual(['4']));
  });

  it('ends when the signal is aborted', async () => {
    const controller = new AbortController();
    const { subscription } = run(context({ signal: controller.signal }));
    expect(subscription.closed).toBe(false);
    controller.abort();
    expect(subscription.closed).toBe(true);
    expect(run(context({ signal: controller.signal })).subscription.closed).toBe(true);
  });
});
