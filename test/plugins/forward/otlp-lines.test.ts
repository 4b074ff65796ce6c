import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import otlp from '../../../plugins/forward/otlp.ts';
import { eventsIn } from '../../../plugins/http/event-lines.ts';
import { encodeProtobuf } from '../../../plugins/otlp/encode.ts';
import { encodeLines } from '../../../plugins/otlp/encode-lines.ts';
import { otlpRecord } from '../../../plugins/otlp/otlp-record.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { toJsonLine } from '../../../src/sdk/serialise.ts';
import { type Answerer, status } from '../../support/http-sink.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { contextFor, done, event, events, failure, sinkOf } from './http-helpers.ts';

type Data = Record<string, unknown>;

const NOW = '2026-01-01T00:00:00.000Z';
const ORIGIN = { resource: { attributes: { 'service.name': 'wéb' } }, scope: { name: 'millrace' } };
const MAPPING = { severity: ['level'], origin: ORIGIN };
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

const linesOf = (all: readonly CollectedEvent[]) => Buffer.from(all.map((each) => toJsonLine(each)).join(''));
/** The request of the events that the lines hold, one after the other. */
const requestOf = (lines: Buffer, mapping = MAPPING) =>
  encodeProtobuf(eventsIn(lines).map((each) => otlpRecord(each, mapping)));
const at = (data: Data, timestamp = NOW): CollectedEvent => ({ timestamp, data });
const many = (data: Data, texts: readonly string[]) => texts.map((line) => at({ ...data, line }));

/** Expects that the lines are encoded without parsing each of them. */
function expectSame(all: readonly CollectedEvent[], mapping = MAPPING): void {
  const lines = linesOf(all);
  const documents = encodeLines(lines, mapping);
  expect(documents?.count).toBe(all.length);
  expect(documents?.body().equals(requestOf(lines, mapping))).toBe(true);
}

