import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** A proxy as most companies have one: it opens tunnels, and passes requests for `http://` URLs on. */
export interface ConnectProxy {
  readonly url: string;
  /** The names of the certificates that clients have shown of themselves. */
  readonly certificates: readonly string[];
  /** What was asked for: method, target and `Proxy-Authorization`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * Tunnels to any port of this machine. Others than those with this `authorization`, if one is given, get a 407. With `keys`,
 * clients reach the proxy itself by TLS, and are asked for certificates.
 */
export async function connectProxy(
  authorization?: string,
  keys?: { readonly cert: string; readonly key: string },
): Promise<ConnectProxy> {
  const certificates: string[] = [];
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const answer = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url = '', headers } = incoming;
    const { 'proxy-authorization': given, ...others } = headers;
    asked.push(`${method} ${url} ${given}`);
    if (authorization !== undefined && given !== authorization) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
      return;
    }
    const passedOn = request(url, { method, headers: others }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passedOn.on('error', () => response.writeHead(502).end());
    incoming.pipe(passedOn);
  };
  const server =
    keys === undefined
      ? createServer(answer)
      : createTlsServer({ ...keys, requestCert: true, rejectUnauthorized: false }, answer);
  server.on('connection', (socket) => sockets.add(socket));
  server.on('secureConnection', (socket: TLSSocket) => {
    const { subject } = socket.getPeerCertificate();
    if (subject !== undefined) certificates.push(String(subject.CN));
  });
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket, head: Buffer) => {
    const given = headers['proxy-authorization'];
    asked.push(`CONNECT ${url} ${given}`);
    if (authorization !== undefined && given !== authorization) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    const upstream = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    sockets.add(upstream);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('error', end);
    upstream.on('error', end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${keys === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    certificates,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
