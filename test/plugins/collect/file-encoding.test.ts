import fs from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, type Observable, type Subscription, toArray } from 'rxjs';
import { collect, FileCollectConfig, testing } from '../../../plugins/collect/file.ts';
import stdin from '../../../plugins/collect/stdin.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { Manager } from '../../../src/engine/manager.ts';
import { type PipelineRunContext, silentLogger } from '../../../src/sdk/context.ts';
import type { EventBatch } from '../../../src/sdk/event-batch.ts';
import { memoryState } from '../../../src/state/state-store.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const original = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
let subscriptions: Subscription[] = [];
afterEach(() => {
  for (const subscription of subscriptions) subscription.unsubscribe();
  subscriptions = [];
  Object.defineProperty(process, 'stdin', original);
});

/** Its bytes are two for each character, some of which look like a line feed. */
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const TEXT: Readonly<Record<string, (text: string) => Buffer>> = {
  'utf-16le': utf16,
  'utf-16be': (text) => utf16(text).swap16(),
  latin1: (text) => Buffer.from(text, 'latin1'),
};

const settings = (input: object = {}) =>
  FileCollectConfig.parse({ plugin: 'file', paths: [folder('a')], backfill: true, ...input });

/** The warnings of a run, and its context. */
function context(input: object, overrides: Partial<PipelineRunContext> = {}) {
  const warnings: { message: string; fields: unknown }[] = [];
  const warn = (message: string, fields?: unknown) => void warnings.push({ message, fields });
  return { warnings, ctx: testContext(settings(input), { logger: { ...silentLogger, warn }, ...overrides }) };
}

const linesOf = (batches: readonly EventBatch[]) =>
  batches.flatMap((batch) => batch.events.map(({ data }) => data.line));

async function readOnce(input: object, overrides: Partial<PipelineRunContext> = {}) {
  const { ctx, warnings } = context(input, { once: true, ...overrides });
  const batches = await lastValueFrom(collect({ ctx }).pipe(toArray()));
  return { batches, warnings, lines: linesOf(batches) };
}

describe.each(Object.entries(TEXT))('files in %s', (encoding, bytesOf) => {
  it('are read on where a run has acknowledged them', async () => {
    const state = memoryState('test', 'file');
    fs.writeFileSync(folder('a'), bytesOf('un\nd\xe9\n'));
    const first = await readOnce({ encoding }, { state });
    expect(first.lines).toEqual(['un', 'd\xe9']);
    for (const batch of first.batches) batch.acknowledge?.('forwarded');
    // Half of a character is there.
    const more = bytesOf('tr\xe9s\nquatre\n');
    fs.appendFileSync(folder('a'), more.subarray(0, 3));
    const second = await readOnce({ encoding, flush_timeout: null }, { state });
    expect(second.lines).toEqual([]);
    fs.appendFileSync(folder('a'), more.subarray(3));
    const third = await readOnce({ encoding }, { state });
    expect(third.lines).toEqual(['tr\xe9s', 'quatre']);
    expect(third.batches[0]?.origin).toMatchObject({ endOffset: fs.statSync(folder('a')).size });
  });

  it('are followed as they grow byte by byte, are rotated and are truncated', async () => {
    fs.writeFileSync(folder('a'), bytesOf('one\n'));
    const { ctx } = context({ encoding });
    const batches: EventBatch[] = [];
    subscriptions.push(collect({ ctx }).subscribe((batch) => batches.push(batch)));
    const came = (...lines: readonly string[]) => eventually(() => expect(linesOf(batches)).toEqual(lines));
    await came('one');
    for (const byte of bytesOf('tw\xf6\n')) fs.appendFileSync(folder('a'), Buffer.of(byte));
    await came('one', 'tw\xf6');
    fs.renameSync(folder('a'), folder('a.1'));
    fs.appendFileSync(folder('a.1'), bytesOf('three\n'));
    fs.writeFileSync(folder('a'), bytesOf('four\n'));
    await came('one', 'tw\xf6', 'three', 'four');
    fs.truncateSync(folder('a'));
    fs.appendFileSync(folder('a'), bytesOf('5\n'));
    await came('one', 'tw\xf6', 'three', 'four', '5');
  });

  it('start at the beginning of the line that is being written', async () => {
    const text = `${'\xe9'.repeat(20_000)}\n${'\xfc'.repeat(20_001)}`;
    fs.writeFileSync(folder('a'), bytesOf(text).subarray(0, -1));
    let isFollowing = false;
    const info = () => {
      isFollowing = true;
    };
    const { ctx } = context({ encoding, backfill: false }, { logger: { ...silentLogger, info } });
    const batches: EventBatch[] = [];
    subscriptions.push(collect({ ctx }).subscribe((batch) => batches.push(batch)));
    await eventually(() => expect(isFollowing).toBe(true));
    fs.appendFileSync(folder('a'), bytesOf(text).subarray(-1));
    fs.appendFileSync(folder('a'), bytesOf('\n'));
    await eventually(() => expect(linesOf(batches)).toEqual(['\xfc'.repeat(20_001)]));
  });

  it('are masked, and written in UTF-8, from `file` as from `stdin`', async () => {
    const bytes = bytesOf(`caf\xe9 cl\xe9-abcdefgh fin\n`.repeat(5000));
    fs.writeFileSync(folder('a'), bytes);
    for (const collector of [settings({ encoding }), { plugin: 'stdin', encoding }]) {
      const input = new PassThrough();
      Object.defineProperty(process, 'stdin', { value: input, configurable: true });
      input.write(bytes.subarray(0, 4097));
      input.end(bytes.subarray(4097));
      fs.rmSync(folder('out'), { recursive: true, force: true });
      const config = await parseConfig({
        collectors: { in: collector },
        processors: { mask: { plugin: 'regex_mask', rules: { KEY: 'cl\xe9-[a-z]{8}' } } },
        forwarders: { out: { plugin: 'disk', path: folder('out'), filename: 'out' } },
        pipelines: { main: { collect: 'in', process: 'mask', forward: 'out', restart: false } },
        host_config: {},
      });
      const manager = new Manager(config, { once: true, logger: silentLogger });
      manager.start();
      await firstValueFrom(manager.finished$);
      const lines = fs.readFileSync(folder('out/out'), 'utf8').split('\n').slice(0, -1);
      expect(lines.length).toBe(5000);
      expect(new Set(lines.map((line) => JSON.parse(line).data.line))).toEqual(
        new Set(['caf\xe9 <:KEY:> fin']),
      );
    }
  });
});

