import { describe, expect, it } from '@jest/globals';
import http from '../../../plugins/forward/http.ts';
import { refusal } from '../../config/helpers.ts';
import { inTurn, status } from '../../support/http-sink.ts';
import { contextOf, event, events, failure, sendTo, sinkOf } from './http-helpers.ts';

const SLACK = '{"text": "*" + data.level + "* " + data.line}';
const bodies = (sink: { requests: readonly { body: string }[] }) => sink.requests.map(({ body }) => body);

describe('http: a body for each event', () => {
  it('is the value of an expression, in a request of its own', async () => {
    const sink = await sinkOf();
    const ctx = contextOf({ url: sink.url, format: 'json', payload: { cel: SLACK } });
    await sendTo(ctx, [event(1, { level: 'warn' }), event(2, { level: 'error' })]);
    expect(bodies(sink)).toEqual(['{"text":"*warn* line 1"}', '{"text":"*error* line 2"}']);
    expect(sink.requests[0]?.headers['content-type']).toBe('application/json');
  });

  it.each([
    ['event', JSON.stringify(event(1))],
    ['flat', '{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 1"}'],
  ])('is %s without an expression', async (payload, body) => {
    const sink = await sinkOf();
    await sendTo(contextOf({ url: sink.url, format: 'json', payload }), [event(1)]);
    expect(bodies(sink)).toEqual([body]);
  });

  it('comes one to a call, however large batches may be', () => {
    const config = (settings: object) =>
      (contextOf({ url: 'http://x/', ...settings }) as { config: Record<string, { events: number }> }).config;
    expect(config({ format: 'json', batch: { events: 500, seconds: 9 } }).batch).toMatchObject({
      events: 1,
      seconds: 0,
    });
    expect(config({ format: 'json', body: 'events', batch: { events: 500 } }).batch?.events).toBe(500);
    expect(config({}).batch?.events).toBe(1000);
  });

  it.each([
    ['ndjson', '"line 1"\n{"a":[1,"2026-01-01T00:00:00.000Z"]}\n'],
    ['json_array', '["line 1",{"a":[1,"2026-01-01T00:00:00.000Z"]}]'],
    ['lines', 'line 1\n{"a":[1,"2026-01-01T00:00:00.000Z"]}\n'],
  ])('is one of several as %s', async (format, body) => {
    const sink = await sinkOf();
    const payload = { cel: 'data.n == 1 ? dyn(data.line) : dyn({"a": [1, timestamp]})' };
    const ctx = contextOf({ url: sink.url, format, payload });
    await sendTo(ctx, [event(1, { n: 1 }), event(2, { n: 2 })]);
    expect(bodies(sink)).toEqual([body]);
    expect(http.forwardJsonLines?.({ ctx })).toBeUndefined();
  });

  it('has another content type if `headers` says so', async () => {
    const sink = await sinkOf();
    const headers = { 'Content-Type': 'application/vnd.api+json' };
    await sendTo(contextOf({ url: sink.url, format: 'json', headers }), events(1));
    expect(sink.requests[0]?.headers['content-type']).toBe('application/vnd.api+json');
  });

  it.each(['ndjson', 'json_array', 'json', 'lines'])(
    'fails for the event alone for which the expression fails, as %s',
    async (format) => {
      const sink = await sinkOf();
      const ctx = contextOf({ url: sink.url, format, payload: { cel: '{"m": data.level + data.line}' } });
      const batch = [event(1, { level: 'warn' }), event(2), event(3, { level: 'hunter2', line: 7 })];
      const error = await failure(sendTo(ctx, [...batch, event(4, { level: 'info' })]));
      expect(error.failedEvents).toEqual([
        {
          index: 1,
          permanent: true,
          reason:
            'the expression of `payload` failed: a field at character 12 is missing; use has(…), or .?field.orValue(…)',
        },
        { index: 2, permanent: true, reason: expect.stringContaining('no such overload') },
      ]);
      expect(JSON.stringify(error.failedEvents)).not.toContain('hunter2');
      const sent = bodies(sink).join('');
      expect(sent).toContain('warnline 1');
      expect(sent).toContain('infoline 4');
    },
  );

  it.each(['1.0 / 0.0', 'duration("1h")', 'data.line.size() > 0 ? type(data.line) : int'])(
    'fails for the event if JSON cannot show the value: %s',
    async (cel) => {
      const sink = await sinkOf();
      const error = await failure(
        sendTo(contextOf({ url: sink.url, format: 'json', payload: { cel } }), events(1)),
      );
      expect(error.failedEvents).toMatchObject([{ index: 0, permanent: true }]);
      expect(sink.requests).toEqual([]);
    },
  );

  it('fails for the event whose lists take too long', async () => {
    const sink = await sinkOf();
    const cel = 'data.list.map(a, data.list.map(b, data.list.filter(c, a == b && b == c)))';
    const list = Array.from({ length: 3000 }, (_, n) => n);
    const error = await failure(
      sendTo(contextOf({ url: sink.url, format: 'json', payload: { cel } }), [
        event(1, { list }),
        event(2, { list: [1] }),
      ]),
    );
    expect(error.failedEvents).toEqual([
      {
        index: 0,
        permanent: true,
        reason: expect.stringContaining('loops within loops took longer than 1 s'),
      },
    ]);
    expect(bodies(sink)).toEqual(['[[[1]]]']);
  });
});

