import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, lastValueFrom, type Observable, toArray } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import http from '../../../plugins/forward/http.ts';
import { secondsUntil } from '../../../plugins/http/answer.ts';
import { documentsIn, halves } from '../../../plugins/http/documents.ts';
import { problemLine, problemText } from '../../../src/config/config-error.ts';
import { buildGraph } from '../../../src/graph/build-graph.ts';
import { loggerFor } from '../../../src/sdk/checks/shown-values.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import { type FailedEvent, PluginError } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { load, refusal } from '../../config/helpers.ts';
import { testContext } from '../../support/context.ts';
import { type Answerer, type HttpSink, httpSink, inTurn, status } from '../../support/http-sink.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const temp = tempFolder();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function sinkOf(answer?: Answerer): Promise<HttpSink> {
  const sink = await httpSink(answer);
  ends.unshift(() => sink.close());
  return sink;
}

function contextOf(settings: object): PipelineRunContext<never> {
  const run = new AbortController();
  ends.unshift(() => run.abort());
  const config = http.get_config_schema().safeParse({ plugin: 'http', ...settings });
  if (!config.success) throw new Error(JSON.stringify(config.error.issues));
  return testContext(config.data as never, { signal: run.signal }) as never;
}

const event = (n: number, more = {}): CollectedEvent => ({
  timestamp: '2026-01-01T00:00:00.000Z',
  data: { line: `line ${n}`, ...more },
});
const events = (count: number) => Array.from({ length: count }, (_, n) => event(n));
const done = (sent: unknown) => lastValueFrom((sent as Observable<never>).pipe(toArray()));
const sendTo = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[]) =>
  done(http.forwardBatch?.({ ctx, events: batch, id: 'id' as never }));
const failure = async (sent: Promise<unknown>): Promise<Record<string, unknown> & Error> => {
  try {
    await sent;
  } catch (error) {
    return error as Record<string, unknown> & Error;
  }
  throw new Error('it did not fail');
};

