import { describe, expect, it } from '@jest/globals';
import { refusal } from '../../config/helpers.ts';
import { inTurn, status } from '../../support/http-sink.ts';
import { contextOf, events, failure, sendTo, sinkOf } from './http-helpers.ts';

const json = (value: unknown, code = 200, headers = {}) => status(code, headers, JSON.stringify(value));
const bulk = (...statuses: number[]) => ({
  errors: true,
  items: statuses.map((own) => ({ index: { status: own, error: { reason: 'hunter2' } } })),
});

/** What became of four events after one answer. */
async function failedOf(answers: object, answer: ReturnType<typeof status>, settings = {}) {
  const sink = await sinkOf(answer);
  const error = await failure(sendTo(contextOf({ url: sink.url, answers, ...settings }), events(4)));
  expect(`${error.message}${JSON.stringify(error.failedEvents)}`).not.toContain('hunter2');
  return error;
}

describe('http: answers with the status of each event', () => {
  const failed = [
    { index: 1, permanent: true, reason: 'the server answered 422 for the event' },
    { index: 3, permanent: false, reason: 'the server answered 503 for the event' },
  ];
  it.each<[string, object, unknown]>([
    ['a list of them', { items: 'status_list' }, [200, 422, 201, 503]],
    ['items of Elasticsearch', { items: 'elasticsearch' }, bulk(200, 422, 201, 503)],
    [
      'what an expression finds',
      { items: { cel: 'body.results.map(r, r.code)' } },
      { results: [200, 422, 201, 503].map((code) => ({ code, text: 'hunter2' })) },
    ],
    [
      'what an expression makes of other codes',
      {
        items: { cel: 'body.offsets.map(o, o.error_code == null ? 200 : o.error_code == 50002 ? 503 : 422)' },
      },
      { offsets: [null, 42202, null, 50002].map((error_code) => ({ error_code })) },
    ],
    [
      'those of the events that failed',
      { failed_items: 'body.errors.map(e, {"index": e.at, "status": e.code})' },
      {
        errors: [
          { at: 1, code: 422, message: 'hunter2' },
          { at: 3, code: 503 },
        ],
      },
    ],
  ])('may have %s', async (_, answers, answer) => {
    for (const code of [200, 207]) {
      const error = await failedOf(answers, json(answer, code, { 'retry-after': '7' }));
      expect(error.failedEvents).toEqual(failed);
      expect(error.retryAfter).toBe(7);
    }
  });

  it('may have positions alone, of events that are refused', async () => {
    const error = await failedOf({ failed_items: 'body.failed' }, json({ failed: [2, 0] }));
    expect(error.failedEvents).toEqual([
      { index: 0, permanent: true, reason: 'the server answered 400 for the event' },
      { index: 2, permanent: true, reason: 'the server answered 400 for the event' },
    ]);
  });

  it.each<[object, unknown]>([
    [{ items: 'status_list' }, [200, 200, 202, 299]],
    [{ items: 'elasticsearch' }, bulk(200, 201, 200, 201)],
    [{ items: { cel: 'body' } }, [200, 200, 200, 200]],
    [{ failed_items: 'body.failed' }, { failed: [] }],
    [{ failed_items: 'body.?failed.orValue([])' }, {}],
    [{ failed_items: 'body.all' }, { all: [{ index: 1, status: 200 }] }],
  ])('may say that all events are taken: %j', async (answers, answer) => {
    const sink = await sinkOf(json(answer));
    await sendTo(contextOf({ url: sink.url, answers }), events(4));
    expect(sink.requests).toHaveLength(1);
  });

  it('are retried by `retry_statuses`', async () => {
    const answers = { items: 'status_list' };
    const error = await failedOf(answers, json([200, 422, 200, 503]), { retry_statuses: [422] });
    expect(error.failedEvents).toMatchObject([
      { index: 1, permanent: false },
      { index: 3, permanent: true },
    ]);
  });

  it.each<[string, object, string]>([
    ['another length', { items: 'status_list' }, '[200, 200]'],
    ['no list', { items: 'status_list' }, '{"ok":true}'],
    ['no status', { items: 'status_list' }, '[200, 200, 0, 200]'],
    ['no body', { items: 'status_list' }, ''],
    ['strings', { items: { cel: 'body' } }, '["200","200","200","200"]'],
    ['an HTML page', { items: 'elasticsearch' }, '<html>hunter2</html>'],
    ['items without a status', { items: 'elasticsearch' }, '{"items":[{},null,{"a":{}},{"a":null}]}'],
    ['no field for the expression', { items: { cel: 'body.results' } }, '{"hunter2":1}'],
    ['an empty list', { items: { cel: 'body' } }, '[]'],
    ['a position of no event', { failed_items: 'body' }, '[4]'],
    ['a negative position', { failed_items: 'body' }, '[-1]'],
    ['half a position', { failed_items: 'body' }, '[0.5]'],
    ['an item without a status', { failed_items: 'body' }, '[{"index":1}]'],
    ['no list of failures', { failed_items: 'body.failed' }, '{"failed":"hunter2"}'],
    ['null', { failed_items: 'body' }, 'null'],
  ])('do not lose an event if they have another form: %s', async (_, answers, text) => {
    const error = await failedOf(answers, status(200, {}, text));
    expect(error.message).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ answered 200 to 4 events with an answer in which `answers\.\w+` does not find what became of them, so it is not known which of them it took: /,
    );
    expect(error).toMatchObject({ permanent: false, fatal: true });
    expect(error.failedEvents).toBeUndefined();
  });

  it.each<[string, object, unknown, readonly boolean[]]>([
    [
      'one that may pass before one that may not',
      { failed_items: 'body' },
      [
        { index: 0, status: 503 },
        { index: 0, status: 400 },
      ],
      [false],
    ],
    [
      'one that may pass after one that may not',
      { failed_items: 'body' },
      [
        { index: 0, status: 400 },
        { index: 0, status: 503 },
      ],
      [false],
    ],
    [
      'a success after a failure',
      { failed_items: 'body' },
      [
        { index: 0, status: 400 },
        { index: 0, status: 200 },
      ],
      [true],
    ],
  ])('may have several statuses of an event: %s', async (_, answers, answer, permanent) => {
    const error = await failedOf(answers, json(answer));
    expect((error.failedEvents as { permanent: boolean }[]).map((each) => each.permanent)).toEqual(permanent);
  });

  it('take a document of Elasticsearch that is there already for one that is stored', async () => {
    const item = (type: string, action = 'create') => ({ [action]: { status: 409, error: { type } } });
    const conflict = 'version_conflict_engine_exception';
    const items = [item(conflict), item('other_exception'), item(conflict, 'index'), ...bulk(201).items];
    const error = await failedOf({ items: 'elasticsearch' }, json({ items }));
    expect(error.failedEvents).toMatchObject([
      { index: 1, permanent: true },
      { index: 2, permanent: true },
    ]);
  });

  it('may be too long, which shorter batches cure', async () => {
    const answer = `[200,200,200,200${' '.repeat(17 * 1024 * 1024)}`;
    const error = await failedOf({ items: 'status_list' }, status(200, {}, answer));
    expect(error.message).toMatch(/: it is longer than 16 MiB; lower `batch\.events`$/);
    // A batch that fails like every other one is not tried in halves.
    expect(error.fatal).toBe(false);
  });

  it('are no list of statuses after 207 if a number in it is none', async () => {
    const sink = await sinkOf(json([200, 0, -1, 200], 207));
    const error = await failure(sendTo(contextOf({ url: sink.url }), events(4)));
    expect(error.message).toContain('a body other than a JSON array with a status for each');
    expect(error.failedEvents).toBeUndefined();
  });

  it('may be whole the next time if their JSON was cut', async () => {
    const error = await failedOf({ items: 'status_list' }, status(200, {}, '[200, 200, 2'));
    expect(error.message).toMatch(/: its JSON is incomplete$/);
    expect(error.fatal).not.toBe(true);
  });

  it('may be long', async () => {
    const answer = events(4).map(() => ({ code: 200, text: 'x'.repeat(100_000) }));
    const sink = await sinkOf(json(answer));
    await sendTo(contextOf({ url: sink.url, answers: { items: { cel: 'body.map(r, r.code)' } } }), events(4));
  });
});