describe('otlp: lines of JSON are encoded as their events are', () => {
  it.each<[string, readonly CollectedEvent[]]>([
    ['lines of a file', many({ source: '/var/log/a.log' }, ['a', 'b', '', 'c'])],
    ['fields before the line and after it', [at({ a: 1, line: 'x', b: 2 }), at({ a: 1, line: 'y', b: 2 })]],
    ['lines with escapes', many({}, ['"', '\\', '\\"x\\\\', '\b\f\n\r\t', '/', '\\u0041', 'a"b\\c'])],
    [
      'lines with digits in escapes',
      many({}, ['\u001b[31mred\u001b[0m "x"', '\u0000', '\ud800', '"\udc00\\']),
    ],
    ['text of other languages', many({ 'ä"': 'ö\\' }, ['ä😀', '"ß"', '\u2028'])],
    [
      'lengths around those where a number takes a byte more',
      many({}, [
        ...[117, 120, 122, 124, 126, 127, 128, 16_380, 16_383, 16_384, 70_000].map((n) => 'x'.repeat(n)),
      ]),
    ],
    ['files in turn', ['a', 'b', 'a'].flatMap((source) => many({ source }, ['1', '2']))],
    ['times in turn', [0, 1, 1, 0].map((ms) => at({ line: `${ms}` }, `2026-01-01T00:00:00.00${ms}Z`))],
    ['levels', ['info', 'WARN', 'blue', 3].flatMap((level) => many({ level }, ['1', '2']))],
    ['ids', many({ trace_id: TRACE_ID, span_id: 'b7ad6b7169203331' }, ['1', '2'])],
    ['no line', [at({ message: 'm', n: 1 }), at({ message: 'm', n: 1 }), at({ message: 'n' }), at({})]],
    ['lines that are no strings', [at({ line: 7 }), at({ line: null }), at({ line: { line: 'x' } })]],
    ['a line, and one that is none', [at({ line: '' }), at({}), at({ line: 'x' }), at({ x: '' })]],
    ['lines that look like fields', many({ source: 'a' }, ['","source":"b', '{"line":"x"}', ']}}'])],
    ['fields beside data', [{ ...event(0), backfill: true }, event(1)] as CollectedEvent[]],
    ['a field named __proto__', many(JSON.parse('{"__proto__":{"a":1}}') as Data, ['1', '2'])],
  ])('%s', (_, all) => {
    expectSame(all);
  });

  it('with the severity of another field', () => {
    const all = many({ log: { level: 'fatal', n: 1 } }, ['1', '2']);
    expectSame(all, { ...MAPPING, severity: ['log', 'level'] });
    expectSame(all, { ...MAPPING, severity: ['line'] });
  });

  it.each<[string, CollectedEvent]>([
    ['a record of OTLP', at({ time: NOW, body: 'x' })],
    ['a record with a resource and a line', at({ resource: { attributes: {} }, line: 'x' })],
    ['a span', at({ start_time: NOW, name: 'GET /' })],
    ['a timestamp that is no date', at({ line: 'x' }, 'never')],
    ['a timestamp before 1970', at({ line: 'x' }, '1969-12-31T23:59:59.999Z')],
  ])('unless one is %s', (_, odd) => {
    expect(encodeLines(linesOf([event(0), odd, event(1)]), MAPPING)).toBeUndefined();
  });

  it('whatever they hold', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string(),
      fc.constant('"\\\u0000'),
    );
    const value = fc.oneof(
      text,
      fc.constantFrom<unknown>('info', 'error', TRACE_ID, NOW, { attributes: { a: 1 } }, 'b7ad6b7169203331'),
      fc.jsonValue(),
    );
    const name = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('line', 'message', 'level', 'trace_id', 'span_id', 'source') },
      fc.constantFrom('resource', 'body', 'attributes', 'time', 'start_time', 'name', 'scope', '__proto__'),
      fc.string(),
    );
    const timestamp = fc.oneof(
      {
        weight: 9,
        arbitrary: fc.date({ min: new Date(0), noInvalidDate: true }).map((date) => date.toISOString()),
      },
      fc.constantFrom('never', '', '"', '1969-12-31T23:59:59.999Z', '2026-01-01T00:00:00+01:00'),
    );
    const group = fc.record({
      timestamp,
      fields: fc.array(fc.tuple(name, value), { maxLength: 5 }),
      texts: fc.array(text, { minLength: 1, maxLength: 4 }),
      position: fc.nat(5),
    });
    /** Events that differ in their lines. */
    const eventsOf = ({
      timestamp: of,
      fields,
      texts,
      position,
    }: typeof group extends fc.Arbitrary<infer T> ? T : never) =>
      texts.map((line) => at(Object.fromEntries(fields.toSpliced(position, 0, ['line', line])), of));
    const isOther = ({ timestamp: of, data }: CollectedEvent) =>
      !(Date.parse(of) >= 0) || otlpRecord({ timestamp: NOW, data }, MAPPING).origin !== ORIGIN;
    let encoded = 0;
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 4 }), (groups) => {
        const lines = linesOf(groups.flatMap(eventsOf));
        const documents = encodeLines(lines, MAPPING);
        const all = eventsIn(lines);
        const mustBeParsed = all.some(isOther) || all.some((each) => each.timestamp.includes('"'));
        expect(documents === undefined).toBe(mustBeParsed);
        if (documents === undefined) return;
        encoded++;
        expect(documents.body().toString('hex')).toBe(requestOf(lines).toString('hex'));
      }),
      { numRuns: propertyRuns(300) },
    );
    expect(encoded).toBeGreaterThan(50);
  });
});

describe('otlp: calls with lines of JSON', () => {
  const sent = async (answer: Answerer, all: readonly CollectedEvent[], settings: object = {}) => {
    const sink = await sinkOf(answer);
    const ctx = contextFor(otlp, { url: sink.url, ...settings });
    return { sink, result: done(otlp.forwardJsonLines?.({ ctx })?.(linesOf(all), 'id')) };
  };

  it('are split where the events are, and refuse the same one', async () => {
    const { result } = await sent((request, response, incoming) => {
      const code = request.body.includes('line 5') ? 400 : 200;
      return status(request.body.length > 300 ? 413 : code)(request, response, incoming);
    }, events(9));
    expect((await failure(result)).failedEvents).toMatchObject([{ index: 5, permanent: true }]);
  });

  it('go to the paths of their signals, and refuse an event without a time', async () => {
    const span = at({
      start_time: NOW,
      end_time: NOW,
      name: 'GET /',
      trace_id: TRACE_ID,
      span_id: 'b7ad6b7169203331',
    });
    const { sink, result } = await sent(status(200), [span, event(1), at({ line: 'x' }, 'never')]);
    expect((await failure(result)).failedEvents).toMatchObject([{ index: 2, permanent: true }]);
    expect(sink.requests.map(({ path }) => path)).toEqual(['/v1/logs', '/v1/traces']);
    const logs = await sent(status(200), events(2));
    await logs.result;
    expect(logs.sink.requests.map(({ path }) => path)).toEqual(['/v1/logs']);
  });

  it('are left to events with `encoding: json`', () => {
    const ctx = contextFor(otlp, { url: 'http://x', encoding: 'json' });
    expect(otlp.forwardJsonLines?.({ ctx })).toBeUndefined();
  });
});
