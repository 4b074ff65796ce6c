import { describe, expect, it } from '@jest/globals';
import loki from '../../../plugins/forward/loki.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { refusal } from '../../config/helpers.ts';
import { type HttpSink, status } from '../../support/http-sink.ts';
import { contextFor, done, event, events, failure, sinkOf } from './http-helpers.ts';

const contextOf = (settings: object) => contextFor(loki, { labels: { job: 'a' }, ...settings });
const send = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[], id = 'call-7') =>
  done(loki.forwardBatch?.({ ctx, events: batch, id }));
const sendLines = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[], id = 'call-7') => {
  const lines = Buffer.from(batch.map((each) => toJsonLine(each)).join(''));
  return done(loki.forwardJsonLines?.({ ctx })?.(lines, id));
};

interface Stream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: string, line: string])[];
}
const streamsOf = ({ requests }: HttpSink) =>
  requests.map(({ body }) => (JSON.parse(body) as { readonly streams: readonly Stream[] }).streams);
const MS = Date.parse('2026-01-01T00:00:00Z');

describe('loki: requests', () => {
  it('hold the lines of a stream, each with nanoseconds of its own', async () => {
    const sink = await sinkOf(status(204));
    await send(contextOf({ url: sink.url, labels: { job: 'a', team: 'b' } }), events(2));
    expect(sink.requests[0]).toMatchObject({ method: 'POST', path: '/loki/api/v1/push' });
    expect(sink.requests[0]?.headers['content-type']).toBe('application/json');
    const values = [
      [`${MS}007000`, 'line 0'],
      [`${MS}007001`, 'line 1'],
    ];
    expect(streamsOf(sink)).toEqual([[{ stream: { job: 'a', team: 'b' }, values }]]);
  });

  const ODD: readonly CollectedEvent[] = [
    event(0),
    { timestamp: '2026-01-01T00:00:00.001Z', data: {} },
    event(1, { '"braces\\': '}"],{', deep: { line: 'inner', a: [{ b: '\\"' }] } }),
    { timestamp: '2026-01-01T00:00:00.000Z', data: { deep: { line: 'inner' }, list: ['line', 'x'] } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { line: 7 } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { line: { line: 'x' } } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { line: ['x'], other: 'y' } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { other: 'line', line: '' } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { line: 'ä😀 "\\\n\t\u0001' } },
    { ...event(3), backfill: true } as CollectedEvent,
  ];

  it.each(['line', 'json'])(
    'are the same from bytes as from events, whatever these hold: %s',
    async (format) => {
      const sink = await sinkOf(status(204));
      const ctx = contextOf({ url: sink.url, format });
      await send(ctx, ODD);
      await sendLines(ctx, ODD);
      const [one, other] = streamsOf(sink);
      expect(other).toEqual(one);
      const lines = ODD.map(({ data }) =>
        format === 'line' && typeof data.line === 'string' ? data.line : JSON.stringify(data),
      );
      expect(one?.[0]?.values.map(([, line]) => line)).toEqual(lines);
    },
  );

  it('refuse only the events that have no time', async () => {
    const sink = await sinkOf(status(204));
    const ctx = contextOf({ url: sink.url });
    const batch = [event(0), { ...event(1), timestamp: 'hunter2' }, event(2), { data: {} } as CollectedEvent];
    for (const way of [send, sendLines]) {
      const error = await failure(way(ctx, batch));
      expect(error.failedEvents).toMatchObject([1, 3].map((index) => ({ index, permanent: true })));
      expect(JSON.stringify(error) + error.message).not.toContain('hunter2');
    }
    expect(streamsOf(sink).map(([stream]) => stream?.values.map(([, line]) => line))).toEqual(
      Array(2).fill(['line 0', 'line 2']),
    );
  });

  it('have a stream for each set of labels, in the order of the events', async () => {
    const sink = await sinkOf(status(204));
    const labels = { job: 'a', level: { field: 'level' }, method: { field: 'http.method' } };
    const ctx = contextOf({ url: sink.url, labels });
    expect(loki.forwardJsonLines?.({ ctx })).toBeUndefined();
    await send(ctx, [
      event(0, { level: 'info', http: { method: 'GET' } }),
      event(1, { level: 3 }),
      event(2, { level: 'info', 'http.method': 'GET' }),
      event(3, { level: ['no value'], http: 'x' }),
      event(4, { level: 'y'.repeat(5000) }),
    ]);
    expect(streamsOf(sink)[0]?.map(({ stream, values }) => [stream, values.map(([, line]) => line)])).toEqual(
      [
        [{ job: 'a', level: 'info', method: 'GET' }, ['line 0', 'line 2']],
        [{ job: 'a', level: '3' }, ['line 1']],
        [{ job: 'a' }, ['line 3']],
        [{ job: 'a', level: 'y'.repeat(2048) }, ['line 4']],
      ],
    );
  });

  it.each([
    ['ä', 'ä'.repeat(1024)],
    ['€', '€'.repeat(682)],
    ['😀', '😀'.repeat(512)],
    ['x😀', `${'x😀'.repeat(409)}x`],
    ['\ud800', '\ufffd'.repeat(682)],
  ])('have labels of at most 2,048 bytes, of whole characters: %j', async (unit, expected) => {
    const sink = await sinkOf(status(204));
    const ctx = contextOf({ url: sink.url, labels: { job: 'a', level: { field: 'level' } } });
    await send(ctx, [event(0, { level: unit.repeat(2000) }), event(1, { level: expected })]);
    expect(streamsOf(sink)[0]?.map(({ stream }) => stream.level)).toEqual([expected]);
    expect(Buffer.byteLength(expected)).toBeLessThanOrEqual(2048);
  });

  it('have at most `max_streams` streams with labels from fields in a run', async () => {
    const sink = await sinkOf(status(204));
    const ctx = contextOf({ url: sink.url, labels: { job: 'a', n: { field: 'n' } }, max_streams: 3 });
    for (let call = 0; call < 2; call++)
      await send(
        ctx,
        [0, 1, 2, 3, 4].map((n) => event(n, { n })),
      );
    const expected = [0, 1, 2].map((n) => [{ job: 'a', n: `${n}` }, 1]);
    for (const streams of streamsOf(sink)) {
      expect(streams.map(({ stream, values }) => [stream, values.length])).toEqual([
        ...expected,
        [{ job: 'a' }, 2],
      ]);
    }
  });

  it('have other nanoseconds in the next call, and the same ones in the next attempt', async () => {
    const sink = await sinkOf(status(204));
    const ctx = contextOf({ url: sink.url });
    for (const id of ['x-1', 'x-2', 'x-1', 'x-12345']) await send(ctx, events(1), id);
    expect(streamsOf(sink).map(([stream]) => stream?.values[0]?.[0].slice(-6))).toEqual([
      ...['001000', '002000', '001000', '345000'],
    ]);
  });

  it.each([
    ['bytes', 5000, ['x-1', 'x-2', 'x-12', 'x-199']],
    ['events', 5000, ['x-1', 'x-2', 'x-12', 'x-199']],
    ['bytes', 3000, ['x-0', 'x-331', 'x-332']],
    ['events', 100_000, ['x-8', 'x-9']],
  ])(
    'keep equal lines of one millisecond and their order, also of large calls: %s, %i',
    async (form, size, ids) => {
      const sink = await sinkOf(status(204));
      const ctx = contextOf({ url: sink.url, batch: { events: size } });
      const batch = Array.from({ length: size }, () => event(0));
      for (const id of ids) await (form === 'bytes' ? sendLines : send)(ctx, batch, id);
      const times = streamsOf(sink)
        .flat()
        .flatMap(({ values }) => values.map(([time]) => time));
      expect(new Set(times).size).toBe(size * ids.length);
      expect(times.every((time) => time.startsWith(`${MS}`) && time.length === 19)).toBe(true);
      expect(times).toEqual(times.toSorted());
    },
  );

  it.each(['bytes', 'events'])('are split if they are too large, or a line is refused: %s', async (form) => {
    const sink = await sinkOf((request, response, incoming) => {
      const count = (JSON.parse(request.body) as { streams: Stream[] }).streams.flatMap(
        ({ values }) => values,
      );
      const code = count.length > 3 ? 413 : request.body.includes('line 5') ? 400 : 204;
      status(code, {}, 'line 5 is too long')(request, response, incoming);
    });
    const ctx = contextOf({ url: sink.url });
    const error = await failure((form === 'bytes' ? sendLines : send)(ctx, events(8)));
    expect(error.failedEvents).toEqual([
      { index: 5, permanent: true, reason: expect.stringMatching(/answered 400 \(Bad Request\)$/) },
    ]);
    // Lines that the server has got already have the same times.
    const times = new Map<string, Set<string>>();
    for (const [time, line] of streamsOf(sink)
      .flat()
      .flatMap(({ values }) => values)) {
      times.set(line, (times.get(line) ?? new Set()).add(time));
    }
    expect([...times.values()].map(({ size }) => size)).toEqual(Array(8).fill(1));
  });
});

describe('loki: configuration', () => {
  it('refuses batches with more events than a millisecond has nanoseconds for', async () => {
    const text = await refusal(`
collectors: { a: { plugin: test } }
forwarders:
  out: { plugin: loki, url: 'http://localhost:3100', labels: { job: a }, batch: { events: 100001 } }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`);
    expect(text).toContain('batch.events: expected at most 100000');
  });

  it.each([
    ['{ level: { field: level } }', 'at least one label needs a fixed value'],
    ['{}', 'at least one label needs a fixed value'],
    ['{ a-b: c }', 'expected a name of a label'],
    ['{ __a: c }', 'expected a name of a label'],
    ["{ job: '' }", 'at least 1 character'],
    ['{ job: { fields: a } }', 'labels.job'],
  ])('refuses the labels %s', async (labels, message) => {
    const text = await refusal(`
collectors: { a: { plugin: test } }
forwarders: { out: { plugin: loki, url: 'http://localhost:3100', labels: ${labels} } }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`);
    expect(text).toContain(message);
  });
});
