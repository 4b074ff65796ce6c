import { describe, expect, it } from '@jest/globals';
import splunk from '../../../plugins/forward/splunk_hec.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { load, refusal } from '../../config/helpers.ts';
import { type Answerer, inTurn, status } from '../../support/http-sink.ts';
import { contextFor, done, event, events, failure, sinkOf } from './http-helpers.ts';

const contextOf = (settings: object) => contextFor(splunk, { token: 'hunter2', ...settings });
const send = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[]) =>
  done(splunk.forwardBatch?.({ ctx, events: batch, id: 'call' }));
const sendLines = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[]) => {
  const lines = Buffer.from(batch.map((each) => toJsonLine(each)).join(''));
  return done(splunk.forwardJsonLines?.({ ctx })?.(lines, 'call'));
};
const hec = (code: number, text: string, http = 400): Answerer =>
  status(http, {}, JSON.stringify({ text, code }));

const ODD: readonly CollectedEvent[] = [
  event(0),
  { timestamp: '2026-01-01T00:00:00.007Z', data: {} },
  event(1, { braces: '}"],{', deep: { line: 'inner', a: [{ b: '\\"' }] } }),
  { timestamp: '2026-01-01T00:00:00.120Z', data: { deep: { line: 'inner' } } },
  { timestamp: '2026-01-01T00:00:00.000Z', data: { line: 7 } },
  { timestamp: '2026-01-01T00:00:00.000Z', data: { line: 'ä😀 "\\\n\t\u0001' } },
  { ...event(3), backfill: true } as CollectedEvent,
];

describe('splunk_hec: requests', () => {
  it('hold the events with their time and the metadata of all', async () => {
    const sink = await sinkOf();
    await send(
      contextOf({ url: sink.url, index: 'web', sourcetype: 'x y', source: 's', host: 'h' }),
      events(2),
    );
    expect(sink.requests[0]).toMatchObject({ method: 'POST', path: '/services/collector/event' });
    expect(sink.requests[0]?.headers).toMatchObject({
      authorization: 'Splunk hunter2',
      'content-type': 'application/json',
      'x-splunk-request-channel': expect.stringMatching(/^[\da-f-]{36}$/),
    });
    const start = '{"index":"web","sourcetype":"x y","source":"s","host":"h","time":1767225600.000,"event":';
    expect(sink.requests[0]?.body).toBe(`${start}"line 0"}\n${start}"line 1"}\n`);
  });

  it.each(['line', 'json', 'raw'])(
    'are the same from bytes as from events, whatever these hold: %s',
    async (format) => {
      const sink = await sinkOf();
      for (const settings of [{}, { index: 'a' }]) {
        const ctx = contextOf({ url: sink.url, format, ...settings });
        await send(ctx, ODD);
        await sendLines(ctx, ODD);
      }
      const [one, other, third, fourth] = sink.requests.map(({ body }) => body);
      expect([other, fourth]).toEqual([one, third]);
      expect(one?.trimEnd().split('\n')).toHaveLength(ODD.length);
      if (format === 'raw') return;
      const parsed = one
        ?.trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      expect(parsed).toEqual(
        ODD.map(({ timestamp, data }) => ({
          time: Date.parse(timestamp) / 1000,
          event: format === 'line' && typeof data.line === 'string' ? data.line : data,
        })),
      );
    },
  );

  it('are lines alone with `raw`, with the metadata in the URL', async () => {
    const sink = await sinkOf();
    const ctx = contextOf({ url: sink.url, format: 'raw', index: 'web', sourcetype: 'a&b' });
    await send(ctx, [event(0), event(1, { line: 'one\r\ntwo' }), { timestamp: 'x', data: { n: 1 } }]);
    expect(sink.requests[0]).toMatchObject({
      path: '/services/collector/raw?index=web&sourcetype=a%26b',
      body: 'line 0\none two\n{"n":1}\n',
    });
  });

  it('refuse only the events that have no time', async () => {
    const sink = await sinkOf();
    for (const way of [send, sendLines]) {
      const batch = [event(0), { ...event(1), timestamp: 'never' }, event(2)];
      expect((await failure(way(contextOf({ url: sink.url }), batch))).failedEvents).toMatchObject([
        { index: 1, permanent: true },
      ]);
    }
    expect(sink.requests.map(({ body }) => body.split('\n').length - 1)).toEqual([2, 2]);
  });
});

