import { describe, expect, it } from '@jest/globals';
import elasticsearch from '../../../plugins/forward/elasticsearch.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import type { PartlyFailedCall } from '../../../src/sdk/plugin.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { refusal } from '../../config/helpers.ts';
import { type Answerer, inTurn, type SinkRequest, status } from '../../support/http-sink.ts';
import { contextFor, done, event, events, failure, sinkOf } from './http-helpers.ts';

const contextOf = (settings: object) => contextFor(elasticsearch, settings);
const send = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[], id = 'call') =>
  done(elasticsearch.forwardBatch?.({ ctx, events: batch, id }));
const sendLines = (
  ctx: PipelineRunContext<never>,
  batch: readonly CollectedEvent[],
  id = 'call',
  restOf?: PartlyFailedCall,
) => {
  const lines = Buffer.from(batch.map((each) => toJsonLine(each)).join(''));
  return done(elasticsearch.forwardJsonLines?.({ ctx })?.(lines, id, restOf));
};

type Action = { readonly create: { readonly _index: string; readonly _id?: string } };
/** The items of a request: pairs of an action and a document. */
const itemsOf = ({ body }: SinkRequest) => {
  const lines = body.trimEnd().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as unknown);
  return parsed.flatMap((action, n) => (n % 2 === 0 ? [[action as Action, parsed[n + 1]] as const] : []));
};
const documentsOf = (request: SinkRequest) => itemsOf(request).map(([, document]) => document);

/** Answers with a status for each item, and an error for each that is not 2xx. */
const answer =
  (...statuses: (number | [status: number, error: object])[]): Answerer =>
  (_, response) => {
    const items = statuses.map((each) => {
      const type = each === 409 ? 'version_conflict_engine_exception' : 'some_exception';
      const [code, error] = typeof each === 'number' ? [each, { type }] : each;
      return { create: { _index: 'logs', status: code, ...(code >= 300 && { error }) } };
    });
    const errors = items.some(({ create }) => create.status >= 300);
    response.end(JSON.stringify({ took: 1, errors, items }));
  };
const stored = answer();

