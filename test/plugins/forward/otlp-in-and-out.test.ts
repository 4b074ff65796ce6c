import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import otlp from '../../../plugins/forward/otlp.ts';
import { decodeJson } from '../../../plugins/otlp/decode-json.ts';
import { decodeProtobuf } from '../../../plugins/otlp/decode-protobuf.ts';
import { encodeJson, encodeProtobuf } from '../../../plugins/otlp/encode.ts';
import { LOGS, type Signal, TRACES } from '../../../plugins/otlp/messages.ts';
import { otlpRecord } from '../../../plugins/otlp/otlp-record.ts';
import { status } from '../../support/http-sink.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { contextFor, done, event, failure, sinkOf } from './http-helpers.ts';

const anySize = () => {};

type Data = Record<string, unknown>;

const OWN = { resource: { attributes: { own: 'resource' } }, scope: { name: 'millrace', version: '0.0.0' } };
const TIMESTAMP = '2026-01-01T00:00:00.000Z';
const ENCODINGS = ['protobuf', 'json'] as const;

/** The data of events as it is after it was encoded and decoded again. */
function sentOn(all: readonly Data[], encoding: (typeof ENCODINGS)[number], signal: Signal = LOGS): Data[] {
  const mapping = { severity: ['level'], origin: OWN };
  const records = all.map((data) => otlpRecord({ timestamp: TIMESTAMP, data }, mapping));
  expect(new Set(records.map((record) => record.signal))).toEqual(new Set([signal]));
  const decoded =
    encoding === 'json'
      ? decodeJson(JSON.parse(encodeJson(records).toString()), signal, anySize)
      : decodeProtobuf(encodeProtobuf(records), signal, anySize);
  expect(decoded.problem).toBeUndefined();
  return [...decoded.rows().fields];
}

const IDS = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };
const TIME = { time: '2023-11-14T22:13:20.123456789Z' };
const RESOURCE = { resource: { attributes: { 'service.name': 'shop' }, dropped_attributes_count: 1 } };
const LOG = {
  ...{ ...TIME, ...IDS, ...RESOURCE, observed_time: '2023-11-14T22:13:20.123456790Z', flags: 4_294_967_295 },
  ...{
    severity_number: 10,
    severity_text: 'Note',
    body: 'paid',
    attributes: { n: 1 },
    event_name: 'payment',
  },
  ...{ dropped_attributes_count: 2, resource_schema_url: 'http://r', scope_schema_url: 'http://s' },
  scope: { name: 'lib', version: '1', attributes: { a: true }, dropped_attributes_count: 3 },
};
const SPAN = {
  ...{ ...IDS, ...RESOURCE, trace_state: 'a=b', parent_span_id: 'c7ad6b7169203331', name: 'GET /', kind: 2 },
  ...{ start_time: TIME.time, end_time: '2023-11-14T22:13:21.000000001Z', attributes: { n: [1, null] } },
  events: [{ time: TIME.time, name: 'retry', attributes: { n: 1 } }, { name: 'second' }],
  links: [{ ...IDS, trace_state: 'c=d', attributes: { k: 'v' }, flags: 1 }],
  ...{ status: { message: 'no', code: 2 }, flags: 257, dropped_links_count: 1, dropped_events_count: 2 },
  scope: { name: 'lib' },
};