describe('http: requests', () => {
  it.each([
    ['ndjson', {}, 'application/x-ndjson', [event(0), event(1)].map((each) => toJsonLine(each)).join('')],
    ['json_array', { format: 'json_array' }, 'application/json', JSON.stringify([event(0), event(1)])],
    ['lines', { format: 'lines' }, 'text/plain; charset=utf-8', 'line 0\nline 1\n'],
    [
      'flat',
      { payload: 'flat' },
      'application/x-ndjson',
      '{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 0"}\n{"timestamp":"2026-01-01T00:00:00.000Z","line":"line 1"}\n',
    ],
  ])('hold the events as %s, also compressed', async (_, settings, type, body) => {
    const sink = await sinkOf();
    await sendTo(contextOf({ url: `${sink.url}in?x=1`, ...settings }), events(2));
    await sendTo(contextOf({ url: sink.url, method: 'PUT', compression: 'gzip', ...settings }), events(2));
    const [plain, gzipped] = sink.requests;
    expect(plain).toMatchObject({ method: 'POST', path: '/in?x=1', body });
    expect(plain?.headers).toMatchObject({ 'content-type': type, 'user-agent': 'millrace/0.0.0' });
    expect(gzipped).toMatchObject({ method: 'PUT', path: '/', body });
    expect(gzipped?.headers['content-encoding']).toBe('gzip');
  });

  it('are made of JSON lines without events, and the same', async () => {
    const sink = await sinkOf();
    const bytes = Buffer.from(
      events(3)
        .map((each) => toJsonLine(each))
        .join(''),
    );
    for (const format of ['ndjson', 'json_array']) {
      const ctx = contextOf({ url: sink.url, format });
      await done(http.forwardJsonLines?.({ ctx })?.(bytes, 'id' as never));
      await sendTo(ctx, events(3));
    }
    const bodies = sink.requests.map(({ body }) => body);
    expect([bodies[0], bodies[2]]).toEqual([bodies[1], bodies[3]]);
    expect(http.forwardJsonLines?.({ ctx: contextOf({ url: sink.url, payload: 'flat' }) })).toBeUndefined();
  });

  it('keep a line one line, and send an event without one as JSON', async () => {
    const sink = await sinkOf();
    const odd = { timestamp: '2026-01-01T00:00:00.000Z', data: { n: 1 } };
    await sendTo(contextOf({ url: sink.url, format: 'lines' }), [event(1, { line: 'a\r\nb' }), odd]);
    expect(sink.requests[0]?.body).toBe(`a\\r\\nb\n${toJsonLine(odd)}`);
  });

  it('are authorised, with a token that is read again when its file changes', async () => {
    const sink = await sinkOf();
    const file = temp('token');
    writeFileSync(file, 'first\n');
    const basic = { username: 'ada', password: 'hunter2' };
    const contexts = [
      contextOf({ url: sink.url, auth: { bearer: { file } } }),
      contextOf({ url: sink.url, auth: { basic } }),
      contextOf({
        url: sink.url,
        auth: { header: { name: 'X-Api-Key', value: 'k1' } },
        headers: { 'X-Team': 'web' },
      }),
    ];
    for (const ctx of contexts) await sendTo(ctx, events(1));
    writeFileSync(file, 'second one\n');
    await sendTo(contexts[0] as never, events(1));
    expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      `Basic ${Buffer.from('ada:hunter2').toString('base64')}`,
      undefined,
      'Bearer second one',
    ]);
    expect(sink.requests[2]?.headers).toMatchObject({ 'x-api-key': 'k1', 'x-team': 'web' });
  });

  it('never have a header with a line break in it', async () => {
    const sink = await sinkOf();
    const error = await failure(
      sendTo(contextOf({ url: sink.url, auth: { bearer: 'a\r\nX-Evil: 1' } }), events(1)),
    );
    expect(error.message).toMatch(
      /^the value of the header `authorization` has characters that no header may have; it needs characters of/,
    );
    expect(error.fatal).toBe(true);
  });

  it('share connections, and close them with the run', async () => {
    const sockets = new Set<unknown>();
    const sink = await sinkOf((_, response, incoming) => {
      sockets.add(incoming.socket);
      response.end();
    });
    const run = new AbortController();
    const ctx = { ...contextOf({ url: sink.url }), signal: run.signal } as never;
    for (let n = 0; n < 5; n++) await sendTo(ctx, events(1));
    expect(sockets.size).toBe(1);
    const closed = once([...sockets][0] as never, 'close');
    run.abort();
    await closed;
  });

  it('go through a proxy, with its credentials', async () => {
    const sink = await sinkOf();
    const seen: string[] = [];
    const proxy = createServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization']}`);
      const { host, pathname } = new URL(incoming.url ?? '');
      const [name = '', port] = host.split(':');
      const upstream = connect(Number(port), name, () => {
        upstream.write(
          `${incoming.method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        );
        upstream.resume().on('end', () => response.end());
        incoming.resume();
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    ends.unshift(() => proxy.close());
    ends.unshift(() => proxy.closeAllConnections());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await sendTo(contextOf({ url: sink.url, proxy: url }), events(1));
    await sendTo(contextOf({ url: sink.url, proxy: { url, username: 'ada', password: 'pw' } }), events(1));
    const token = `Basic ${Buffer.from('ada:pw').toString('base64')}`;
    expect(seen).toEqual([`POST ${sink.url} undefined`, `POST ${sink.url} ${token}`]);
    expect(sink.requests).toHaveLength(2);
  });
});

describe('http: answers', () => {
  const answered = async (answer: Answerer, count = 2, settings = {}) => {
    const sink = await sinkOf(answer);
    const error = await failure(sendTo(contextOf({ url: sink.url, ...settings }), events(count)));
    const { message, permanent, fatal, retryAfter, failedEvents } = error;
    return {
      message: message.replace(sink.url.slice(0, -1), 'URL'),
      permanent,
      fatal,
      retryAfter,
      failedEvents,
    };
  };
  const retried = { permanent: false, fatal: undefined, failedEvents: undefined };

  it.each([408, 425, 429, 500, 503])('%i is retried', async (code) => {
    expect(await answered(status(code))).toMatchObject({ ...retried, retryAfter: undefined });
  });

  it('Retry-After is a number of seconds', async () => {
    expect(await answered(status(429, { 'retry-after': '7' }))).toMatchObject({ ...retried, retryAfter: 7 });
  });

  it.each([
    ['120', 120],
    [' 3 ', 3],
    ['Thu, 01 Jan 1970 00:01:30 GMT', 90],
    ['Wed, 31 Dec 1969 00:00:00 GMT', undefined],
    ['0', undefined],
    ['-5', undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('Retry-After %s is a wait of %s s', (text, seconds) => {
    const scheduler = new TestScheduler(() => {});
    scheduler.run(() => expect(secondsUntil(text)).toBe(seconds));
  });

  it.each([
    [
      'a day behind',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'Fri, 02 Jan 1970 00:00:00 GMT',
      'Fri, 02 Jan 1970 00:00:02 GMT',
      2,
    ],
    [
      'a day ahead',
      'Fri, 02 Jan 1970 00:00:00 GMT',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'Thu, 01 Jan 1970 00:01:30 GMT',
      90,
    ],
    [
      'right, with a date in the past',
      'Fri, 02 Jan 1970 00:00:00 GMT',
      'Fri, 02 Jan 1970 00:00:00 GMT',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      undefined,
    ],
    [
      'the only one, without a Date',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      undefined,
      'Thu, 01 Jan 1970 00:00:07 GMT',
      7,
    ],
    [
      'the only one, with a Date that is none',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'now',
      'Thu, 01 Jan 1970 00:00:07 GMT',
      7,
    ],
    [
      'the only one, with a Date that cannot be',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'Thu, 99 Foo 1970 GMT',
      'Thu, 01 Jan 1970 00:00:07 GMT',
      7,
    ],
  ])(
    'a date of Retry-After counts from that of the answer, where the clock here is %s',
    (_, now, date, retryAfter, seconds) => {
      jest.spyOn(asyncScheduler, 'now').mockReturnValue(Date.parse(now));
      try {
        expect(secondsUntil(retryAfter, date)).toBe(seconds);
        expect(secondsUntil('5', date)).toBe(5);
      } finally {
        jest.restoreAllMocks();
      }
    },
  );

  it('Retry-After is read with the Date of the answer', async () => {
    const headers = { date: 'Thu, 01 Jan 1970 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 1970 00:00:03 GMT' };
    expect(await answered(status(503, headers))).toMatchObject({ ...retried, retryAfter: 3 });
    expect(await answered(status(207, headers, '[200,503]'))).toMatchObject({ retryAfter: 3 });
  });

  it('400 leaves it open which event of several is the cause, and is permanent for one', async () => {
    expect(await answered(status(400), 3)).toMatchObject({
      ...retried,
      message: 'URL answered 400 (Bad Request) to a batch of 3 events',
    });
    expect(await answered(status(400), 1)).toMatchObject({
      permanent: true,
      message: 'URL answered 400 (Bad Request)',
    });
  });

  it.each([
    [401, 'URL answered 401 (Unauthorized); check `auth`'],
    [404, 'URL answered 404 (Not Found); check `url`'],
    [301, 'URL answered 301 (Moved Permanently); redirects are not followed; set `url` to the new address'],
    [418, "URL answered 418 (I'm a Teapot)"],
  ])('%i is about the request, so every event would fail', async (code, message) => {
    expect(await answered(status(code, { location: 'http://127.0.0.1:1/' }))).toMatchObject({
      message,
      fatal: true,
    });
  });

  it('the list of retried statuses can be changed', async () => {
    const retry_statuses = [404, '4xx', 503];
    expect(await answered(status(404), 2, { retry_statuses: [404] })).toMatchObject(retried);
    expect(await answered(status(401), 2, { retry_statuses })).toMatchObject(retried);
    expect(await answered(status(500), 1, { retry_statuses })).toMatchObject({ permanent: true });
  });

  it('207 with a status for each event names those that failed', async () => {
    const statuses = JSON.stringify([200, 422, 201, 503]);
    expect(await answered(status(207, {}, statuses), 4)).toMatchObject({
      message:
        '2 of 4 events were not delivered to URL: the server answered 422 for the event; the server answered 503 for the event',
      failedEvents: [
        { index: 1, reason: 'the server answered 422 for the event', permanent: true },
        { index: 3, reason: 'the server answered 503 for the event', permanent: false },
      ],
    });
  });

  it.each([
    ['of a 207', status(207, { 'retry-after': '7' }, '[200,503]'), 2],
    ['of a part', inTurn(status(413), status(200), status(503, { 'retry-after': '7' })), 2],
    [
      'of the part that waits longest',
      inTurn(
        ...[status(413), status(207, { 'retry-after': '7' }, '[200,503]')],
        status(207, { 'retry-after': '3' }, '[503,200]'),
      ),
      4,
    ],
  ])('Retry-After %s is respected for the events that failed', async (_, answer, count) => {
    const { failedEvents, retryAfter } = await answered(answer, count);
    expect(failedEvents).toEqual(
      expect.arrayContaining([expect.objectContaining({ permanent: false, index: 1 })]),
    );
    expect(retryAfter).toBe(7);
  });

  it('name the error of ClickHouse by number and name, and quote nothing', async () => {
    const body = 'Code: 27, e.displayText() = DB::Exception: Cannot parse input: expected " before: hunter2';
    const old = { 'x-clickhouse-server-display-name': 'ch1' };
    const found = [
      status(500, old, body),
      status(500, { ...old, 'x-clickhouse-exception-code': '252' }, 'hunter2'),
      status(404, { 'x-clickhouse-exception-code': '60' }),
      status(500, { 'x-clickhouse-exception-code': '7777' }),
      status(500, { 'x-clickhouse-exception-code': 'hunter2' }),
      status(500, {}, body),
      status(500, old, 'hunter2'),
    ];
    const messages = await Promise.all(found.map(async (answer) => (await answered(answer)).message));
    expect(messages).toEqual([
      'URL answered 500 (Internal Server Error; ClickHouse error 27, CANNOT_PARSE_INPUT_ASSERTION_FAILED) to a batch of 2 events',
      'URL answered 500 (Internal Server Error; ClickHouse error 252, TOO_MANY_PARTS)',
      'URL answered 404 (Not Found; ClickHouse error 60, UNKNOWN_TABLE); create the table, or check `url`',
      'URL answered 500 (Internal Server Error; ClickHouse error 7777)',
      'URL answered 500 (Internal Server Error; a ClickHouse error without a number)',
      'URL answered 500 (Internal Server Error; ClickHouse error 27, CANNOT_PARSE_INPUT_ASSERTION_FAILED) to a batch of 2 events',
      'URL answered 500 (Internal Server Error)',
    ]);
  });

  describe('of success that tell of an exception of ClickHouse', () => {
    const summary = { 'x-clickhouse-summary': '{"written_rows":"2"}' };
    const exception = 'Code: 241. DB::Exception: Memory limit exceeded: hunter2. (MEMORY_LIMIT_EXCEEDED)';
    const old = 'Code: 241, e.displayText() = DB::Exception: hunter2, e.what() = DB::Exception';
    const inTrailer: Answerer = (_, response) => {
      response.writeHead(200, { trailer: 'X-ClickHouse-Exception-Code' });
      response.addTrailers({ 'x-clickhouse-exception-code': '241' });
      response.end('ok');
    };
    const compressed =
      (encoding: string, compress: (body: string) => Buffer, body = exception): Answerer =>
      (_, response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(compress(body));
    const found = 'URL answered 200 (OK; ClickHouse error 241, MEMORY_LIMIT_EXCEEDED)';

    it.each<[string, Answerer]>([
      ['in the header', status(200, { 'x-clickhouse-exception-code': '241' })],
      ['in the header, beside a body', status(200, { 'x-clickhouse-exception-code': '241' }, 'ok')],
      ['in a trailer', inTrailer],
      ['as the body', status(200, {}, exception)],
      ['as the body of an old version', status(200, {}, old)],
      ['at the end of the body', status(200, summary, `{"a":1}\n${exception}\n`)],
      ['at the end of a long body', status(200, summary, `${'row\n'.repeat(100_000)}${exception}\n`)],
      [
        'between marks',
        status(200, summary, `x\r\n__exception__\r\nabc\r\n${exception}\r\n80 abc\r\n__exception__\r\n`),
      ],
      ['within JSON', status(200, summary, JSON.stringify({ exception }))],
      ['compressed by gzip', compressed('gzip', gzipSync)],
      ['compressed by deflate', compressed('deflate', deflateSync)],
      ['compressed by br', compressed('br', brotliCompressSync)],
    ])('%s are retried', async (_, answer) => {
      expect(await answered(answer)).toMatchObject({ ...retried, message: found });
    });

    it.each(['209', '999', '241', 'hunter2', ''])('are retried with the code %j', async (code) => {
      const error = await answered(status(200, { 'x-clickhouse-exception-code': code }));
      expect(error).toMatchObject(retried);
      expect(error.message).not.toContain('hunter2');
    });

    it.each(['27', '117', '53', '131', '469'])('are refusals of a row with the code %s', async (code) => {
      const refused = status(200, { 'x-clickhouse-exception-code': code });
      expect((await answered(refused)).message).toMatch(/ to a batch of 2 events$/);
      expect(await answered(refused, 1)).toMatchObject({ permanent: true });
      const answer: Answerer = ({ body }, response) =>
        (body.includes('line 1') ? refused : status(200))({} as never, response, {} as never);
      expect(await answered(answer, 4, { split_refused: true })).toMatchObject({
        failedEvents: [{ index: 1, permanent: true }],
      });
    });

    it.each<[string, Answerer]>([
      ['no body', status(200, summary)],
      ['the code 0', status(200, { ...summary, 'x-clickhouse-exception-code': '0' })],
      ['a 204', status(204)],
      ['a body of another server', status(200, {}, 'Status Code: 200')],
      ['events of another server', status(201, {}, JSON.stringify([{ line: exception }]))],
      ['a body that is compressed', compressed('gzip', gzipSync, '{"accepted":2}')],
      ['an empty body that is called compressed', status(200, { 'content-encoding': 'gzip' })],
      ['a body of an unknown compression', status(200, { 'content-encoding': 'lz4' }, '\u0001')],
    ])('are no others: %s', async (_, answer) => {
      const sink = await sinkOf(answer);
      await sendTo(contextOf({ url: sink.url }), events(2));
    });
  });

  it.each<[string, Answerer]>([
    [
      'before its Content-Length',
      (_, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('half');
        setImmediate(() => response.destroy());
      },
    ],
    [
      'between two chunks',
      (_, response) => {
        response.writeHead(200).write('half');
        setImmediate(() => response.destroy());
      },
    ],
    [
      'in its head',
      (_, response) => {
        response.socket?.end('HTTP/1.1 200 OK\r\nContent-Le');
      },
    ],
    [
      'in its compression',
      (_, response) => {
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync('{"accepted":2}').subarray(0, -9));
      },
    ],
    [
      'before its compression',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '10' }).flushHeaders();
        setImmediate(() => response.destroy());
      },
    ],
  ])('that are cut %s are retried', async (_, answer) => {
    expect(await answered(answer)).toMatchObject({
      ...retried,
      message: expect.stringMatching(/^cannot deliver to URL: /),
    });
  });

  it.each(['[200]', '{"a":1}', '[1,"x"]', '', '<multistatus/>'])(
    '207 with %j is about the request: it is not known which events the server took',
    async (body) => {
      expect(await answered(status(207, {}, body), 2)).toMatchObject({
        message: expect.stringMatching(
          /^URL answered 207 to 2 events with a body other than a JSON array with a status for each/,
        ),
        fatal: true,
        permanent: false,
      });
    },
  );

  it('207 with an array that was cut is tried again', async () => {
    expect(await answered(status(207, {}, '[200,'), 2)).toMatchObject({ permanent: false });
    const long = await answered(status(207, {}, `[${'200,'.repeat(500_000)}200]`), 2);
    expect(long.message).toMatch(/answered 207 with an array that is too long/);
  });

  it('413 splits the batch, and later ones of its size are not sent whole', async () => {
    const most = 250;
    const sink = await sinkOf(({ body }, response) =>
      response.writeHead(body.length > most ? 413 : 200).end(),
    );
    const ctx = contextOf({ url: sink.url });
    await sendTo(ctx, events(8));
    const sizes = () => sink.requests.map(({ body }) => body.split('\n').length - 1);
    expect(sizes()).toEqual([8, 4, 2, 2, 2, 2]);
    const lines = sink.requests.filter(({ body }) => body.length <= most).map(({ body }) => body);
    expect(lines.join('')).toBe(
      events(8)
        .map((each) => toJsonLine(each))
        .join(''),
    );
    await sendTo(ctx, events(8));
    expect(sizes().slice(6)).toEqual([2, 2, 2, 2]);
  });

  it('413 for a single event is permanent, and the others are delivered', async () => {
    const sink = await sinkOf(({ body }, response) =>
      response.writeHead(body.includes('xxxx') ? 413 : 200).end(),
    );
    const batch = [event(0), event(1, { line: 'xxxx' }), event(2)];
    const error = await failure(sendTo(contextOf({ url: sink.url }), batch));
    expect(error.failedEvents).toEqual([
      {
        index: 1,
        reason: expect.stringContaining('the event alone is too large for the server'),
        permanent: true,
      },
    ]);
  });

  describe('with split_refused', () => {
    const splits = (url: string) => contextOf({ url, split_refused: true });

    it.each([400, 409, 422])('%i: the refused events are found, and fail permanently', async (code) => {
      const sink = await sinkOf(({ body }, response) =>
        response.writeHead(body.includes('bad') ? code : 200).end(),
      );
      const batch = events(16).map((each, n) => (n === 5 || n === 6 ? event(n, { line: 'bad' }) : each));
      const error = await failure(sendTo(splits(sink.url), batch));
      expect(error.failedEvents).toMatchObject([
        { index: 5, permanent: true, reason: expect.stringContaining(`answered ${code}`) },
        { index: 6, permanent: true },
      ]);
    });

    it('a 503 or a broken connection while the events are searched for is no refusal', async () => {
      for (const broken of [status(503), (_: unknown, response: { destroy(): void }) => response.destroy()]) {
        // Of four: the first half is refused, then its first event, and then the server goes away.
        const sink = await sinkOf(inTurn(status(400), status(400), status(400), broken));
        const error = await failure(sendTo(splits(sink.url), events(4)));
        expect(error.permanent).toBe(false);
        expect(error.failedEvents).toMatchObject([
          { index: 0, permanent: true },
          ...[1, 2, 3].map((index) => ({ index, permanent: false })),
        ]);
      }
    });

    it('a status of retry_statuses splits nothing', async () => {
      const sink = await sinkOf(status(500));
      expect(await failure(sendTo(splits(sink.url), events(4)))).toMatchObject({ permanent: false });
      expect(sink.requests).toHaveLength(1);
    });

    it('a 500 of ClickHouse about a row splits, one about the server does not', async () => {
      const clickhouse = (code: string) => status(500, { 'x-clickhouse-exception-code': code });
      const sink = await sinkOf(({ body }, response, incoming) =>
        (body.includes('line 2') ? clickhouse('27') : status(200))({ body } as never, response, incoming),
      );
      const error = await failure(sendTo(splits(sink.url), events(4)));
      expect(error.failedEvents).toMatchObject([{ index: 2, permanent: true }]);
      const full = await sinkOf(clickhouse('252'));
      expect(await failure(sendTo(splits(full.url), events(4)))).toMatchObject({ permanent: false });
      expect(full.requests).toHaveLength(1);
    });
  });

  it.each([
    ['fast', 100],
    ['so slow that only two requests fit into the timeout', 1400],
  ])(
    'a split ends before `delivery.timeout`, and keeps what it has found: a server that is %s',
    async (_, ms) => {
      let now = 0;
      jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now);
      ends.unshift(() => jest.restoreAllMocks());
      const stored: string[] = [];
      const sink = await sinkOf(({ body }, response) => {
        now += ms;
        const isBad = body.includes('bad');
        if (!isBad) stored.push(...body.trim().split('\n'));
        response.writeHead(isBad ? 400 : 200).end();
      });
      const ctx = contextOf({ url: sink.url, split_refused: true, format: 'lines' });
      const pipelines = { test: { delivery: { timeout: 3 } } };
      const limited = { ...ctx, pipeline_config: { ...ctx.pipeline_config, pipelines } } as never;
      const bad: unknown[] = [];
      let left = events(40).map((each, n) => (n % 2 === 1 ? event(n, { line: `bad ${n}` }) : each));
      while (left.length > 0) {
        const startedAt = now;
        const done = new PluginError('done', { failedEvents: [] });
        const error = await failure(sendTo(limited, left).then(() => Promise.reject(done)));
        // A single event fails without `failedEvents`.
        const failedEvents = (error.failedEvents ?? [
          { index: 0, permanent: error.permanent },
        ]) as FailedEvent[];
        expect(now - startedAt).toBeLessThan(3000);
        const rest = failedEvents.filter(({ permanent }) => !permanent);
        expect(rest.length).toBeLessThan(left.length);
        if (rest.length > 0) expect(error.unfinished).toBe(true);
        for (const { index, permanent } of failedEvents) if (permanent) bad.push(left[index]?.data.line);
        left = rest.map(({ index }) => left[index] as CollectedEvent);
      }
      const numbers = Array.from({ length: 20 }, (__, n) => 2 * n);
      expect(stored).toEqual(numbers.map((n) => `line ${n}`));
      expect(bad).toEqual(numbers.map((n) => `bad ${n + 1}`));
    },
  );

  it('a part that fails for now leaves the rest for the next attempt', async () => {
    const sink = await sinkOf(inTurn(status(413), status(200), status(503)));
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(4)));
    expect(error.failedEvents).toMatchObject([
      { index: 2, permanent: false },
      { index: 3, permanent: false },
    ]);
  });

  it('are not shown, and are read to a limit', async () => {
    const long = `hunter2 ${'x'.repeat(10_000_000)}`;
    const error = await answered(status(500, {}, long));
    expect(error.message).toBe('URL answered 500 (Internal Server Error)');
    const sink = await sinkOf(status(200, {}, long));
    await sendTo(contextOf({ url: sink.url }), events(1));
  });
});

describe('http: connections', () => {
  it('that are refused say so', async () => {
    const sink = await httpSink();
    await sink.close();
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(error.message).toBe(
      `cannot deliver to ${sink.url.slice(0, -1)}: ECONNREFUSED: connection refused, connect`,
    );
    expect(error.permanent).toBe(false);
  });

  it.each([
    ['before the answer', (_: unknown, response: { destroy(): void }) => response.destroy()],
    [
      'in the middle of the answer',
      (_: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('x', () => response.destroy());
      },
    ],
  ])('that break %s fail the batch', async (_, answer) => {
    const sink = await sinkOf(answer as Answerer);
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(1)));
    expect(error.message).toMatch(/^cannot deliver to http:\/\/127\.0\.0\.1:\d+: \w+: /);
  });

  it('that are accepted and never answered time out', async () => {
    const sink = await sinkOf(() => {});
    const error = await failure(sendTo(contextOf({ url: sink.url, timeout: 0.1 }), events(1)));
    expect(error.message).toBe(`${sink.url.slice(0, -1)} did not answer within 0.1 s`);
  });

  it('are aborted when nobody waits any more', async () => {
    const aborted = new Promise((resolve) => {
      sinkOf((_, __, incoming) => incoming.socket.once('close', resolve)).then((sink) => {
        const sent = http.forwardBatch?.({
          ctx: contextOf({ url: sink.url }),
          events: events(1),
          id: '' as never,
        });
        const subscription = (sent as Observable<never>).subscribe();
        ends.unshift(() => subscription.unsubscribe());
        const wait = setInterval(() => sink.requests.length > 0 && subscription.unsubscribe(), 5);
        ends.unshift(() => clearInterval(wait));
      });
    });
    await aborted;
  });
});

describe('http: configuration', () => {
  const withHttp = (entry: string) => `
collectors: { a: { plugin: test } }
forwarders:
  out: ${entry}
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;

  it.each([
    ["{ plugin: http, url: 'ftp://x/' }", 'expected a URL that starts with http:// or https://'],
    ['{ plugin: http, url: nowhere }', 'expected a URL that starts with http:// or https://'],
    ["{ plugin: http, url: 'http://x/', auth: {} }", 'exactly one of `bearer`, `basic` and `header`'],
    ["{ plugin: http, url: 'http://x/', headers: { 'a b': c } }", 'expected a name of a header'],
    ["{ plugin: http, url: 'http://x/', headers: { Content-Length: 1 } }", 'millrace sets this one itself'],
    ["{ plugin: http, url: 'https://x/', tls: { ca: /etc/ca.pem } }", 'write `{ file: path }`'],
    ["{ plugin: http, url: 'https://x/', tls: { cert: { env: PATH } } }", '`cert` and `key` together'],
  ])('refuses %s', async (entry, message) => {
    expect(await refusal(withHttp(entry))).toContain(message);
  });

  describe('with a value that no header can have', () => {
    const VARIABLE = 'MILLRACE_TEST_HEADER';
    afterEach(() => {
      delete process.env[VARIABLE];
    });
    const values = [
      ...['hunter2\nX-Evil: 1', 'hunter2\rx', 'hunter2\u0000', 'hunter2\u001b[0m', 'hunter2\u007f'],
      ...['hunter2 \u20ac', 'hunter2 \u{1f511}', '\ufeffhunter2'],
    ];
    const places: [string, (value: string) => string][] = [
      ['headers.X-Key', (value) => `headers: { X-Key: ${value} }`],
      ['auth.bearer', (value) => `auth: { bearer: ${value} }`],
      ['auth.header.value', (value) => `auth: { header: { name: X-Key, value: ${value} } }`],
    ];

    it.each(places)('refuses it as %s, wherever it comes from, and does not show it', async (path, place) => {
      for (const value of values) {
        process.env[VARIABLE] = value.replaceAll('\0', '\u0001');
        const file = temp('header-value');
        writeFileSync(file, `${value}\n`);
        for (const source of [JSON.stringify(value), `{ env: ${VARIABLE} }`, `{ file: ${file} }`]) {
          const text = await refusal(withHttp(`{ plugin: http, url: 'https://x/', ${place(source)} }`));
          expect(text).toContain(`${path}: it is the value of a header, so it needs characters of Latin-1`);
          expect(text).not.toMatch(/hunter2|Evil/);
        }
      }
    });

    it('takes what a header can have', async () => {
      for (const value of ['two words', 'a\tb', 'caf\u00e9', '"quoted" \\']) {
        const file = temp('header-value');
        writeFileSync(file, `${value}\r\n`);
        for (const [, place] of places) {
          await load(withHttp(`{ plugin: http, url: 'https://x/', ${place(`{ file: ${file} }`)} }`));
        }
      }
    });

    it('leaves it to the report of secrets that one cannot be read, and to base64 what basic sends', async () => {
      await load(withHttp("{ plugin: http, url: 'https://x/', auth: { bearer: { file: /nowhere/token } } }"));
      const basic = '{ username: "\u20ac", password: "a\\nb" }';
      await load(withHttp(`{ plugin: http, url: 'https://x/', auth: { basic: ${basic} } }`));
      const colon = withHttp(
        "{ plugin: http, url: 'https://x/', auth: { basic: { username: 'a:b', password: c } } }",
      );
      expect(await refusal(colon)).toContain('a user name without a colon');
    });

    it('waits for a better one if it comes later, and sends nothing meanwhile', async () => {
      const sink = await sinkOf();
      const file = temp('rotated');
      writeFileSync(file, 'hunter2\nbad\n');
      const ctx = contextOf({ url: sink.url, auth: { bearer: { file } } });
      const error = await failure(sendTo(ctx, events(1)));
      expect(error).toMatchObject({ fatal: true, permanent: false });
      expect(error.message).not.toContain('hunter2');
      writeFileSync(file, 'a good one\n');
      await sendTo(ctx, events(1));
      expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a good one']);
    });
  });

  it.each([
    [
      "{ plugin: http, url: 'http://ada:hunter2@x/' }",
      'a URL without a user name and a password; set `auth`',
    ],
    [
      "{ plugin: http, url: 'http://x/', proxy: 'http://ada:hunter2@x/' }",
      'set `proxy.username` and `proxy.password`',
    ],
  ])('refuses and does not show credentials in %s', async (entry, message) => {
    const text = await refusal(withHttp(entry));
    expect(text).toContain(message);
    expect(text).not.toContain('hunter2');
  });

  it.each([
    ["{ plugin: http, url: 'http://x/?user=ada&password=hunter2&query=a' }", '`password`'],
    ["{ plugin: http, url: 'https://x/in?api_key=hunter2' }", '`api_key`'],
    ["{ plugin: http, url: 'https://x/', proxy: 'http://x/?token=hunter2' }", '`token`'],
  ])('warns of the secret in the URL of %s, and does not show it', async (entry, name) => {
    const { warnings, config } = await load(withHttp(entry));
    expect(warnings.map(problemText).join('\n')).toMatch(
      new RegExp(`${name} in the URL is a secret that is written literally`),
    );
    const log: string[] = [];
    const note = (message: string) => void log.push(message);
    const logger = { error: note, warn: note, info: note, debug: note };
    loggerFor(config, logger).error('https://x/?a=hunter2 was wrong');
    const broken = await refusal(withHttp(entry.replace('plugin', 'headerz: 1, plugin')));
    expect(broken).toContain('unknown key `headerz`');
    const shown = [
      ...warnings.map(problemText),
      ...log,
      broken,
      JSON.stringify([...buildGraph(config).nodes]),
    ];
    expect(shown.filter((text) => text.includes('hunter2'))).toEqual([]);
    expect(log).toEqual(['https://x/?a=<secret> was wrong']);
  });

  it('takes a secret of the URL from the environment without a warning', async () => {
    const entry = "{ plugin: http, url: 'https://x/?password=${PW}&partition_key=a' }";
    const { warnings } = await load(withHttp(entry), { env: { PW: 'hunter2' } });
    expect(warnings).toEqual([]);
  });

  it('warns of credentials without encryption, and of a server that is not verified', async () => {
    const entry =
      "{ plugin: http, url: 'http://x/', auth: { bearer: { env: PATH } }, tls: { verify: false } }";
    const { warnings } = await load(withHttp(entry));
    expect(warnings.map((warning) => problemLine(warning).replace(/^.*yaml:/, ''))).toEqual([
      expect.stringContaining('forwarders.out.auth: the credentials are sent without encryption'),
      expect.stringContaining('forwarders.out.tls.verify: the server is not verified'),
    ]);
  });
});

describe('http: statistics', () => {
  it('count the bytes of requests that succeeded', async () => {
    const sink = await sinkOf(inTurn(status(503), status(200)));
    const counted: number[] = [];
    const ctx = contextOf({ url: sink.url });
    const counting = { ...ctx, stats: { ...ctx.stats, bytes: (count: number) => void counted.push(count) } };
    await failure(sendTo(counting, events(2)));
    await sendTo(counting, events(2));
    expect(counted).toEqual([
      Buffer.byteLength(
        events(2)
          .map((each) => toJsonLine(each))
          .join(''),
      ),
    ]);
  });
});

describe('http: documents', () => {
  it('are halved until one is left', () => {
    const all = documentsIn(Buffer.from('a\nbb\nccc\n'));
    const [first, second] = halves(all);
    expect([first, second].map(({ bytes, ...rest }) => ({ text: String(bytes), ...rest }))).toEqual([
      { text: 'a\nbb\n', count: 2, first: 0 },
      { text: 'ccc\n', count: 1, first: 2 },
    ]);
    expect(halves(first)[1]).toMatchObject({ count: 1, first: 1 });
  });
});