describe('elasticsearch: requests', () => {
  it('hold an action and a document for each event, whose fields are at the top', async () => {
    const sink = await sinkOf(stored);
    const ctx = contextOf({ url: sink.url, index: 'logs' });
    await send(ctx, events(2));
    const [request] = sink.requests;
    expect(request).toMatchObject({ method: 'POST' });
    expect(request?.path).toBe(
      '/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason,error.type',
    );
    expect(request?.headers['content-type']).toBe('application/x-ndjson');
    expect(request?.body).toBe(
      [0, 1]
        .map(
          (n) =>
            `{"create":{"_index":"logs","_id":"call-${n}"}}\n{"@timestamp":"2026-01-01T00:00:00.000Z","line":"line ${n}"}\n`,
        )
        .join(''),
    );
  });

  it.each([
    ['', '/_bulk'],
    ['insert/elasticsearch', '/insert/elasticsearch/_bulk'],
    ['insert/elasticsearch//', '/insert/elasticsearch/_bulk'],
    ['insert/_bulk', '/insert/_bulk'],
    ['_bulk/', '/_bulk'],
    ['x?pipeline=geo&_msg_field=line', '/x/_bulk?pipeline=geo&_msg_field=line'],
  ])('go to the path of bulk requests below `url`, once: %j', async (below, path) => {
    const sink = await sinkOf(stored);
    await send(contextOf({ url: sink.url + below, index: 'logs' }), events(1));
    expect(sink.requests[0]?.path).toMatch(new RegExp(`^${path.replace('?', '\\?')}[?&]filter_path=`));
  });

  const ODD: readonly CollectedEvent[] = [
    event(0),
    { timestamp: '2026-01-01T00:00:00.000Z', data: {} },
    event(1, { braces: '}"],{', deep: { a: [{ b: '\\"' }, ['}']], '@timestamp': 'inner' }, end: '\\' }),
    event(2, { '@timestamp': '2026-02-02T00:00:00Z' }),
    { timestamp: '2026-01-01T00:00:00.000Z', data: { '@timestamp': 'only' } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { note: '@timestamp', 'ü "@timestamp"': 'ä😀' } },
    { ...event(3), backfill: true, tag: 'a/b', raw_data: { line: 'other' } } as CollectedEvent,
    { timestamp: 'a "time"', data: { n: 1 } },
    { timestamp: '2026-01-01T00:00:00.000Z', data: { n: 1.5, yes: true, none: null, list: [] } },
    event(4, { long: 'x'.repeat(5000) }),
  ];

  it('are the same from bytes as from events, whatever the events hold', async () => {
    const sink = await sinkOf(stored);
    for (const settings of [{}, { id: 'none' }]) {
      const ctx = contextOf({ url: sink.url, data_stream: 'logs-app', ...settings });
      await send(ctx, ODD);
      await sendLines(ctx, ODD);
    }
    const [one, other, ...withoutIds] = sink.requests.map((request) => itemsOf(request));
    expect(other).toEqual(one);
    expect(withoutIds[1]).toEqual(withoutIds[0]);
    expect(one?.[0]?.[0]).toEqual({ create: { _index: 'logs-app', _id: 'call-0' } });
    expect(withoutIds[0]?.[0]?.[0]).toEqual({ create: { _index: 'logs-app' } });
    expect(one?.map(([, document]) => document)).toEqual(
      ODD.map(({ timestamp, data }) => ({ '@timestamp': timestamp, ...data })),
    );
  });

  it('have the ids of the call that failed in part, so that nothing of it is stored twice', async () => {
    const sink = await sinkOf(stored);
    const ctx = contextOf({ url: sink.url, index: 'logs' });
    const restOf = { id: 'first', events: events(5), left: [1, 4] };
    const rest = [event(1), event(4)];
    await done(elasticsearch.forwardBatch?.({ ctx, events: rest, id: 'second', restOf }));
    await sendLines(ctx, rest, 'second', restOf);
    await done(
      elasticsearch.forward({ ctx, event: event(4), id: 'third', restOf: { ...restOf, left: [4] } }),
    );
    const ids = sink.requests.map((request) => itemsOf(request).map(([{ create }]) => create._id));
    expect(ids).toEqual([['first-1', 'first-4'], ['first-1', 'first-4'], ['first-4']]);
  });

  it('have their own ids if they come from a buffer on disk, in whatever call, and not where ids are configured', async () => {
    const sink = await sinkOf(stored);
    const eventIds = (position: number) => `buffer-${7 + position}`;
    const restOf = { id: 'first', events: events(5), left: [1, 4] };
    const idsWith = async (config: object) => {
      const ctx = contextOf({ url: sink.url, index: 'logs', ...config });
      sink.requests.length = 0;
      await done(elasticsearch.forwardBatch?.({ ctx, events: events(2), id: 'call', restOf, eventIds }));
      await done(elasticsearch.forward({ ctx, event: event(1), id: 'call', eventIds }));
      const write = elasticsearch.forwardJsonLines?.({ ctx });
      if (write !== undefined) {
        const lines = Buffer.from(
          events(2)
            .map((one) => `${JSON.stringify(one)}\n`)
            .join(''),
        );
        await done(write(lines, 'call', undefined, eventIds));
      }
      return sink.requests.map((request) => itemsOf(request).map(([{ create }]) => create._id));
    };
    const both = ['buffer-7', 'buffer-8'];
    expect(await idsWith({})).toEqual([both, ['buffer-7'], both]);
    expect(await idsWith({ index: { cel: '"logs"' } })).toEqual([both, ['buffer-7']]);
    expect((await idsWith({ id: 'none' })).flat()).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect((await idsWith({ id: { cel: 'data.line' } })).flat()).not.toContain('buffer-7');
  });

  it('keep their ids and pairs of lines when the server finds them too large', async () => {
    const sink = await sinkOf((request, response, incoming) => {
      if (itemsOf(request).length > 2) status(413)(request, response, incoming);
      else stored(request, response, incoming);
    });
    await sendLines(contextOf({ url: sink.url, index: 'logs' }), events(5));
    const taken = sink.requests.map((request) => itemsOf(request)).filter(({ length }) => length <= 2);
    expect(taken.flat().map(([{ create }]) => create._id)).toEqual([0, 1, 2, 3, 4].map((n) => `call-${n}`));
    expect(taken.flat().map(([, document]) => document)).toMatchObject(events(5).map(({ data }) => data));
  });

  it('have an index and an id by expressions, and only the events for which there are none fail', async () => {
    const sink = await sinkOf(stored);
    const ctx = contextOf({ url: sink.url, index: { cel: '"logs-" + data.app' }, id: { cel: 'data.id' } });
    expect(elasticsearch.forwardJsonLines?.({ ctx })).toBeUndefined();
    const apps = [{ app: 'a', id: '1' }, { app: 'A b', id: '2' }, { app: 'b' }, { app: 'c', id: '' }];
    const error = await failure(
      send(
        ctx,
        [...apps, { app: 'd', id: '5' }].map((more) => event(0, more)),
      ),
    );
    expect(error.failedEvents).toMatchObject([1, 2, 3].map((index) => ({ index, permanent: true })));
    expect(error.message).toContain('the expression `"logs-" + data.app` did not give a name for `index`');
    expect(error.message).not.toContain('A b');
    expect(sink.requests.map((request) => itemsOf(request).map(([{ create }]) => create))).toEqual([
      [
        { _index: 'logs-a', _id: '1' },
        { _index: 'logs-d', _id: '5' },
      ],
    ]);
  });

  it('name the events that failed by their positions in the call, also where others have no index', async () => {
    const sink = await sinkOf(answer(201, 429));
    const ctx = contextOf({ url: sink.url, index: { cel: 'data.app' } });
    const batch = [event(0), event(1, { app: 'a' }), event(2), event(3, { app: 'b' })];
    expect((await failure(send(ctx, batch))).failedEvents).toMatchObject([
      { index: 0, permanent: true },
      { index: 2, permanent: true },
      { index: 3, permanent: false },
    ]);
    sink.answer = status(503, { 'retry-after': '9' });
    const error = await failure(send(ctx, batch));
    expect(error.retryAfter).toBe(9);
    expect(error.failedEvents).toMatchObject([
      { index: 0, permanent: true },
      { index: 2, permanent: true },
      { index: 1, permanent: false },
      { index: 3, permanent: false },
    ]);
    // Only what has no index fails if there is nothing else.
    expect((await failure(send(ctx, [event(0)]))).failedEvents).toMatchObject([
      { index: 0, permanent: true },
    ]);
    expect(sink.requests).toHaveLength(2);
  });
});

