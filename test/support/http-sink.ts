import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A request that a sink got. */
export interface SinkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Decompressed. */
  readonly body: string;
}

/** Answers a request. One that does nothing leaves it open. */
export type Answerer = (request: SinkRequest, response: ServerResponse, incoming: IncomingMessage) => unknown;

/** A server that keeps the requests that it gets. */
export interface HttpSink {
  readonly url: string;
  readonly requests: SinkRequest[];
  /** How further requests are answered. */
  answer: Answerer;
  close(): Promise<void>;
}

/** An answer with a status, and perhaps headers and a body. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answerer =>
  (_, response) =>
    response.writeHead(code, headers).end(body);

/** The given answers in turn, then the last one for good. */
export function inTurn(...answers: readonly Answerer[]): Answerer {
  let next = 0;
  return (...args) => answers[Math.min(next++, answers.length - 1)]?.(...args);
}

/** A server on a port of the loopback interface: a free one, unless `port` is given. */
export async function httpSink(answer: Answerer = status(200), port = 0): Promise<HttpSink> {
  const requests: SinkRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      return; // The client has gone.
    }
    const bytes = Buffer.concat(chunks);
    const isCompressed = incoming.headers['content-encoding'] === 'gzip';
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: (isCompressed ? gunzipSync(bytes) : bytes).toString(),
    };
    requests.push(request);
    sink.answer(request, response, incoming);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const sink: HttpSink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    answer,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return sink;
}
