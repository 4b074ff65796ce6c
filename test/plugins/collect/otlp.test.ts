import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import otlp from '../../../plugins/collect/otlp.ts';
import { timeText } from '../../../plugins/otlp/time-text.ts';
import { eventually } from '../../support/eventually.ts';
import { all, bytes, double, fixed32, fixed64, int, keyValue, string } from '../../support/protobuf-bytes.ts';
import { Collector } from './http-helpers.ts';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { 'content-encoding': 'gzip' };

const start = (options = {}) => Collector.start(otlp, { plugin: 'otlp' }, options);

const TIME = 1_700_000_000_123_456_789n;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

const RESOURCE = bytes(1, keyValue(1, 'service.name', string('shop')));
const SCOPE = bytes(1, all(bytes(1, 'lib'), bytes(2, '1.0')));
const RECORD = all(
  fixed64(1, TIME),
  int(2, 9n),
  bytes(3, 'INFO'),
  bytes(5, string('paid')),
  keyValue(6, 'int', int(3, -5n)),
  keyValue(6, 'large', int(3, 9_007_199_254_740_993n)),
  keyValue(6, 'double', double(4, 1.5)),
  keyValue(6, 'yes', int(2, 1n)),
  keyValue(6, 'list', bytes(5, all(bytes(1, string('a')), bytes(1, int(3, 1n))))),
  keyValue(6, 'map', bytes(6, keyValue(1, 'k', string('v')))),
  keyValue(6, 'raw', bytes(7, Buffer.from([1, 2, 3]))),
  keyValue(6, 'none', Buffer.alloc(0)),
  keyValue(6, '__proto__', string('p')),
  int(7, 2n),
  fixed32(8, 1),
  bytes(9, Buffer.from(TRACE_ID, 'hex')),
  bytes(10, Buffer.from(SPAN_ID, 'hex')),
  fixed64(11, TIME + 1n),
  bytes(12, 'payment'),
  bytes(100, 'of a later version'),
);
const logs = (...records: readonly Buffer[]) =>
  bytes(
    1,
    all(RESOURCE, bytes(2, all(SCOPE, ...records.map((record) => bytes(2, record)), bytes(3, 'http://s')))),
  );

const REST = {
  resource: { attributes: { 'service.name': 'shop' } },
  scope: { name: 'lib', version: '1.0' },
  scope_schema_url: 'http://s',
};
const DATA = {
  time: '2023-11-14T22:13:20.123456789Z',
  severity_number: 9,
  severity_text: 'INFO',
  body: 'paid',
  attributes: JSON.parse(
    '{"int":-5,"large":"9007199254740993","double":1.5,"yes":true,"list":["a",1],"map":{"k":"v"},"raw":"AQID","none":null,"__proto__":"p"}',
  ),
  dropped_attributes_count: 2,
  flags: 1,
  trace_id: TRACE_ID,
  span_id: SPAN_ID,
  observed_time: '2023-11-14T22:13:20.123456790Z',
  event_name: 'payment',
  ...REST,
};

