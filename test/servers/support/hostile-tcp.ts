import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:tls';
import type { KeyPair } from './hostile-http.ts';

/** What a proxy does with an answer of the server, and with all that follows on the same connection. */
export type TcpFault =
  /** The connection is reset in place of it. */
  | 'reset'
  /** Neither it nor anything after it arrives, and the connection stays open. */
  | 'silence';

/** A proxy in front of a TCP server, which behaves as badly as a test says. */
export class HostileTcp {
  /** Called with each answer of the server: how many there were before it, on all connections. */
  fault: (answer: number) => TcpFault | undefined = () => undefined;
  /** Called with all that the client sends. */
  watch: (data: Buffer) => void = () => {};
  #answers = 0;
  readonly #target: number;
  readonly #keys: KeyPair | undefined;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
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
      this.watch(data);
      server.write(data);
    });
    let isSilent = false;
    server.on('data', (data) => {
      const fault = isSilent ? 'silence' : this.fault(this.#answers++);
      isSilent = fault === 'silence';
      if (fault === undefined) client.write(data);
      else if (fault === 'reset') end();
    });
  }
}
