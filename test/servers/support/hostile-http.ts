import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';

/** A request that a client has sent through the proxy. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** As it was sent, perhaps compressed. */
  readonly body: Buffer;
  readonly response: ServerResponse;
  /** Sends it to the server behind the proxy, and returns its answer. */
  ask(): Promise<{ status: number; headers: Dispatcher.ResponseData['headers']; body: Buffer }>;
  /** Sends it to the server, and passes its answer back. */
  pass(): Promise<void>;
}

/** What a proxy does with a request. One that does nothing leaves it open. */
export type Behaviour = (exchange: Exchange) => unknown;

/** Passes everything on, as a proxy of good will. */
export const pass: Behaviour = (exchange) => exchange.pass();

/** Answers for the server, which does not get the request. */
export const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Behaviour =>
  ({ response }) =>
    response.writeHead(status, headers).end(body);

/** Accepts a request and never answers. */
export const silence: Behaviour = () => {};

/** The server gets the request, and its answer never arrives. */
export const silenceAfterwards: Behaviour = ({ ask }) => ask();

/** The server gets the request, and the connection is reset in the middle of its answer. */
export const resetInAnswer: Behaviour = async ({ ask, response }) => {
  const { status, body } = await ask();
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length + 100 });
  response.write(body.subarray(0, body.length / 2));
  // What is written has to be on its way before the reset, which would take it back.
  await delay(20);
  response.socket?.resetAndDestroy();
};

/** The connection is reset before the server gets the request. */
export const reset: Behaviour = ({ response }) => response.socket?.resetAndDestroy();

/** The given ones in turn, and the last one from then on. */
export function inTurn(...behaviours: readonly Behaviour[]): Behaviour {
  let next = 0;
  return (exchange) => behaviours[Math.min(next++, behaviours.length - 1)]?.(exchange);
}

/** A key pair of a server, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A proxy in front of an HTTP server, which behaves as badly as a test says. */
export class HostileHttp {
  behaviour: Behaviour = pass;
  /** How many requests have come. */
  requests = 0;
  /** Called with each request, before anything is done with it. */
  watch: (exchange: Exchange) => void = () => {};
  readonly #target: string;
  readonly #keys: KeyPair | undefined;
  readonly #agent = new Agent();
  #server: Server | SecureServer | undefined;
  #port = 0;

  private constructor(target: string, keys: KeyPair | undefined) {
    this.#target = target;
    this.#keys = keys;
  }

  /** @param target the base of the server's URLs. @param keys with them, the proxy speaks HTTPS, and the server does not. */
  static async before(target: string, keys?: KeyPair): Promise<HostileHttp> {
    const proxy = new HostileHttp(target, keys);
    await proxy.open();
    return proxy;
  }

  get url(): string {
    return `${this.#keys === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  /** Connections of now on get another certificate. */
  present(keys: KeyPair): void {
    (this.#server as SecureServer).setSecureContext({ ...keys });
  }

  /** Connections are refused until it opens again. */
  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
    await once(this.#server as Server, 'close');
    this.#server = undefined;
  }

  /** Listens at the same port as before. */
  async open(): Promise<void> {
    const take = (incoming: IncomingMessage, response: ServerResponse) => void this.#take(incoming, response);
    this.#server =
      this.#keys === undefined ? createServer(take) : createSecureServer({ ...this.#keys }, take);
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.close();
    await this.#agent.destroy();
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      this.requests++;
      const exchange = this.#exchange(incoming, Buffer.concat(chunks), response);
      this.watch(exchange);
      await this.behaviour(exchange);
    } catch {
      // The client has gone, or the server is not there: the client sees a reset connection.
      response.socket?.resetAndDestroy();
    }
  }

  #exchange(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Exchange {
    const { method = '', url: path = '', headers } = incoming;
    const ask = async () => {
      // The host stays: it may be a part of what is signed.
      const { connection, 'transfer-encoding': encoding, 'content-length': length, ...passed } = headers;
      const answered = await request(this.#target + path, {
        method: method as Dispatcher.HttpMethod,
        headers: passed,
        body: body.length === 0 ? null : body,
        dispatcher: this.#agent,
      });
      const bytes = Buffer.from(await answered.body.arrayBuffer());
      return { status: answered.statusCode, headers: answered.headers, body: bytes };
    };
    const passOn = async () => {
      const answered = await ask();
      const { connection, 'transfer-encoding': encoding, 'keep-alive': alive, ...passed } = answered.headers;
      response.writeHead(answered.status, passed).end(answered.body);
    };
    return { method, path, headers, body, response, ask, pass: passOn };
  }
}
