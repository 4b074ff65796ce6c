import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observable, Subscription } from 'rxjs';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import stdin from '../../../plugins/collect/stdin.ts';
import { type PipelineRunContext, silentLogger } from '../../../src/sdk/context.ts';
import type { EventBatch } from '../../../src/sdk/event-batch.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';

const original = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
let input: PassThrough;
let subscriptions: Subscription[] = [];

beforeEach(() => {
  input = new PassThrough();
  replaceStdin(input);
});

afterEach(() => {
  for (const subscription of subscriptions) subscription.unsubscribe();
  subscriptions = [];
  Object.defineProperty(process, 'stdin', original);
});

function replaceStdin(stream: Readable): void {
  Object.defineProperty(process, 'stdin', { value: stream, configurable: true });
}

function run(settings: object = {}, overrides: Partial<PipelineRunContext> = {}) {
  const parsed = stdin.get_config_schema().safeParse({ plugin: 'stdin', ...settings });
  if (!parsed.success) throw new Error('the settings are wrong');
  const ctx = testContext(parsed.data as { plugin: string }, overrides);
  const batches: EventBatch[] = [];
  const result = { batches, error: undefined as unknown, isCompleted: false };
  const batch$ = stdin.collect({ ctx: ctx as never }) as Observable<EventBatch>;
  const subscription = batch$.subscribe({
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
  subscriptions.push(subscription);
  const lines = () => batches.flatMap((batch) => batch.events.map(({ data }) => data.line));
  return Object.assign(result, { subscription, lines });
}

const acknowledge = (batches: readonly EventBatch[]) => {
  for (const batch of batches) batch.acknowledge?.('forwarded');
};

describe('stdin collector', () => {
  it('skips NULs at the start of the input, and says how many', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const { lines } = run({}, { logger });
    input.write(Buffer.alloc(70_000));
    input.end(Buffer.from('\0\0one\ntwo\n'));
    await eventually(() => expect(lines()).toEqual(['one', 'two']));
    expect(warnings).toEqual(['standard input starts with 70002 NUL bytes, which were skipped']);
  });

  it('emits one event for each line, and completes at the end of the input', async () => {
    const reading = run();
    input.write('one\r\ntw');
    input.write('o\n\nthr');
    input.end('ee');
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.lines()).toEqual(['one', 'two', '', 'three']);
    expect(reading.batches[0]?.events[0]).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { line: 'one', source: 'stdin' },
      backfill: false,
    });
    expect(reading.batches.at(-1)?.origin).toEqual({ path: 'stdin', startOffset: 10, endOffset: 15 });
  });

  it('emits nothing for an empty input', async () => {
    const reading = run();
    input.end();
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.batches).toEqual([]);
  });

  it('leaves out empty lines if asked to', async () => {
    const reading = run({ skip_empty_lines: true });
    input.end('\n\none\n\n \n');
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.lines()).toEqual(['one', ' ']);
  });

  it('cuts a line that is too long, and marks its event', async () => {
    const reading = run({ max_line_bytes: 131_072 });
    input.end(`${'x'.repeat(200_000)}\nshort\n`);
    await eventually(() => expect(reading.isCompleted).toBe(true));
    const [cut, short] = reading.batches.flatMap(({ events }) => events);
    expect(cut).toMatchObject({ truncated: true });
    expect(cut?.data.line).toBe('x'.repeat(131_072));
    expect(short?.data.line).toBe('short');
  });

  it('pauses the input while there is no room, and reads on when there is', async () => {
    let chunks = 0;
    const endless = new Readable({
      read() {
        chunks++;
        this.push('line\n'.repeat(20_000));
      },
    });
    replaceStdin(endless);
    const demand = new InFlightWindow(2);
    const reading = run({}, { demand });
    await eventually(() => expect(reading.lines()).toHaveLength(2));
    // Of the next two lines there are enough in the first chunk: one more is read ahead.
    demand.release(2);
    await eventually(() => expect(reading.lines()).toHaveLength(4));
    expect(chunks).toBeLessThanOrEqual(3);
  });

  it('gathers lines while others are in flight', async () => {
    const reading = run();
    input.write('one\n');
    await eventually(() => expect(reading.lines()).toEqual(['one']));
    for (const line of ['two\n', 'three\n']) await new Promise((resolve) => input.write(line, resolve));
    acknowledge(reading.batches);
    await eventually(() => expect(reading.lines()).toEqual(['one', 'two', 'three']));
    expect(reading.batches).toHaveLength(2);
  });

  it('emits what a failed run had in flight again in the next one, and goes on behind it', async () => {
    const failed = run();
    input.write('one\ntwo\n');
    await eventually(() => expect(failed.lines()).toEqual(['one', 'two']));
    input.write('three\nfo');
    await eventually(() => expect(failed.lines()).toEqual(['one', 'two', 'three']));
    acknowledge(failed.batches.slice(0, 1));
    failed.subscription.unsubscribe();
    input.write('ur\n');

    const next = run();
    // What comes late from the run before does not count any more.
    acknowledge(failed.batches.slice(1));
    await eventually(() => expect(next.lines()).toEqual(['three', 'four']));
    acknowledge(next.batches);
    next.subscription.unsubscribe();
    input.end();
    const last = run();
    await eventually(() => expect(last.isCompleted).toBe(true));
    expect(last.batches).toEqual([]);
  });

  it('ends when the run is stopped', () => {
    const stop = new AbortController();
    const reading = run({}, { signal: stop.signal });
    stop.abort();
    expect(reading.isCompleted).toBe(true);
    expect(input.listenerCount('readable')).toBe(0);
  });

  it('fails for good on what is no text, in each run', async () => {
    const first = run();
    input.write(gzipSync('secret'));
    await eventually(() =>
      expect(first.error).toMatchObject({
        message: 'standard input is gzip, in which masks would find nothing; expected UTF-8 text: unpack it',
        fatal: true,
        permanent: true,
      }),
    );
    input.end('text\n');
    expect(run().error).toBe(first.error);
    expect(first.batches).toEqual([]);
  });

  it('fails when the input cannot be read, and says why', async () => {
    const reading = run();
    input.destroy(Object.assign(new Error('read EIO'), { code: 'EIO', syscall: 'read', errno: -5 }));
    await eventually(() =>
      expect(reading.error).toMatchObject({ message: expect.stringMatching(/cannot be read: .*EIO/) }),
    );
  });

  it('can be read by one collector at a time', () => {
    run();
    expect(run().error).toMatchObject({ message: 'standard input is already read by another collector' });
  });
});
