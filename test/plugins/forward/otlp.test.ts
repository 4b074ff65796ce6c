import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { fieldPath } from '../../../plugins/expressions/fields.ts';
import otlp from '../../../plugins/forward/otlp.ts';
import { encodeProtobuf } from '../../../plugins/otlp/encode.ts';
import { LOGS } from '../../../plugins/otlp/messages.ts';
import { type Fields, otlpRecord } from '../../../plugins/otlp/otlp-record.ts';
import { type ProtobufField, protobufFields } from '../../../plugins/otlp/protobuf-reader.ts';
import { type Answerer, status } from '../../support/http-sink.ts';
import { contextFor, done, event, events, failure, sinkOf } from './http-helpers.ts';

afterEach(() => void jest.restoreAllMocks());

const MS = Date.parse('2026-01-01T00:00:00Z');
const at = (data: Record<string, unknown>) => ({ timestamp: '2026-01-01T00:00:00.000Z', data });
const TIMES = { time: BigInt(MS) * 1_000_000n, observed_time: BigInt(MS) * 1_000_000n };
const EMPTY = { ...TIMES, attributes: {} };
const ORIGIN = {
  resource: { attributes: { 'service.name': 'wéb' } },
  scope: { name: 'millrace', version: '1.2.3' },
};
const recordFieldsOf = (data: Record<string, unknown>, severity = 'level') =>
  otlpRecord(at(data), { severity: fieldPath(severity), origin: ORIGIN }).fields;

/** A message as a plain value: numbers, and fields of other messages as far as `message` knows them. */
const fieldsOf = (bytes: Buffer): readonly ProtobufField[] => protobufFields(bytes) ?? [];
const bytesOf = (fields: readonly ProtobufField[], field: number) =>
  fields.filter((each) => each.field === field).map(({ value }) => value as Buffer);

function anyValue(bytes: Buffer): unknown {
  const [first] = fieldsOf(bytes);
  if (first === undefined) return null;
  const { field, value } = first;
  const content = value as Buffer;
  if (field === 1) return content.toString();
  if (field === 2) return value === 1;
  if (field === 3) return value;
  if (field === 4) return content.readDoubleLE();
  if (field === 5) return bytesOf(fieldsOf(content), 1).map((item) => anyValue(item));
  return keyValues(bytesOf(fieldsOf(content), 1));
}

const keyValues = (all: readonly Buffer[]): Record<string, unknown> =>
  Object.fromEntries(
    all.map((bytes) => {
      const fields = fieldsOf(bytes);
      return [String(bytesOf(fields, 1)[0]), anyValue(bytesOf(fields, 2)[0] ?? Buffer.alloc(0))];
    }),
  );

const recordsIn = (request: Buffer) =>
  bytesOf(fieldsOf(request), 1)
    .flatMap((resourceLogs) => bytesOf(fieldsOf(resourceLogs), 2))
    .flatMap((scopeLogs) => bytesOf(fieldsOf(scopeLogs), 2))
    .map((bytes) => {
      const fields = fieldsOf(bytes);
      const times = [1, 11].map((field) => (bytesOf(fields, field)[0] as Buffer).readBigUInt64LE());
      const known = {
        ...{ time: times[0], observed_time: times[1] },
        severity_number: fields.find(({ field }) => field === 2)?.value,
        severity_text: bytesOf(fields, 3)[0]?.toString(),
        body: bytesOf(fields, 5).map(anyValue)[0],
        attributes: keyValues(bytesOf(fields, 6)),
        ...{
          trace_id: bytesOf(fields, 9)[0]?.toString('hex'),
          span_id: bytesOf(fields, 10)[0]?.toString('hex'),
        },
      };
      return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
    });

describe('otlp: records', () => {
  it.each([
    ['a line', { line: 'x', source: 'a.log' }, { body: 'x', attributes: { source: 'a.log' } }],
    ['a message', { message: 'x', n: 1 }, { body: 'x', attributes: { n: 1 } }],
    ['a line before a message', { line: 'x', message: 'y' }, { body: 'x', attributes: { message: 'y' } }],
    ['neither', { n: 1, line: 7 }, { attributes: { n: 1, line: 7 } }],
    ['a level', { level: 'Warning' }, { severity_number: 13, severity_text: 'Warning' }],
    ['a level as a number', { level: 3 }, { severity_number: 17, severity_text: '3' }],
    ['what is no level', { level: 'blue' }, { attributes: { level: 'blue' } }],
    [
      'ids',
      { trace_id: '0AF7651916CD43DD8448EB211C80319C', span_id: 'b7ad6b7169203331' },
      { trace_id: '0AF7651916CD43DD8448EB211C80319C', span_id: 'b7ad6b7169203331' },
    ],
    [
      'what are no ids',
      { trace_id: '0'.repeat(32), span_id: 'xyz' },
      { attributes: { trace_id: '0'.repeat(32), span_id: 'xyz' } },
    ],
  ])('of an event with %s', (_, data, expected) => {
    expect(recordFieldsOf(data)).toEqual({ ...EMPTY, ...expected });
  });

  it('have the severity of another field', () => {
    expect(recordFieldsOf({ log: { level: 'fatal', n: 1 } }, 'log.level')).toMatchObject({
      severity_number: 21,
      attributes: { log: { n: 1 } },
    });
  });
});

