import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type InputConnector, STRAY_KEY } from './input-connector.ts';
import { testInput } from './scenarios.ts';

const head = (...headers: readonly string[]) =>
  ['POST /logs HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: text/plain', ...headers, '', ''].join('\r\n');
const withBody = (body: string | Buffer, ...headers: readonly string[]) =>
  Buffer.concat([
    Buffer.from(head(`Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close', ...headers)),
    Buffer.from(body),
  ]);
const MIB = 'x'.repeat(1024 * 1024);

const http: InputConnector = {
  name: 'http',
  needs: [],
  collector: (port) => `plugin: http, listen: '127.0.0.1:${port}', path: /logs, timeout: 2`,
  async send(port, lines) {
    const { promise, resolve } = withResolvers<boolean>();
    const outgoing = request(
      {
        port,
        host: '127.0.0.1',
        path: '/logs',
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'text/plain' },
      },
      (response) => {
        response.resume().on('error', () => resolve(false));
        response.once('end', () => resolve(response.statusCode === 200));
      },
    );
    outgoing.once('error', () => resolve(false));
    outgoing.end(`${lines.join('\n')}\n`);
    return promise;
  },
  async sendAndLeave(port, lines) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    socket.write(withBody(`${lines.join('\n')}\n`), () => socket.destroy());
    await closed;
  },
  start: head('Content-Length: 1000') + STRAY_KEY,
  malformed: {
    'no HTTP': `${STRAY_KEY}\r\n\r\n`,
    'two lengths': head('Content-Length: 5', 'Content-Length: 7', `X: ${STRAY_KEY}`),
    'a length and chunks': `${head('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${STRAY_KEY}`,
    'a chunk with a wrong length': `${head('Transfer-Encoding: chunked')}${STRAY_KEY}\r\n`,
    'a body that ends early': `${head('Content-Length: 1000')}${STRAY_KEY}\n`,
    'no gzip': withBody(STRAY_KEY, 'Content-Encoding: gzip'),
    'gzip that ends early': withBody(gzipSync(STRAY_KEY).subarray(0, -6), 'Content-Encoding: gzip'),
    'an encoding that does not exist': withBody(STRAY_KEY, 'Content-Encoding: rot13'),
    'no JSON': Buffer.from(
      withBody(`{"line":"${STRAY_KEY}"}\n{"line":"${STRAY_KEY}`)
        .toString()
        .replace('text/plain', 'application/x-ndjson'),
    ),
    'JSON of another form': Buffer.from(
      withBody(`["${STRAY_KEY}"]`).toString().replace('text/plain', 'application/json'),
    ),
  },
  oversized: {
    'a length': () => [
      head(`Content-Length: ${200 * MIB.length}`),
      ...Array.from({ length: 200 }, () => MIB),
    ],
    chunks: () => [
      head('Transfer-Encoding: chunked'),
      ...Array.from({ length: 200 }, () => `100000\r\n${MIB}\r\n`),
    ],
    'what gzip grows to': () => [
      withBody(gzipSync(Buffer.alloc(300 * MIB.length)), 'Content-Encoding: gzip'),
    ],
    'a head': () => Array.from({ length: 20 }, (_, n) => (n === 0 ? head().slice(0, -2) : `X: ${MIB}\r\n`)),
  },
};

testInput(http);

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
