import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:tls';
import type { KeyPair } from './hostile-http.ts';

/** What a proxy does with the connections that it accepts. */
export type TcpBehaviour =
  | 'pass'
  /** Nothing that arrives is passed on in either direction. */
  | 'silence'
  /** What the client sends arrives, and no answer does. */
  | 'silence-afterwards'
  /** What the client sends arrives, and the connection is reset when the server answers. */
  | 'reset-in-answer';

/** A proxy in front of a TCP server, which behaves as badly as a test says. */
export class HostileTcp {
  readonly #target: number;
  readonly #keys: KeyPair | undefined;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #behaviour: TcpBehaviour = 'pass';
  #resets = 0;
  #port = 0;

  private constructor(target: number, keys: KeyPair | undefined) {
    this.#target = target;
    this.#keys = keys;
  }

  /** @param target the port of the server. @param keys with them, the proxy speaks TLS, and the server does not. */
  static async before(target: number, { keys, port = 0 }: { keys?: KeyPair; port?: number } = {}) {
    const proxy = new HostileTcp(target, keys);
    proxy.#port = port;
    await proxy.open();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Answers that were cut off. */
  get resets(): number {
    return this.#resets;
  }

  /** Holds for what comes from now on, also on open connections. */
  set behaviour(behaviour: TcpBehaviour) {
    this.#behaviour = behaviour;
  }

  present(keys: KeyPair): void {
    (this.#server as SecureServer).setSecureContext({ ...keys });
  }

  /** Connections are reset, and refused until it opens again. */
  async close(): Promise<void> {
    this.reset();
    this.#server?.close();
    await once(this.#server as Server, 'close');
    this.#server = undefined;
  }

  /** Resets the connections that are open. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async open(): Promise<void> {
    const take = (client: Socket) => this.#take(client);
    this.#server =
      this.#keys === undefined ? createServer(take) : createSecureServer({ ...this.#keys }, take);
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.close();
  }

  #take(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', end).on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => {
      if (this.#behaviour !== 'silence') server.write(data);
    });
    server.on('data', (data) => {
      if (this.#behaviour === 'pass') client.write(data);
      if (this.#behaviour !== 'reset-in-answer') return;
      this.#resets++;
      if (client.resetAndDestroy !== undefined) client.resetAndDestroy();
      end();
    });
  }
}