describe.each(ENCODINGS)('a record that came in goes out: %s', (encoding) => {
  it.each<[string, Data]>([
    ['all fields', LOG],
    ['a body alone', { ...TIME, body: 'x' }],
    ['a severity alone', { ...TIME, severity_number: 24 }],
    ['a body of null', { ...TIME, body: null }],
    ['an empty body', { ...TIME, body: '' }],
    ['a list as its body', { ...TIME, body: ['a', 1, { b: [null, true, 0.5] }] }],
    ['an object as its body', { ...TIME, ...RESOURCE, body: { message: 'm', level: 'info', line: 'l' } }],
    ['a number as its body', { ...TIME, body: -1 }],
    ['an observed time alone', { observed_time: '1970-01-01T00:00:00.000000001Z', ...RESOURCE }],
    ['the last time that there is', { time: '2554-07-21T23:34:33.709551615Z', body: 'x' }],
    ['attributes named as fields', { ...TIME, attributes: { line: 'l', level: 'error', body: 'b', '': 1 } }],
    ['an attribute named __proto__', { ...TIME, attributes: JSON.parse('{"__proto__":{"a":1}}') }],
    ['a scope without a resource', { ...TIME, scope: { name: 'lib' } }],
  ])('%s', (_, data) => {
    // What the event does not say of the resource is that of the configuration.
    expect(sentOn([data], encoding)).toEqual([{ resource: OWN.resource, ...data }]);
  });

  it('values of any type and depth', () => {
    const value = fc.jsonValue({ maxDepth: 5 }).map((each) => JSON.parse(JSON.stringify(each)));
    const object = fc.dictionary(fc.string(), value, { minKeys: 1 });
    const data = fc.record({
      body: value,
      attributes: object,
      severity_number: fc.integer({ min: 1, max: 24 }),
    });
    fc.assert(
      fc.property(fc.array(data, { minLength: 1, maxLength: 5 }), (all) => {
        const records = all.map((each) => JSON.parse(JSON.stringify({ ...TIME, ...RESOURCE, ...each })));
        expect(sentOn(records, encoding)).toEqual(records);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('values as deep as the collector takes them', () => {
    let body: unknown = 'x';
    for (let n = 0; n < 64; n++) body = n % 2 === 0 ? { a: body } : [body];
    const data = { ...TIME, ...RESOURCE, body, attributes: { deep: body } };
    expect(sentOn([data], encoding)).toEqual([data]);
  });

  it('a span with all its fields, and one with few', () => {
    const few = { ...IDS, start_time: TIME.time, name: 'x', ...RESOURCE };
    expect(sentOn([SPAN, few], encoding, TRACES)).toEqual([SPAN, few]);
  });

  it('in the groups of its resource and scope', () => {
    const of = (service: string, scope: string, n: number, url = 'http://s') => ({
      ...{ ...TIME, body: n, resource: { attributes: { 'service.name': service } } },
      ...{ scope: { name: scope }, scope_schema_url: url },
    });
    const all = [
      of('a', 'x', 0),
      of('b', 'x', 1),
      of('a', 'x', 2),
      of('a', 'y', 3),
      of('a', 'x', 4, 'http://t'),
    ];
    expect(sentOn(all, encoding)).toEqual([0, 2, 3, 4, 1].map((n) => all[n]));
  });

  it('with what processors have added or changed', () => {
    const { trace_id, ...others } = LOG;
    const data = { ...others, trace_id: '<:HEX:>', tenant: 't1', level: 'error', attributes: { n: 1 } };
    expect(sentOn([data], encoding)).toEqual([
      { ...others, attributes: { n: 1, trace_id: '<:HEX:>', tenant: 't1', level: 'error' } },
    ]);
    const parsed = { ...TIME, ...RESOURCE, message: 'paid', level: 'error', user: 'ada' };
    expect(sentOn([parsed], encoding)).toEqual([
      {
        ...{ ...TIME, ...RESOURCE, body: 'paid', severity_number: 17, severity_text: 'error' },
        attributes: { user: 'ada' },
      },
    ]);
    const masked = { ...SPAN, span_id: '<:HEX:>', links: [{ trace_id: '<:HEX:>' }], region: 'eu' };
    const { span_id, ...rest } = masked;
    expect(sentOn([masked], encoding, TRACES)).toEqual(
      [
        {
          ...rest,
          region: undefined,
          links: [{ attributes: { trace_id: '<:HEX:>' } }],
          attributes: { n: [1, null], span_id, region: 'eu' },
        },
      ].map((each) => JSON.parse(JSON.stringify(each))),
    );
  });

  it('at the time at which it was received, if it has none', () => {
    const [record] = sentOn([{ body: 'x', ...RESOURCE }], encoding);
    expect(record).toEqual({ body: 'x', ...RESOURCE, observed_time: '2026-01-01T00:00:00.000000000Z' });
  });

  it.each<[string, Data]>([
    ['a line with a body', { line: 'l', body: 'b', attributes: { a: 1 } }],
    ['a name and a status', { name: 'x', status: 'ok', kind: 'job' }],
    ['ids', { ...IDS, message: 'm' }],
    ['a resource that is none', { line: 'l', resource: '/index.html', scope: { name: 'web' } }],
    ['nothing', {}],
  ])('but not another event: %s', (_, { line, message, ...others }) => {
    const { trace_id, span_id, ...attributes } = others as Data;
    const [record = {}] = sentOn(
      [{ ...(line !== undefined && { line }), ...(message !== undefined && { message }), ...others }],
      encoding,
    );
    const now = '2026-01-01T00:00:00.000000000Z';
    const ids = trace_id === undefined ? {} : { trace_id, span_id };
    const body = line ?? message;
    expect({ attributes: {}, ...record }).toEqual({
      ...{ ...OWN, time: now, observed_time: now, ...ids, ...(body !== undefined && { body }), attributes },
    });
  });
});

describe('logs and spans in a batch', () => {
  const batch = [SPAN, LOG, SPAN, { line: 'x' }].map((data: Data) => ({ timestamp: TIMESTAMP, data }));
  const send = (ctx: ReturnType<typeof contextFor>, events = batch) =>
    done(otlp.forwardBatch?.({ ctx, events, id: 'x' as never }));
  const counts = (body: string) => body.match(/"(?:logRecords|spans)"|"startTimeUnixNano"/g);

  it.each(['', '/base', '/v1/logs', '/v1/traces/', '/base/v1/logs?a=b'])(
    'have paths of their own: %s',
    async (path) => {
      const sink = await sinkOf();
      await send(contextFor(otlp, { url: `${sink.url.slice(0, -1)}${path}`, encoding: 'json' }));
      const base = path.startsWith('/base') ? '/base' : '';
      const query = path.includes('?') ? '?a=b' : '';
      expect(sink.requests.map((request) => request.path)).toEqual([
        `${base}/v1/logs${query}`,
        `${base}/v1/traces${query}`,
      ]);
      expect(sink.requests.map(({ body }) => counts(body))).toEqual([
        ['"logRecords"', '"logRecords"'],
        ['"spans"', '"startTimeUnixNano"', '"startTimeUnixNano"'],
      ]);
    },
  );

  it('fail alone, by their positions', async () => {
    const refuse = (path: string) =>
      sinkOf((request, response, incoming) =>
        status(request.path === path ? 400 : 200)(request, response, incoming),
      );
    const traces = await failure(send(contextFor(otlp, { url: (await refuse('/v1/traces')).url })));
    expect(traces.failedEvents).toMatchObject([
      { index: 0, permanent: true },
      { index: 2, permanent: true },
    ]);
    const logs = await failure(
      send(contextFor(otlp, { url: (await refuse('/v1/logs')).url }), [
        ...batch,
        { ...event(4), timestamp: 'never' },
      ]),
    );
    const positions = (logs.failedEvents as { index: number }[]).map(({ index }) => index);
    expect(positions.toSorted()).toEqual([1, 3, 4]);
  });

  it('are a failure of the spans that are rejected', async () => {
    const sink = await sinkOf((request, response) =>
      response.end(request.path === '/v1/traces' ? '{"partialSuccess":{"rejectedSpans":"2"}}' : '{}'),
    );
    const { failedEvents } = await failure(send(contextFor(otlp, { url: sink.url, encoding: 'json' })));
    expect(failedEvents).toMatchObject([
      { index: 0, permanent: true },
      { index: 2, permanent: true },
    ]);
  });
});