describe('the encoding of files and of standard input', () => {
  it('warns of bytes that are not UTF-8, once for each file, with the offset of the first one', async () => {
    fs.writeFileSync(folder('a'), Buffer.from('\ufeffpr\xe9t\n', 'utf8'));
    fs.appendFileSync(folder('a'), Buffer.from('ok\nsecret \xe9t\xe9\nencore \xe9\n', 'latin1'));
    const { lines, warnings } = await readOnce({});
    expect(lines).toEqual(['pr\xe9t', 'ok', 'secret \ufffdt\ufffd', 'encore \ufffd']);
    const offset = fs.readFileSync(folder('a')).indexOf(' \xe9t', 0, 'latin1') + 1;
    expect(warnings).toEqual([
      {
        message:
          `${folder('a')} is not UTF-8: the byte at offset ${offset} and others like it become U+FFFD. If the file has ` +
          'another encoding, set `encoding`, for example `encoding: windows-1252`',
        fields: { path: folder('a'), offset },
      },
    ]);
    expect((await readOnce({ encoding: 'latin1' })).warnings).toEqual([]);
  });

  it.each([
    ['UTF-8', Buffer.from('pr\xe9t \ufffd 😀 日本\n')],
    [
      "a character at the cut of a container's line",
      Buffer.from('2026-11-23T00:00:01Z stdout P a\xc3\r\n2026-11-23T00:00:01Z stdout F \xa9b\n', 'latin1'),
    ],
    ['a line that is cut inside a character', Buffer.from(`${'x'.repeat(131_071)}\xe9 and more\n`)],
  ])('does not warn of %s', async (_, bytes) => {
    fs.writeFileSync(folder('a'), bytes);
    expect(
      (await readOnce({ max_line_bytes: 131_072 })).warnings.filter(({ message }) =>
        message.includes('UTF-8'),
      ),
    ).toEqual([]);
  });

  it('warns of standard input as well', async () => {
    const input = new PassThrough();
    Object.defineProperty(process, 'stdin', { value: input, configurable: true });
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const ctx = testContext({ plugin: 'stdin', max_line_bytes: 131_072, encoding: 'utf-8' }, { logger });
    const batches: EventBatch[] = [];
    subscriptions.push(
      (stdin.collect({ ctx: ctx as never }) as Observable<EventBatch>).subscribe((batch) =>
        batches.push(batch),
      ),
    );
    input.end(Buffer.from('ok\n\xe9\n\xe9\n', 'latin1'));
    await eventually(() => expect(linesOf(batches)).toEqual(['ok', '\ufffd', '\ufffd']));
    expect(warnings).toEqual([
      expect.stringContaining('standard input is not UTF-8: the byte at offset 3 and'),
    ]);
  });

  it('names some encodings where it knows none of the label', async () => {
    for (const plugin of ['file', 'stdin']) {
      const config = {
        collectors: { in: { plugin, encoding: 'klingon', ...(plugin === 'file' ? { paths: ['a'] } : {}) } },
        forwarders: { out: { plugin: 'noop' } },
        pipelines: { main: { collect: 'in', forward: 'out' } },
        host_config: {},
      };
      await expect(parseConfig(config)).rejects.toThrow(
        /encoding.*utf-8, windows-1252 \(latin1\), shift_jis/s,
      );
    }
  });

  it('refuses UTF-16 without `encoding`, and UTF-8 with that of UTF-16', async () => {
    fs.writeFileSync(folder('a'), utf16('password=hunter2\n'));
    await expect(readOnce({})).rejects.toThrow(
      'expected UTF-8 text: set `encoding: utf-16le`, or leave it out',
    );
    await expect(readOnce({ encoding: 'utf-16be' })).rejects.toThrow(
      'expected UTF-16BE text: set `encoding: utf-16le`',
    );
    fs.writeFileSync(folder('a'), 'password=hunter2\n');
    await expect(readOnce({ encoding: 'utf-16le' })).rejects.toThrow(
      'expected UTF-16LE text: remove `encoding`',
    );
  });

  it('does not concern the text of a test', () => {
    const config = settings({ encoding: 'utf-16le' });
    expect(
      testing
        .eventsOfText({ config, text: 'caf\xe9\nb', source: 'a', wasThere: true })
        .map(({ data }) => data.line),
    ).toEqual([...['caf\xe9', 'b']]);
  });
});
