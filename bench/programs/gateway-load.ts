// node gateway-load.js FORM PORT EVENTS: sends so many log lines, in requests or messages that are prepared before the first one
// is sent, over eight connections. Ends when all requests are answered, and fails if one is not answered with 200. Prints the
// milliseconds since 1970 of the first byte.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { encodeProtobuf } from '../../plugins/otlp/encode.ts';
import { LOGS } from '../../plugins/otlp/messages.ts';
import { logLines } from '../log-generator.ts';

const CONNECTIONS = 8;
const EVENTS_OF_A_REQUEST = 1000;
/** They are sent again and again. */
const PREPARED = 16;
/** Of RFC 5424: `<134>1 2026-01-01T00:00:00.000Z web1 shop 42 - - `. */
const SYSLOG_HEAD = /^(\S+) /;

interface Form {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  encode(lines: readonly string[]): Buffer;
}

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const resource = {
  attributes: {
    'service.name': 'shop',
    'service.version': '1.4.2',
    'host.name': 'web1.example.com',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
  },
};
const origin = { resource, scope: { name: 'shop.requests', version: '1.4.2' } };
const otlp = (lines: readonly string[]) =>
  encodeProtobuf(
    lines.map((line, n) => ({
      ...{ signal: LOGS, origin },
      fields: {
        time: 1_767_225_600_000_000_000n + BigInt(n * 7_000_123),
        severity_number: 9,
        severity_text: 'INFO',
        body: line,
        attributes: { 'log.file.name': 'shop.log', thread: 7 },
        observed_time: 1_767_225_601_000_000_000n + BigInt(n * 7_000_123),
      },
    })),
  );

const FORMS: Readonly<Record<string, Form>> = {
  text: {
    path: '/logs',
    headers: { 'content-type': 'text/plain' },
    encode: (lines) => Buffer.from(`${lines.join('\n')}\n`),
  },
  ndjson: {
    path: '/logs',
    headers: { 'content-type': 'application/x-ndjson' },
    encode: (lines) =>
      Buffer.from(lines.map((line) => `${JSON.stringify({ level: 'INFO', message: line })}\n`).join('')),
  },
  otlp: { path: '/v1/logs', headers: PROTOBUF, encode: otlp },
  'otlp-gzip': {
    path: '/v1/logs',
    headers: { ...PROTOBUF, 'content-encoding': 'gzip' },
    encode: (lines) => gzipSync(otlp(lines)),
  },
  syslog: {
    encode: (lines) =>
      Buffer.from(
        lines.map((line) => `${line.replace(SYSLOG_HEAD, '<134>1 $1 web1 shop 42 - - ')}\n`).join(''),
      ),
  },
};

const [, , name = '', port = '', events = ''] = process.argv;
const form = FORMS[name];
if (form === undefined) throw new Error(`unknown form: ${name}`);
const requests = Number(events) / EVENTS_OF_A_REQUEST;
const lines = [...logLines(PREPARED * EVENTS_OF_A_REQUEST)];
const prepared = Array.from({ length: PREPARED }, (_, n) =>
  form.encode(lines.slice(n * EVENTS_OF_A_REQUEST, (n + 1) * EVENTS_OF_A_REQUEST)),
);
let sent = 0;
const next = () => (sent < requests ? (prepared[sent++ % PREPARED] as Buffer) : undefined);

process.stdout.write(`${Date.now()}\n`);
const send = form.path === undefined ? stream : post;
await Promise.all(Array.from({ length: CONNECTIONS }, () => send(form)));

async function post({ path, headers }: Form): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let body = next(); body !== undefined; body = next()) {
    const options = { agent, port, path, method: 'POST', host: '127.0.0.1' };
    const sending = request({ ...options, headers: { ...headers, 'content-length': body.length } });
    sending.end(body);
    const [response] = await once(sending, 'response');
    response.resume();
    await once(response, 'end');
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
  }
  agent.destroy();
}

async function stream(): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  for (let chunk = next(); chunk !== undefined; chunk = next()) {
    if (!socket.write(chunk)) await once(socket, 'drain');
  }
  socket.end();
  await once(socket, 'close');
}
