import { STRAY_KEY } from './input-connector.ts';
import { type Body, overHttp } from './over-http.ts';
import { testInput } from './scenarios.ts';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

/** A field of Protocol Buffers that has a length. */
function field(number: number, content: string | readonly Buffer[]): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.concat(content);
  const length: number[] = [];
  let left = bytes.length;
  for (; left > 127; left >>>= 7) length.push((left & 127) | 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, left]), bytes]);
}

/** An `ExportLogsServiceRequest` with a record for each line. */
function protobuf(lines: readonly string[]): Buffer {
  const records = lines.map((line) => field(2, [field(5, [field(1, line)])]));
  return field(1, [field(2, records)]);
}

function json(lines: readonly string[]): string {
  const logRecords = lines.map((stringValue) => ({ body: { stringValue } }));
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

let requests = 0;
const body = (lines: readonly string[]): Body =>
  requests++ % 2 === 0 ? { type: PROTOBUF, bytes: protobuf(lines) } : { type: JSON_TYPE, bytes: json(lines) };

const records = protobuf(Array.from({ length: 3 }, () => STRAY_KEY));

testInput(
  overHttp({
    name: 'otlp',
    path: '/v1/logs',
    body,
    malformed: {
      'no message': { type: PROTOBUF, bytes: STRAY_KEY },
      'a message that ends early': { type: PROTOBUF, bytes: records.subarray(0, -30) },
      'a message with more after it': {
        type: PROTOBUF,
        bytes: Buffer.concat([records, Buffer.from(STRAY_KEY)]),
      },
      'a message in another': {
        type: PROTOBUF,
        bytes: field(1, [field(2, [field(2, [field(5, [field(5, STRAY_KEY)])])])]),
      },
      'no JSON': { type: JSON_TYPE, bytes: json([STRAY_KEY]).slice(0, -20) },
      'JSON of another form': { type: JSON_TYPE, bytes: `{"resourceLogs":{"${STRAY_KEY}":1}}` },
      'records that are none': {
        type: JSON_TYPE,
        bytes: `{"resourceLogs":[{"scopeLogs":[{"logRecords":["${STRAY_KEY}",7,{"body":"${STRAY_KEY}"}]}]}]}`,
      },
      'another type': { type: 'text/plain', bytes: STRAY_KEY },
    },
  }),
);