describe('otlp: logs', () => {
  it('take protobuf', async () => {
    const collector = await start();
    const answer = await collector.post(logs(RECORD, bytes(5, string('second'))), PROTOBUF, '/v1/logs');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
    expect((await answer.arrayBuffer()).byteLength).toBe(0);
    expect(collector.data).toEqual([DATA, { body: 'second', ...REST }]);
    expect(Object.keys((collector.data[0] as typeof DATA).attributes)).toContain('__proto__');
    expect(collector.batches[0]?.events[0]?.timestamp).toBe('2023-11-14T22:13:20.123Z');
  });

  it('have each field and attribute once, with its last value', async () => {
    const collector = await start();
    const record = all(
      keyValue(6, 'a', string('1')),
      bytes(5, ''),
      keyValue(6, 'b "\\\n\u0001ä€😀', string('"\\\n\u0001ä€😀')),
      bytes(3, 'INFO'),
      keyValue(6, 'a', string('2')),
      bytes(3, 'WARN'),
      keyValue(6, 'map', bytes(6, all(keyValue(1, 'k', string('1')), keyValue(1, 'k', int(3, 300n))))),
    );
    await collector.post(logs(record), PROTOBUF, '/v1/logs');
    const attributes = { a: '2', 'b "\\\n\u0001ä€😀': '"\\\n\u0001ä€😀', map: { k: 300 } };
    const data = { body: null, severity_text: 'WARN', attributes, ...REST };
    expect(collector.data).toEqual([data]);
    const [line = ''] = collector.batches.map(({ rows }) => rows.toJsonLines().toString());
    expect(JSON.parse(line)).toMatchObject({ data, backfill: false });
    for (const key of ['"a":', '"k":', '"severity_text":']) expect(line.split(key)).toHaveLength(2);
  });

  it('without a resource, a scope or any field are events', async () => {
    const collector = await start();
    const request = bytes(1, bytes(2, all(bytes(2, ''), bytes(2, bytes(5, string('x'))))));
    await collector.post(request, PROTOBUF, '/v1/logs');
    expect(collector.data).toEqual([{}, { body: 'x' }]);
  });

  it('stay JSON until somebody asks for their fields', async () => {
    const collector = await start();
    await collector.post(logs(RECORD, bytes(5, string('second'))), PROTOBUF, '/v1/logs');
    const [rows] = collector.batches.map((batch) => batch.rows);
    const json = rows?.toJsonLines().toString() ?? '';
    expect(
      json
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).data),
    ).toEqual(collector.data);
  });

  it('take JSON, and the same of it', async () => {
    const collector = await start();
    const attribute = (key: string, value: object) => ({ key, value });
    const record = {
      ...{ timeUnixNano: String(TIME), observedTimeUnixNano: String(TIME + 1n), severityNumber: 9 },
      ...{ severityText: 'INFO', body: { stringValue: 'paid' }, droppedAttributesCount: 2, flags: 1 },
      ...{ traceId: TRACE_ID.toUpperCase(), spanId: SPAN_ID, eventName: 'payment', later: {} },
      attributes: [
        attribute('int', { intValue: '-5' }),
        attribute('large', { intValue: '9007199254740993' }),
        attribute('double', { doubleValue: 1.5 }),
        attribute('yes', { boolValue: true }),
        attribute('list', { arrayValue: { values: [{ stringValue: 'a' }, { intValue: 1 }] } }),
        attribute('map', { kvlistValue: { values: [attribute('k', { stringValue: 'v' })] } }),
        attribute('raw', { bytesValue: 'AQID' }),
        attribute('none', {}),
        attribute('__proto__', { stringValue: 'p' }),
      ],
    };
    const request = {
      resourceLogs: [
        {
          resource: { attributes: [attribute('service.name', { stringValue: 'shop' })] },
          scopeLogs: [
            { scope: { name: 'lib', version: '1.0' }, logRecords: [record], schemaUrl: 'http://s' },
          ],
        },
      ],
    };
    const answer = await collector.post(JSON.stringify(request), JSON_TYPE, '/v1/logs');
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect(collector.data).toEqual([DATA]);
  });

  it('say how many records are refused, and take the others', async () => {
    const collector = await start();
    let deep = string('x');
    for (let n = 0; n < 100; n++) deep = bytes(5, bytes(1, deep));
    const malformed = [
      bytes(5, deep),
      bytes(3, Buffer.from([0xff])),
      fixed64(3, 1n),
      Buffer.from([0x2a, 0x7f]),
    ];
    const answer = await collector.post(logs(RECORD, ...malformed), PROTOBUF, '/v1/logs');
    expect(answer.status).toBe(200);
    const problem = 'a value is nested deeper than 64 levels';
    const partial = all(int(1, 4n), bytes(2, problem));
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes(1, partial));
    expect(collector.data).toEqual([DATA]);

    const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ traceId: 'hunter2' }, {}] }] }] };
    const json = await collector.post(JSON.stringify(request), JSON_TYPE, '/v1/logs');
    expect(await json.json()).toEqual({
      partialSuccess: { rejectedLogRecords: '1', errorMessage: '`trace_id` is not hexadecimal' },
    });
    // Many clients ignore that part of the answer.
    expect(collector.logs.filter((text) => text.includes('malformed'))).toEqual([
      expect.stringMatching(/left 4 malformed records out of a request: a value is nested .* \(so far: 4\)$/),
    ]);
  });

  it('take JSON with the names of protobuf', async () => {
    const collector = await start();
    const array_value = { values: [{ string_value: 'a' }, { int_value: '1' }] };
    const attributes = [
      { key: 'list', value: { array_value } },
      { key: 'map', value: { kvlist_value: { values: [{ key: 'k', value: { bool_value: true } }] } } },
      { key: 'raw', value: { bytes_value: 'AQID' } },
      { key: 'double', value: { double_value: 1.5 } },
    ];
    const log_records = [
      { time_unix_nano: String(TIME), severity_number: 9, body: { string_value: 'paid' }, attributes },
    ];
    const resource = { attributes: [{ key: 'service.name', value: { string_value: 'shop' } }] };
    const scope_logs = [{ scope: { name: 'lib', version: '1.0' }, log_records, schema_url: 'http://s' }];
    const request = { resource_logs: [{ resource, scope_logs }] };
    expect((await collector.post(JSON.stringify(request), JSON_TYPE, '/v1/logs')).status).toBe(200);
    const expected = { list: ['a', 1], map: { k: true }, raw: 'AQID', double: 1.5 };
    const { time, severity_number, body } = DATA;
    expect(collector.data).toEqual([{ time, severity_number, body, attributes: expected, ...REST }]);
  });

  it.each([
    [{ severityNumber: 1e300 }, '`severity_number` is not a whole number'],
    [{ severityNumber: 2 ** 32 }, '`severity_number` is not a number of 32 bits'],
    [{ droppedAttributesCount: -5 }, '`dropped_attributes_count` is not a number of 32 bits'],
    [{ severityNumber: [9] }, '`severity_number` is not a whole number'],
    [{ timeUnixNano: ['5'] }, '`time` is not a whole number'],
    [{ timeUnixNano: '-5' }, '`time` is not a number of nanoseconds'],
    [{ body: { intValue: ['5'] } }, '`intValue` is not a whole number'],
    [{ body: { boolValue: 'true' } }, 'a `boolValue` is not true or false'],
    [{ body: { doubleValue: {} } }, 'a `doubleValue` is not a number'],
    [{ body: { bytesValue: '€' } }, 'a `bytesValue` is not base64'],
    [{ body: { hunter2: 'x' } }, 'a value has none of the known members, such as `stringValue`'],
  ])('refuse a record of JSON alone for %j', async (record, errorMessage) => {
    const collector = await start();
    const logRecords = [record, { body: { stringValue: 'good' } }];
    const request = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    const answer = await collector.post(request, JSON_TYPE, '/v1/logs');
    expect(await answer.json()).toEqual({ partialSuccess: { rejectedLogRecords: '1', errorMessage } });
    expect(collector.data).toEqual([{ body: 'good' }]);
  });

  it('refuse a value of JSON that is nested too deeply, as in protobuf, and no other record', async () => {
    const nested = (levels: number) =>
      `{"body":${'{"kvlistValue":{"values":[{"key":"k","value":'.repeat(levels)}{}${'}]}}'.repeat(levels)}}`;
    const collector = await start();
    const logRecords = [nested(64), nested(65), nested(100_000)];
    const request = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${logRecords}]}]}]}`;
    const answer = await collector.post(request, JSON_TYPE, '/v1/logs');
    expect(await answer.json()).toMatchObject({ partialSuccess: { rejectedLogRecords: '2' } });
    expect(collector.data).toHaveLength(1);
  });

  it.each([
    [PROTOBUF, Buffer.from('hunter2 is no message')],
    [PROTOBUF, Buffer.from([0x0a, 0xff])],
    [PROTOBUF, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    [PROTOBUF, Buffer.from([0x08, 0x01, 0x09])],
    [JSON_TYPE, '{"hunter2'],
    [JSON_TYPE, '[]'],
    [JSON_TYPE, '{"resourceLogs":{"hunter2":1}}'],
    [JSON_TYPE, '{"logs":[{"body":"hunter2"}]}'],
  ])('that are malformed are refused: %#', async (headers, body) => {
    const collector = await start();
    const answer = await collector.post(body, headers, '/v1/logs');
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe(headers['content-type']);
    expect(await answer.text()).not.toContain('hunter2');
    expect(collector.batches).toEqual([]);
    expect(collector.logs.join()).not.toContain('hunter2');
  });

  it('of any bytes never break it', async () => {
    const collector = await start();
    const whole = logs(RECORD);
    for (let n = 0; n < 300; n++) {
      const changed = Buffer.from(whole);
      changed[(n * 7919) % whole.length] = (n * 104_729) % 256;
      const answer = await collector.post(changed, PROTOBUF, '/v1/logs');
      expect([200, 400]).toContain(answer.status);
    }
  });

  it('have a time that is known', () => {
    expect(timeText(0, 0)).toBeUndefined();
    expect(timeText(0, 1)).toBe('1970-01-01T00:00:00.000000001Z');
    expect(timeText(2 ** 32 - 1, 2 ** 32 - 1)).toBe('2554-07-21T23:34:33.709551615Z');
    const last = 1_735_689_599_999_999_999n;
    // Around seconds that a sum of floating point numbers takes for the one before or after.
    const seconds = Array.from({ length: 200 }, (_, n) => (BigInt(n) ** 4n * 11n + 1n) * 1_000_000_000n);
    const around = seconds.flatMap((second) => [-2049n, -1n, 0n, 1n, 2049n].map((near) => second + near));
    for (const time of [last, last + 1n, last - 86_400_000_000_000n, last + 10n ** 18n, ...around]) {
      const expected = `${new Date(Number(time / 1_000_000n)).toISOString().slice(0, -1)}${String(time % 1_000_000n).padStart(6, '0')}Z`;
      expect(timeText(Number(time >> 32n), Number(time & 0xffffffffn))).toBe(expected);
    }
  });
});

describe('otlp: traces', () => {
  it('keep a span as it is', async () => {
    const collector = await start();
    const span = all(
      bytes(1, Buffer.from(TRACE_ID, 'hex')),
      bytes(2, Buffer.from(SPAN_ID, 'hex')),
      bytes(3, 'a=b'),
      bytes(4, Buffer.from(SPAN_ID, 'hex')),
      bytes(5, 'GET /'),
      int(6, 2n),
      fixed64(7, TIME),
      fixed64(8, TIME + 5n),
      keyValue(9, 'http.url', string('/')),
      bytes(11, all(fixed64(1, TIME), bytes(2, 'retry'), keyValue(3, 'n', int(3, 1n)))),
      bytes(13, all(bytes(1, Buffer.from(TRACE_ID, 'hex')), bytes(2, Buffer.from(SPAN_ID, 'hex')))),
      bytes(15, all(bytes(2, 'failed'), int(3, 2n))),
      fixed32(16, 257),
    );
    const answer = await collector.post(logs(span), PROTOBUF, '/v1/traces');
    expect(answer.status).toBe(200);
    expect(collector.data).toEqual([
      {
        ...{
          trace_id: TRACE_ID,
          span_id: SPAN_ID,
          trace_state: 'a=b',
          parent_span_id: SPAN_ID,
          name: 'GET /',
        },
        ...{
          kind: 2,
          start_time: '2023-11-14T22:13:20.123456789Z',
          end_time: '2023-11-14T22:13:20.123456794Z',
        },
        attributes: { 'http.url': '/' },
        events: [{ time: '2023-11-14T22:13:20.123456789Z', name: 'retry', attributes: { n: 1 } }],
        links: [{ trace_id: TRACE_ID, span_id: SPAN_ID }],
        ...{ status: { message: 'failed', code: 2 }, flags: 257 },
        ...REST,
      },
    ]);
  });
});

describe('otlp: requests', () => {
  it.each([
    ['many attributes', Array.from({ length: 2000 }, (_, n) => `a${n}`), 60_000],
    ['a long attribute', ['x'.repeat(100_000)], 1000],
  ])('whose resource has %s, for many records, are refused', async (_, keys, count) => {
    const attributes = keys.map((key) => ({ key, value: {} }));
    const logRecords = Array.from({ length: count }, () => ({}));
    const scope = { attributes };
    const resource = { attributes };
    const requests: [Record<string, string>, string | Buffer][] = [
      [JSON_TYPE, JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })],
      [JSON_TYPE, JSON.stringify({ resourceLogs: [{ scopeLogs: [{ scope, logRecords }] }] })],
      [
        PROTOBUF,
        bytes(
          1,
          all(
            bytes(1, all(...keys.map((key) => keyValue(1, key, Buffer.alloc(0))))),
            bytes(2, all(...logRecords.map(() => bytes(2, '')))),
          ),
        ),
      ],
    ];
    const collector = await start();
    for (const [headers, body] of requests) {
      const answer = await collector.post(gzipSync(body), { ...headers, ...GZIP }, '/v1/logs');
      expect(answer.status).toBe(413);
      expect(await answer.text()).toContain('resource and scope, repeated for each record, are larger than');
    }
    expect(collector.batches).toEqual([]);
    expect((await collector.post(logs(RECORD), PROTOBUF, '/v1/logs')).status).toBe(200);
  });

  it.each([
    ['of a resource', '\u0001'.repeat(2000), '', 100, 'resource and scope, repeated for each record, are'],
    ['of records', '', '\u0001'.repeat(10_000), 20, 'the records as JSON are'],
  ])('count the control characters %s, which are longer in JSON', async (_, key, body, count, what) => {
    const resource = bytes(1, keyValue(1, key, Buffer.alloc(0)));
    const records = Array.from({ length: count }, () => bytes(2, bytes(5, string(body))));
    const request = bytes(1, all(resource, bytes(2, all(...records))));
    const collector = await Collector.start(otlp, { plugin: 'otlp', max_open_bytes: 1_000_000 });
    const answer = await collector.post(gzipSync(request), { ...PROTOBUF, ...GZIP }, '/v1/logs');
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining(what)]);
    expect(collector.batches).toEqual([]);
  });

  it('share the memory for what is repeated', async () => {
    const collector = await start({ outcome: undefined });
    const resource = { attributes: [{ key: 'x'.repeat(40_000), value: {} }] };
    const logRecords = Array.from({ length: 1000 }, () => ({}));
    const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
    const first = collector.post(body, JSON_TYPE, '/v1/logs');
    await eventually(() => collector.batches.length === 1);
    const refused = await collector.post(body, JSON_TYPE, '/v1/logs');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await collector.acknowledgeUntil(first)).status).toBe(200);
  });

  it('with many scopes of a large resource take no longer for it', async () => {
    const collector = await start();
    const attributes = Array.from({ length: 50_000 }, (_, n) => ({ key: `a${n}`, value: {} }));
    const scopeLogs = Array.from({ length: 100_000 }, () => ({}));
    const body = JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs }] });
    expect((await collector.post(body, JSON_TYPE, '/v1/logs')).status).toBe(200);
  });

  it('for metrics, and in other formats, are refused', async () => {
    const collector = await start();
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await collector.post('{}', headers, path)).status;
    expect(await statusOf('/v1/metrics', JSON_TYPE)).toBe(404);
    expect(await statusOf('/v1/logs', { 'content-type': 'text/plain' })).toBe(415);
    expect(await statusOf('/v1/logs', JSON_TYPE)).toBe(200);
  });

  it('that find no room, in the pipeline or in its buffer, are to be repeated', async () => {
    for (const options of [{ outcome: 'rejected' }, { outcome: 'failed' }, { room: 0 }] as const) {
      const collector = await start(options);
      const answer = await collector.post(logs(RECORD), PROTOBUF, '/v1/logs');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5']);
      expect(answer.headers.get('content-type')).toBe('application/x-protobuf');
    }
  });

  it('that fail for good or are larger than the buffer are not to be repeated', async () => {
    for (const [outcome, status] of [
      ['refused', 200],
      ['too_large', 413],
    ] as const) {
      const collector = await start({ outcome });
      const answer = await collector.post(logs(RECORD), PROTOBUF, '/v1/logs');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, null]);
    }
  });
});