describe('splunk_hec: blank lines', () => {
  it.each(['line', 'raw'])('fail permanently, and cost no request: %s', async (format) => {
    const sink = await sinkOf();
    const blank = ['', ' ', '\t \t', '\r\n', '   \n'].map((line) => event(0, { line }));
    const full = ['x', ' x', '\tx ', '\\', '\\t', '"'].map((line) => event(0, { line }));
    const batch = [full[0], ...blank, ...full.slice(1)] as CollectedEvent[];
    for (const way of [send, sendLines]) {
      const error = await failure(way(contextOf({ url: sink.url, format }), batch));
      expect(error.failedEvents).toEqual(
        [1, 2, 3, 4, 5].map((index) => ({
          index,
          permanent: true,
          reason: 'the line is blank, which Splunk refuses',
        })),
      );
    }
    const lines = sink.requests.map(({ body }) => body.trimEnd().split('\n').length);
    expect(lines).toEqual([full.length, full.length]);
  });

  it('are data like any other with `json`', async () => {
    const sink = await sinkOf();
    for (const way of [send, sendLines]) {
      await way(contextOf({ url: sink.url, format: 'json' }), [event(0, { line: '' })]);
    }
    expect(sink.requests.map(({ body }) => body.includes('"event":{"line":""}'))).toEqual([true, true]);
  });
});

