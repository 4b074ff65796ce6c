import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type InputConnector, STRAY_KEY } from './input-connector.ts';

/** A body, and its `Content-Type`. */
export interface Body {
  readonly type: string;
  readonly bytes: string | Buffer;
}

/** A collector that listens for HTTP. */
export interface HttpInput {
  readonly name: string;
  readonly path: string;
  /** More fields of the collector. */
  readonly fields?: string;
  body(lines: readonly string[]): Body;
  /** Bodies that are not in the format. There are secrets in them. */
  readonly malformed: Readonly<Record<string, Body>>;
}

const MIB = 'x'.repeat(1024 * 1024);

/** All that clients of HTTP can do wrong, beside what is in `malformed`. */
export function overHttp({ name, path, fields = '', body, malformed }: HttpInput): InputConnector {
  const { type } = body([]);
  const head = (headers: readonly string[], contentType = type) =>
    [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Content-Type: ${contentType}`, ...headers, '', ''].join(
      '\r\n',
    );
  const whole = ({ type, bytes }: Body, ...headers: readonly string[]) =>
    Buffer.concat([
      Buffer.from(
        head([`Content-Length: ${Buffer.byteLength(bytes)}`, 'Connection: close', ...headers], type),
      ),
      Buffer.from(bytes),
    ]);
  const compressed = { type, bytes: gzipSync(STRAY_KEY) };
  return {
    name,
    needs: [],
    acknowledges: true,
    disconnectsSlow: true,
    collector: (port) => `plugin: ${name}, listen: '127.0.0.1:${port}', timeout: 2, ${fields}`,
    connect: (port) => connect(port, '127.0.0.1'),
    async send(port, lines) {
      const { type, bytes } = body(lines);
      return new Promise((resolve) => {
        const outgoing = request(
          {
            ...{ port, host: '127.0.0.1', path, method: 'POST', agent: false },
            headers: { 'content-type': type },
          },
          (response) => {
            response.resume().on('error', () => resolve(false));
            response.once('end', () => resolve(response.statusCode === 200));
          },
        );
        outgoing.once('error', () => resolve(false));
        outgoing.end(bytes);
      });
    },
    async sendAndLeave(port, lines) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const closed = once(socket, 'close');
      socket.write(whole(body(lines)), () => socket.destroy());
      await closed;
    },
    start: head(['Content-Length: 1000']) + STRAY_KEY,
    malformed: {
      'no HTTP': `${STRAY_KEY}\r\n\r\n`,
      'two lengths': head(['Content-Length: 5', 'Content-Length: 7', `X: ${STRAY_KEY}`]),
      'a length and chunks': `${head(['Content-Length: 5', 'Transfer-Encoding: chunked'])}0\r\n\r\n${STRAY_KEY}`,
      'a chunk with a wrong length': `${head(['Transfer-Encoding: chunked'])}${STRAY_KEY}\r\n`,
      'a body that ends early': `${head(['Content-Length: 1000'])}${STRAY_KEY}\n`,
      'no gzip': whole({ type, bytes: STRAY_KEY }, 'Content-Encoding: gzip'),
      'gzip that ends early': whole(
        { type, bytes: compressed.bytes.subarray(0, -6) },
        'Content-Encoding: gzip',
      ),
      'an encoding that does not exist': whole({ type, bytes: STRAY_KEY }, 'Content-Encoding: rot13'),
      ...Object.fromEntries(Object.entries(malformed).map(([what, bytes]) => [what, whole(bytes)])),
    },
    oversized: {
      'a length': () => [
        head([`Content-Length: ${200 * MIB.length}`]),
        ...Array.from({ length: 200 }, () => MIB),
      ],
      chunks: () => [
        head(['Transfer-Encoding: chunked']),
        ...Array.from({ length: 200 }, () => `100000\r\n${MIB}\r\n`),
      ],
      'what gzip grows to': () => [
        whole({ type, bytes: gzipSync(Buffer.alloc(300 * MIB.length)) }, 'Content-Encoding: gzip'),
      ],
      'a head': () =>
        Array.from({ length: 20 }, (_, n) => (n === 0 ? head([]).slice(0, -2) : `X: ${MIB}\r\n`)),
    },
  };
}