describe('elasticsearch: answers', () => {
  const sent = async (answerer: Answerer, count = 3) => {
    const sink = await sinkOf(answerer);
    const error = await failure(sendLines(contextOf({ url: sink.url, index: 'logs' }), events(count)));
    const { failedEvents, permanent, fatal } = error;
    return {
      failedEvents,
      permanent,
      fatal,
      message: error.message.replaceAll(sink.url.slice(0, -1), 'URL'),
    };
  };

  it('with a result for each item: 409 is stored, 400 fails for good, the rest is sent again', async () => {
    const quoted = { type: 'mapper_parsing_exception', reason: 'failed to parse: hunter2' };
    const error = await sent(answer(201, 409, [400, quoted], 429, 503, 200, 404), 7);
    expect(error.failedEvents).toEqual([
      {
        index: 2,
        permanent: true,
        reason: 'the server answered 400 (mapper_parsing_exception) for the event',
      },
      { index: 3, permanent: false, reason: 'the server answered 429 (some_exception) for the event' },
      { index: 4, permanent: false, reason: 'the server answered 503 (some_exception) for the event' },
      { index: 6, permanent: false, reason: 'the server answered 404 (some_exception) for the event' },
    ]);
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it.each([
    ['nothing but repeats', answer(409, 409, 409)],
    ['no errors', answer(201, 201, 201)],
    ['no errors, and no items', status(200, {}, '{"errors":false}')],
    ['no errors, with spaces', status(200, {}, ' { "took" : 3,\n "errors" : false, "items" : [] }')],
  ])('of %s are a success', async (_, answerer) => {
    const sink = await sinkOf(answerer);
    await sendLines(contextOf({ url: sink.url, index: 'logs' }), events(3));
    expect(sink.requests).toHaveLength(1);
  });

  it.each(['index_closed_exception', 'cluster_block_exception', 'validation_exception'])(
    '400 of an item for %s ends when somebody repairs it',
    async (type) => {
      const { failedEvents } = await sent(answer([400, { type }], 201, 201));
      expect(failedEvents).toMatchObject([{ index: 0, permanent: false }]);
    },
  );

  it.each([
    'pipeline with id [hunter2] does not exist',
    'no write index is defined for alias [hunter2]. The write index may be explicitly disabled',
  ])('400 of an item for %j is about the index, and the reason is not shown', async (reason) => {
    const error = await sent(answer([400, { type: 'illegal_argument_exception', reason }], 201, 201));
    expect(error.failedEvents).toMatchObject([{ index: 0, permanent: false }]);
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  it.each([
    { type: 'illegal_argument_exception', reason: 'mapper [a] cannot be changed' },
    { type: 'illegal_argument_exception', reason: 'failed: pipeline with id [x]' },
    { type: 'illegal_argument_exception', reason: null },
    { type: 'illegal_argument_exception' },
    { type: 'mapper_parsing_exception', reason: 'pipeline with id [x] does not exist' },
  ])('400 of an item for %j is about the event', async (error) => {
    expect((await sent(answer([400, error], 201, 201))).failedEvents).toMatchObject([
      { index: 0, permanent: true },
    ]);
  });

  it.each([{ type: 'resource_already_exists_exception' }, { type: 'some_exception' }, {}])(
    '409 of an item for %j is a failure that may pass',
    async (error) => {
      expect((await sent(answer([409, error], 409, 201))).failedEvents).toMatchObject([
        { index: 0, permanent: false },
      ]);
    },
  );

  it('quote no kind of an error that is no identifier', async () => {
    const types = ['hunter2 is wrong', 'Hunter2', { hunter2: 1 }, 'hunter2-x', '', null];
    const error = await sent(answer(...types.map((type) => [400, { type }] as [number, object])), 6);
    expect(error.failedEvents).toHaveLength(6);
    expect(JSON.stringify(error)).not.toMatch(/hunter2/i);
  });

  it('of thousands of items are read to their end', async () => {
    const count = 5000;
    const { failedEvents } = await sent(answer(...Array.from({ length: count }, () => 429)), count);
    expect(failedEvents).toHaveLength(count);
  });

  it.each([
    ['a page', '<html>hunter2</html>'],
    ['nothing', ''],
    ['an item too few', '{"errors":true,"items":[{"create":{"status":201}}]}'],
    ['items of other actions', `{"errors":true,"items":[${Array(3).fill('{"index":{"status":400}}')}]}`],
    ['items without a status', `{"errors":true,"items":[${Array(3).fill('{"create":{}}')}]}`],
    ['what was cut', '{"errors":true,"items":[{"create":{"status":201}},{"cre'],
    ['null', 'null'],
  ])('200 with %s: it is not known what was stored', async (_, body) => {
    const { message, ...error } = await sent(status(200, {}, body));
    expect(message).toContain('answered 200 to 3 events with a body other than that of a bulk request');
    expect(error).toMatchObject({ fatal: true, permanent: false });
  });

  it.each([400, 401, 403, 404, 405, 422])(
    '%i is about the request, so that no event is given up, whether there are several or one',
    async (code) => {
      for (const count of [1, 3]) {
        const error = await sent(
          status(code, {}, '{"error":{"type":"security_exception","reason":"hunter2"}}'),
          count,
        );
        expect(error.message).toMatch(
          new RegExp(`^URL answered ${code} \\(.*; security_exception\\); check \`(?:url|auth)\``),
        );
        expect(error).toMatchObject({ permanent: false, fatal: true, failedEvents: undefined });
      }
    },
  );

  it.each([429, 500, 503])('%i is sent again, with the same ids', async (code) => {
    const sink = await sinkOf(inTurn(status(code, { 'retry-after': '3' }), stored));
    const ctx = contextOf({ url: sink.url, index: 'logs' });
    const { retryAfter, failedEvents, permanent } = await failure(sendLines(ctx, events(2)));
    expect({ retryAfter, failedEvents, permanent }).toEqual({ retryAfter: 3, permanent: false });
    await sendLines(ctx, events(2));
    expect(sink.requests[1]?.body).toBe(sink.requests[0]?.body);
    expect(documentsOf(sink.requests[0] as SinkRequest)).toHaveLength(2);
  });

  it('413 for a single event is permanent', async () => {
    expect(await sent(status(413), 1)).toMatchObject({ permanent: true });
  });
});

describe('elasticsearch: configuration', () => {
  const config = (entry: string, pipeline = '') => `
collectors: { a: { plugin: file, paths: [a.log] } }
forwarders: { out: { plugin: elasticsearch, url: 'http://localhost:9200', ${entry} } }
pipelines: { main: { collect: a, forward: out${pipeline} } }
host_config: {}
`;

  it.each([
    ['', 'exactly one of `index` and `data_stream` is required'],
    ['index: a, data_stream: b', 'exactly one of `index` and `data_stream` is required'],
    ['index: Logs', 'expected a name of Elasticsearch'],
    ['index: _logs', 'expected a name of Elasticsearch'],
    ['index: "a b"', 'expected a name of Elasticsearch'],
    ['index: ".."', 'expected a name of Elasticsearch'],
    ["data_stream: 'a,b'", 'expected a name of Elasticsearch'],
    ["index: { cel: 'size(data)' }", 'an expression that gives the name of an index (it gives a int)'],
    ['index: a, id: mine', 'id: '],
    ['index: a, headers: { x: "a\\nb" }', 'it is the value of a header'],
  ])('refuses %s', async (entry, message) => {
    expect(await refusal(config(entry))).toContain(message);
  });

  it('refuses a `filter_path` in the URL, which would hide what was stored', async () => {
    const text = config('index: a').replace(':9200', ':9200/?pretty&filter_path=took');
    expect(await refusal(text)).toContain(
      'url: leave out the parameter `filter_path`, which millrace sets itself',
    );
  });

  it.each(['logs', 'logs-app-default', '.internal', '<logs-{now/d}>', '<a-{now/M{yyyy.MM}}>'])(
    'takes the name %s',
    (index) => {
      const entry = { plugin: 'elasticsearch', url: 'http://localhost', index };
      expect(elasticsearch.get_config_schema().safeParse(entry).success).toBe(true);
    },
  );

  it('refuses `exactly_once` without ids', async () => {
    expect(await refusal(config('index: a, id: none', ', exactly_once: true'))).toContain(
      '`exactly_once` requires that a document has the same id whenever it is sent; found `id: none`',
    );
  });
});