describe('otlp: protobuf', () => {
  const recordOf = (more: Fields): Fields => ({ ...EMPTY, ...more });
  const encode = (records: readonly Fields[]) =>
    encodeProtobuf(records.map((fields) => ({ signal: LOGS, fields, origin: ORIGIN })));

  it('has every value, however large and deep', () => {
    const values = {
      ...{ text: 'ä😀\n\u0000', empty: '', long: 'x'.repeat(70_000), yes: true, no: false },
      ...{ zero: 0, n: 127, more: 128, large: Number.MAX_SAFE_INTEGER, half: 0.5, minus: -0.25, huge: 1e300 },
      ...{
        none: null,
        list: [1, 'a', [true, null], { b: 2 }],
        empties: [[], {}],
        deep: { a: { b: { c: 'd' } } },
      },
      ...{ '': 'no name', __proto__x: 1 },
    };
    const records = [
      recordOf({ attributes: values, body: 'one', severity_number: 9, severity_text: 'info' }),
      recordOf({ trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' }),
      recordOf({ body: '' }),
    ];
    expect(recordsIn(encode(records))).toEqual(records);
  });

  it('has negative numbers as 64 bits, and what JSON does not hold as JSON does', () => {
    const attributes = {
      minus: -1,
      big: 12345678901234567890n,
      nan: Number.NaN,
      date: new Date(0),
      no: undefined,
    };
    const bytes = encode([recordOf({ attributes })]);
    expect(bytes.includes(Buffer.from('18ffffffffffffffffff01', 'hex'))).toBe(true);
    expect(recordsIn(bytes)[0]?.attributes).toMatchObject({
      ...{ big: '12345678901234567890', nan: null, date: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('names the resource and the scope', () => {
    const [resourceLogs] = bytesOf(fieldsOf(encode([EMPTY])), 1);
    const fields = fieldsOf(resourceLogs as Buffer);
    expect(keyValues(bytesOf(fieldsOf(bytesOf(fields, 1)[0] as Buffer), 1))).toEqual({
      'service.name': 'wéb',
    });
    const scope = bytesOf(fieldsOf(bytesOf(fields, 2)[0] as Buffer), 1)[0] as Buffer;
    expect(fieldsOf(scope).map(({ value }) => String(value))).toEqual(['millrace', '1.2.3']);
  });
});

describe('otlp: requests', () => {
  it('are in JSON as the specification says', async () => {
    const sink = await sinkOf();
    const ctx = contextFor(otlp, { url: sink.url, encoding: 'json', resource: { 'service.name': 'web' } });
    await done(
      otlp.forwardBatch?.({ ctx, events: [event(0, { level: 'info', n: 1, f: 0.5, l: [true] })], id: 'x' }),
    );
    expect(sink.requests[0]).toMatchObject({ method: 'POST', path: '/v1/logs' });
    expect(sink.requests[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(sink.requests[0]?.body ?? '')).toEqual({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'web' } }] },
          scopeLogs: [
            {
              scope: { name: 'millrace', version: '0.0.0' },
              logRecords: [
                {
                  timeUnixNano: `${MS}000000`,
                  observedTimeUnixNano: `${MS}000000`,
                  severityNumber: 9,
                  severityText: 'info',
                  body: { stringValue: 'line 0' },
                  attributes: [
                    { key: 'n', value: { intValue: '1' } },
                    { key: 'f', value: { doubleValue: 0.5 } },
                    { key: 'l', value: { arrayValue: { values: [{ boolValue: true }] } } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    });
  });

  const answered = async (answer: Answerer, encoding: string, count = 3) => {
    const sink = await sinkOf(answer);
    const ctx = contextFor(otlp, { url: sink.url, encoding });
    const warn = jest.spyOn((ctx as { logger: { warn: (message: string) => void } }).logger, 'warn');
    const sent = done(otlp.forwardBatch?.({ ctx, events: events(count), id: 'x' }));
    return { sent, warn, sink };
  };
  /** The answer of a receiver that has rejected so many. */
  const rejects = (count: number, encoding: string): Answerer => {
    const bytes = Buffer.from([0x0a, 0x09, 0x08, count, 0x12, 0x05, ...Buffer.from('x y z')]);
    const json = JSON.stringify({
      partialSuccess: { rejectedLogRecords: `${count}`, errorMessage: 'hunter2' },
    });
    return (_, response) => response.end(encoding === 'json' ? json : bytes);
  };

  it.each(['protobuf', 'json'])(
    'of which all records are rejected fail permanently: %s',
    async (encoding) => {
      const { sent, sink } = await answered(rejects(3, encoding), encoding);
      const { permanent, message } = await failure(sent);
      expect({ permanent, message: message.replace(sink.url.slice(0, -1), 'URL') }).toEqual({
        permanent: true,
        message: 'URL rejected the records of the request (partial_success)',
      });
    },
  );

  it('of which some are rejected again and again are counted, and logged ever more rarely', async () => {
    const sink = await sinkOf(rejects(2, 'json'));
    const ctx = contextFor(otlp, { url: sink.url, encoding: 'json' });
    const warn = jest.spyOn((ctx as { logger: { warn: (message: string) => void } }).logger, 'warn');
    for (let n = 0; n < 20; n++) await done(otlp.forwardBatch?.({ ctx, events: events(3), id: `${n}` }));
    expect(warn.mock.calls.map(([message]) => /\(so far: (\d+)\)/.exec(message)?.[1])).toEqual([
      '2',
      '4',
      '10',
    ]);
  });

  it.each(['protobuf', 'json'])(
    'of which some are rejected are not sent again, and logged: %s',
    async (encoding) => {
      const { sent, warn } = await answered(rejects(2, encoding), encoding);
      await sent;
      expect(warn.mock.calls).toEqual([
        [
          expect.stringMatching(/rejected 2 of 3 records and does not say which .*\(so far: 2\)$/),
          { rejected: 2 },
        ],
      ]);
    },
  );

  it.each([
    ['protobuf', rejects(0, 'protobuf')],
    ['json', rejects(0, 'json')],
    ['protobuf', status(200)],
    ['json', status(200, {}, '{}')],
    ['json', status(200, {}, '{"partialSuccess":null}')],
    ['json', status(200, {}, ' \n')],
    ['protobuf', status(200, {}, '{}')],
    ['protobuf', status(200, {}, '\u0012\u0003abc')],
  ])('are delivered otherwise: %s', async (encoding, answer) => {
    const { sent, warn } = await answered(answer, encoding);
    await sent;
    expect(warn).not.toHaveBeenCalled();
  });

  /** An answer of protobuf with a message of so many bytes. */
  const rejectsOne = (length: number): Answerer => {
    const text = 'x'.repeat(length - 4);
    const bytes = Buffer.from([0x0a, length, 0x08, 3, 0x12, text.length, ...Buffer.from(text)]);
    return (_, response) => response.end(bytes);
  };

  it.each([9, 13, 32, 91, 123])('have a partial success of any length, as of %i bytes', async (length) => {
    const { sent } = await answered(rejectsOne(length), 'protobuf');
    expect(await failure(sent)).toMatchObject({ permanent: true });
  });

  it.each([
    ['json', '<html>hunter2</html>'],
    ['protobuf', '<html>hunter2</html>'],
    ['protobuf', '\n<!doctype html><html><body>hunter2 hunter2 hunter2 hunter2 hunter2</body></html>'],
    ['protobuf', 'no message at all'],
    ['protobuf', '\n\u0005\u0008'],
    ['protobuf', '\n\u0001\u0008'],
    ['json', '[]'],
    ['json', 'null'],
    ['json', '"hunter2"'],
    ['json', '{"partialSuccess":'],
  ])('are not delivered if the answer is none of OTLP: %s, %j', async (encoding, body) => {
    const { sent } = await answered(status(200, {}, body), encoding);
    const { message, ...error } = await failure(sent);
    expect(error).toMatchObject({ fatal: true, permanent: false });
    expect(message).toMatch(/answered 200 with a body other than that of OTLP/);
    expect(message).not.toContain('hunter2');
  });

  it.each([408, 429, 502, 503, 504])('are sent again after %i', async (code) => {
    const { sent, sink } = await answered(status(code), 'protobuf');
    expect(await failure(sent)).toMatchObject({ permanent: false, failedEvents: undefined });
    expect(sink.requests).toHaveLength(1);
  });

  it.each([400, 500, 501, 505])('are split after %i, and only the refused record fails', async (code) => {
    const { sent } = await answered((request, response, incoming) => {
      const answer = request.body.includes('line 2') ? status(code) : status(200);
      return answer(request, response, incoming);
    }, 'json');
    expect((await failure(sent)).failedEvents).toMatchObject([{ index: 2, permanent: true }]);
  });

  it('are split after 413, and refuse only the events that have no time', async () => {
    const { sent, sink } = await answered(
      (request, response, incoming) =>
        status(request.body.length > 200 ? 413 : 200)(request, response, incoming),
      'protobuf',
      9,
    );
    await sent;
    expect(sink.requests.length).toBeGreaterThan(2);
    const ctx = contextFor(otlp, { url: sink.url });
    const batch = [event(0), { ...event(1), timestamp: 'never' }];
    expect(
      (await failure(done(otlp.forwardBatch?.({ ctx, events: batch, id: 'x' })))).failedEvents,
    ).toMatchObject([{ index: 1, permanent: true }]);
  });
});