describe('http: the status that an answer means', () => {
  const send = async (expression: string, answer: ReturnType<typeof status>, settings = {}) => {
    const sink = await sinkOf(answer);
    const ctx = contextOf({ url: sink.url, answers: { status: expression }, ...settings });
    return { sink, sent: sendTo(ctx, events(1)) };
  };

  it.each<[string, ReturnType<typeof status>]>([
    ['body.ok ? status : 503', json({ ok: true })],
    ['status == 409 ? 200 : status', status(409)],
    ['status == 400 && text.contains("duplicate") ? 200 : status', status(400, {}, 'duplicate')],
    ['"x-error" in headers ? 503 : status', status(204)],
    ['double(body.code)', json({ code: 201 })],
  ])('may be success: %s', async (expression, answer) => {
    await (await send(expression, answer)).sent;
  });

  it.each<[string, ReturnType<typeof status>, string, object]>([
    [
      'body.ok ? status : body.error == "ratelimited" ? 429 : 400',
      json({ ok: false, error: 'ratelimited' }, 200, { 'retry-after': '3' }),
      'answered 200, which means 429 (Too Many Requests)',
      { permanent: false, retryAfter: 3 },
    ],
    [
      'body.ok ? status : body.error == "ratelimited" ? 429 : 400',
      json({ ok: false, error: 'hunter2' }),
      'answered 200, which means 400 (Bad Request)',
      { permanent: true },
    ],
    [
      'text.startsWith("Code:") ? 503 : status',
      status(200, {}, 'Code: hunter2'),
      'answered 200, which means 503 (Service Unavailable)',
      { permanent: false },
    ],
    [
      '"x-error" in headers && headers["x-error"] != "0" ? 401 : status',
      status(200, { 'X-Error': 'hunter2' }),
      'answered 200, which means 401 (Unauthorized); check `auth`',
      { fatal: true },
    ],
    [
      'body.ok ? 200 : 400',
      status(502, {}, '<html>hunter2</html>'),
      'answered 502 (Bad Gateway)',
      { permanent: false },
    ],
  ])('may be a failure: %s', async (expression, answer, message, properties) => {
    const error = await failure((await send(expression, answer)).sent);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('hunter2');
    expect(error).toMatchObject(properties);
  });

  it.each<[string, string]>([
    ['body.ok ? status : 400', '<html>hunter2</html>'],
    ['body.ok ? status : 400', '{"okay":true}'],
    ['body.status', '{"status":"hunter2"}'],
    ['body.status', '{"status":0}'],
    ['body.status', '{"status":200.5}'],
    ['body.status', '{"status":null}'],
  ])(
    'does not lose an event if an answer with success does not tell it: %s of %s',
    async (expression, text) => {
      const error = await failure((await send(expression, status(200, {}, text))).sent);
      expect(error.message).toMatch(
        /answered 200, and `answers\.status` does not say what that means, so it is not known whether it took the events: /,
      );
      expect(error.message).not.toContain('hunter2');
      expect(error).toMatchObject({ permanent: false, fatal: true });
    },
  );

  it('splits a batch that an answer with success refuses', async () => {
    const sink = await sinkOf((request, response) => {
      response.end(JSON.stringify({ ok: !request.body.includes('line 2') }));
    });
    const answers = { status: 'body.ok ? status : 400' };
    const error = await failure(
      sendTo(contextOf({ url: sink.url, answers, split_refused: true }), events(4)),
    );
    expect(error.failedEvents).toMatchObject([{ index: 2, permanent: true }]);
  });

  it('applies before the items are read', async () => {
    const answers = { status: 'body.busy ? 503 : status', items: { cel: 'body.items' } };
    const sink = await sinkOf(inTurn(json({ busy: true }), json({ busy: false, items: [200] })));
    const ctx = contextOf({ url: sink.url, answers });
    expect((await failure(sendTo(ctx, events(1)))).message).toContain('which means 503');
    await sendTo(ctx, events(1));
  });
});

describe('http: expressions of answers in a configuration', () => {
  const withAnswers = (answers: string) => `
collectors: { a: { plugin: test } }
forwarders:
  out: { plugin: http, url: 'http://localhost/', answers: { ${answers} } }
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;

  it.each([
    [
      'status: data.ok',
      'there are status, headers, body, text, and a field of the JSON of an answer is body.NAME',
    ],
    ['status: body.ok &&', 'an expression that gives a status ('],
    ['status: status == 200', 'it gives a bool'],
    ['items: { cel: status }', 'it gives a int'],
    ['items: bulk', 'items'],
    ['failed_items: text', 'it gives a string'],
    ['items: status_list, failed_items: body', '`items` or `failed_items`, not both'],
    ['failed_when: body.failed', 'failed_when'],
  ])('refuses %s', async (answers, message) => {
    expect(await refusal(withAnswers(answers))).toContain(message);
  });
});
