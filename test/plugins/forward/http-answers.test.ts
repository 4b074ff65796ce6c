import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { secondsUntil } from '../../../plugins/http/answer.ts';
import { type FailedEvent, PluginError } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { type Answerer, inTurn, status } from '../../support/http-sink.ts';
import { contextOf, ends, event, events, failure, sendTo, sinkOf } from './http-helpers.ts';

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

  it.each([
    ['in the first quarter', [413, 413, 413, 200, 429], [0]],
    ['in the second quarter', [413, 413, 200, 429], [0, 1]],
    ['before anything was taken', [413, 413, 413, 429], []],
    ['after an event that is refused for good', [413, 413, 413, 413, 429], [], 0],
    ['in the third quarter', [413, 413, 200, 200, 413, 200, 429], [0, 1, 2, 3, 4]],
  ])(
    'a part of a part that fails for now leaves all of the rest for the next attempt: %s',
    async (_, codes, taken, refused: number | undefined = undefined) => {
      const isDeep = refused !== undefined;
      const answers = codes.map((code) => status(code, code === 429 ? { 'retry-after': '30' } : {}));
      const sink = await sinkOf(inTurn(...answers, status(200)));
      const error = await failure(sendTo(contextOf({ url: sink.url }), events(8)));
      expect(sink.requests).toHaveLength(codes.length);
      expect(error.retryAfter).toBe(30);
      const left = Array.from({ length: 8 }, (__, index) => index).filter(
        (index) => !(taken as readonly number[]).includes(index),
      );
      if (taken.length === 0 && !isDeep) expect(error.failedEvents).toBeUndefined();
      else
        expect(error.failedEvents).toMatchObject(
          left.map((index) => ({ index, permanent: index === refused })),
        );
    },
  );

  it('are not shown, and are read to a limit', async () => {
    const long = `hunter2 ${'x'.repeat(10_000_000)}`;
    const error = await answered(status(500, {}, long));
    expect(error.message).toBe('URL answered 500 (Internal Server Error)');
    const sink = await sinkOf(status(200, {}, long));
    await sendTo(contextOf({ url: sink.url }), events(1));
  });
});