describe('http: a body for each batch', () => {
  const body = '{"logs": events, "count": size(events)}';

  it.each([
    ['event', [event(0), event(1)]],
    [
      'flat',
      [
        { timestamp: '2026-01-01T00:00:00.000Z', line: 'line 0' },
        { timestamp: '2026-01-01T00:00:00.000Z', line: 'line 1' },
      ],
    ],
    [{ cel: '{"message": data.line}' }, [{ message: 'line 0' }, { message: 'line 1' }]],
  ])('is the value of an expression over payloads: %j', async (payload, logs) => {
    const sink = await sinkOf();
    await sendTo(contextOf({ url: sink.url, format: 'json', payload, body, compression: 'gzip' }), events(2));
    expect(sink.requests.map((request) => JSON.parse(request.body))).toEqual([{ logs, count: 2 }]);
    expect(sink.requests[0]?.headers['content-type']).toBe('application/json');
  });

  it('has of an event what JSON shows of it', async () => {
    const sink = await sinkOf();
    const odd = event(1, { big: 10n, none: undefined, at: new Date(0) });
    await sendTo(contextOf({ url: sink.url, format: 'json', payload: 'flat', body: 'events' }), [odd]);
    expect(bodies(sink)).toEqual([
      '[{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 1","big":"10","at":"1970-01-01T00:00:00.000Z"}]',
    ]);
  });

  it('is made again for the halves of a batch that is too large', async () => {
    const sink = await sinkOf(inTurn(status(413), status(200)));
    await sendTo(
      contextOf({ url: sink.url, format: 'json', payload: { cel: 'data.line' }, body }),
      events(3),
    );
    expect(bodies(sink)).toEqual([
      '{"logs":["line 0","line 1","line 2"],"count":3}',
      '{"logs":["line 0","line 1"],"count":2}',
      '{"logs":["line 2"],"count":1}',
    ]);
  });

  it('fails for the event alone that makes the expression fail', async () => {
    const sink = await sinkOf();
    const own = '{"levels": events.map(e, e.level)}';
    const ctx = contextOf({ url: sink.url, format: 'json', payload: 'flat', body: own });
    const error = await failure(
      sendTo(ctx, [event(0, { level: 'a' }), event(1), event(2, { level: 'c' }), event(3, { level: 'd' })]),
    );
    expect(error.failedEvents).toEqual([
      {
        index: 1,
        permanent: true,
        reason: expect.stringContaining('the expression of `body` failed: a field at character'),
      },
    ]);
    expect(bodies(sink)).toEqual(['{"levels":["a"]}', '{"levels":["c","d"]}']);
  });

  it('fails for all events if it fails for each', async () => {
    const sink = await sinkOf();
    const ctx = contextOf({ url: sink.url, format: 'json', body: 'events[100]' });
    const error = await failure(sendTo(ctx, events(3)));
    expect(error.failedEvents).toMatchObject([0, 1, 2].map((index) => ({ index, permanent: true })));
    expect(sink.requests).toEqual([]);
  });
});

describe('http: expressions of bodies in a configuration', () => {
  const withHttp = (settings: string) => `
collectors: { a: { plugin: test } }
forwarders:
  out: { plugin: http, url: 'http://localhost/', ${settings} }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;

  it.each([
    ['format: json, payload: { cel: "data.line +" }', 'a valid expression (Unexpected token: EOF'],
    [
      'format: json, payload: { cel: message }',
      'Unknown variable: message, at character 1; there are data, timestamp, tag, and a field of an event is data.NAME',
    ],
    ['format: json, payload: { cel: events }', 'Unknown variable: events'],
    [
      'format: json, body: data',
      'Unknown variable: data, at character 1; there are events, and each of them is the payload of an event',
    ],
    ['format: json, payload: { cel: data.line.nope() }', 'a valid expression ('],
    ['format: json, payload: { sel: data.line }', 'sel'],
    ['format: json, payload: whole', 'payload'],
    ['body: events', '`body` is the one JSON document of a request: set `format: json`'],
    ['format: ndjson, body: events', 'set `format: json`'],
    ['format: json, payload: { cel: \'data.line.matches("(a+)+$(?=x)")\' }', 'exponential'],
  ])('refuses %s', async (settings, message) => {
    expect(await refusal(withHttp(settings))).toContain(message);
  });
});