describe('splunk_hec: answers', () => {
  const sent = async (answer: Answerer, settings = {}, count = 2) => {
    const sink = await sinkOf(answer);
    const error = await failure(sendLines(contextOf({ url: sink.url, ...settings }), events(count)));
    const { failedEvents, permanent, fatal } = error;
    return {
      failedEvents,
      permanent,
      fatal,
      message: error.message.replaceAll(sink.url.slice(0, -1), 'URL'),
    };
  };

  it.each([
    [400, 7, 'Incorrect index', 'URL answered 400 (Bad Request; incorrect index); check `url`'],
    [400, 14, 'hunter2', 'URL answered 400 (Bad Request; acknowledgement is disabled); check `url`'],
    [403, 4, 'Invalid token', 'URL answered 403 (Forbidden; invalid token); check `auth`'],
    [400, 99, 'hunter2', 'URL answered 400 (Bad Request; HEC code 99); check `url`'],
  ])('%i with the code %i is about the request: no event is given up', async (http, code, text, message) => {
    for (const count of [1, 2]) {
      expect(await sent(hec(code, text, http), {}, count)).toEqual({
        message,
        permanent: false,
        fatal: true,
      });
    }
  });

  it('400 for an event is found by halves, and only that event is given up', async () => {
    const { failedEvents } = await sent(
      (request, response, incoming) =>
        (request.body.includes('line 2') ? hec(6, 'Invalid data format: hunter2') : status(200))(
          request,
          response,
          incoming,
        ),
      {},
      5,
    );
    expect(failedEvents).toEqual([
      {
        index: 2,
        permanent: true,
        reason: expect.stringMatching(/400 \(Bad Request; invalid data format\)$/),
      },
    ]);
  });

  it('503 for a busy server is sent again', async () => {
    expect(await sent(hec(9, 'Server is busy', 503))).toMatchObject({ permanent: false, fatal: undefined });
  });

  describe('with acknowledgement', () => {
    const acknowledge = { timeout: 30, interval: 0.01 };
    /** Acknowledges a batch when it was asked so often. */
    const indexer = (questions: number): Answerer => {
      let asked = 0;
      return ({ path, body }, response) => {
        if (!path.includes('/ack?')) return response.end('{"text":"Success","code":0,"ackId":7}');
        asked++;
        return response.end(JSON.stringify({ acks: { 7: body === '{"acks":[7]}' && asked >= questions } }));
      };
    };

    it.each([
      ['', ''],
      ['base', '/base'],
      ['base/', '/base'],
      ['base/services/collector/event', '/base'],
      ['services/collector/event/', ''],
    ])('a batch is delivered when the indexers have stored it: %j', async (below, base) => {
      const sink = await sinkOf(indexer(3));
      await send(contextOf({ url: sink.url + below, acknowledge }), events(2));
      const [first, ...questions] = sink.requests;
      const channel = first?.headers['x-splunk-request-channel'];
      expect(first?.path).toMatch(new RegExp(`^${base}/services/collector/event/?$`));
      expect(questions.map(({ path }) => path)).toEqual(
        Array(3).fill(`${base}/services/collector/ack?channel=${channel}`),
      );
    });

    it('questions are compressed as their header says', async () => {
      const sink = await sinkOf(indexer(1));
      await send(contextOf({ url: sink.url, acknowledge, compression: 'gzip' }), events(2));
      expect(sink.requests.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', 'gzip']);
      expect(sink.requests[1]?.body).toBe('{"acks":[7]}');
    });

    const answersAck =
      (ack: Answerer): Answerer =>
      (request, response, incoming) =>
        (request.path.includes('/ack?') ? ack : status(200, {}, '{"code":0,"ackId":7}'))(
          request,
          response,
          incoming,
        );
    const taken = status(200, {}, '{"acks":{"7":true}}');
    const broken: Answerer = (_, response) => response.destroy();

    it.each([
      ['a broken connection', broken],
      ['503', status(503)],
      ['404', status(404, {}, '<html>')],
      ['an answer that is no JSON', status(200, {}, '<html>')],
      ['null', status(200, {}, 'null')],
      ['a failure that has the answer', status(503, {}, '{"acks":{"7":true}}')],
    ])('a question is asked again after %s', async (_, problem) => {
      const sink = await sinkOf(answersAck(inTurn(problem, problem, taken)));
      await send(contextOf({ url: sink.url, acknowledge }), events(2));
      expect(sink.requests.map(({ path }) => path.includes('/ack?'))).toEqual([false, true, true, true]);
    });

    it.each([
      [hec(14, 'hunter2'), 'the last question was answered 400 (Bad Request; acknowledgement is disabled)'],
      [status(404), 'the last question was answered 404 (Not Found)'],
      [hec(9, 'hunter2', 503), 'the last question was answered 503 (Service Unavailable; server is busy)'],
      [broken, 'the last question failed: cannot deliver to URL: '],
    ])('the last problem of a question is named when the time is over: %#', async (problem, message) => {
      const error = await sent(answersAck(problem), { acknowledge: { timeout: 0.05, interval: 0.01 } });
      expect(error).toMatchObject({ permanent: false, fatal: undefined });
      expect(error.message).toContain(
        `URL did not acknowledge the batch within 0.05 s (\`acknowledge.timeout\`); ${message}`,
      );
    });

    it('a batch is sent again if they have not within the time, or if there is no id', async () => {
      const late = await sent(indexer(Number.POSITIVE_INFINITY), {
        acknowledge: { timeout: 0.05, interval: 0.01 },
      });
      expect(late).toMatchObject({
        message: 'URL did not acknowledge the batch within 0.05 s (`acknowledge.timeout`)',
        permanent: false,
        fatal: undefined,
      });
      const without = await sent(status(200, {}, '{"text":"Success","code":0}'), { acknowledge });
      expect(without).toMatchObject({ permanent: false, fatal: true });
      expect(without.message).toContain('URL answered without an `ackId`; allow indexer acknowledgement');
    });
  });
});

describe('splunk_hec: configuration', () => {
  const config = (entry: string) => `
collectors: { a: { plugin: test } }
forwarders: { out: { plugin: splunk_hec, url: 'http://localhost:8088', token: t${entry} } }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;

  it('refuses credentials that would take the place of the token', async () => {
    const message = '`token` sets the same header; leave this one out';
    for (const entry of [
      'auth: { bearer: x }',
      'headers: { Authorization: x }',
      'auth: { basic: { username: a, password: b } }',
    ]) {
      expect(await refusal(config(`, ${entry}`))).toContain(message);
    }
    await load(config(', auth: { header: { name: X-Proxy, value: x } }'));
    expect(await refusal(config('').replace('token: t', 'token: "a\\nb"'))).toContain(
      'token: it is the value of a header',
    );
  });
});
