import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import {
  connect as connectTls,
  createServer as createSecureServer,
  type Server as SecureServer,
  TLSSocket,
} from 'node:tls';
import type { KeyPair } from './hostile-http.ts';

/** What a proxy does with what one side sends, and with all that follows on the same connection. */
export type TcpFault =
  /** The connection is reset in place of it. */
  | 'reset'
  /** For so many milliseconds, nothing more is read of that side. Then it is passed on, or the connection is reset. */
  | { readonly silentFor: number; readonly isResetAfterwards?: boolean };

/** Neither what was sent nor anything after it ever arrives. */
export const SILENCE: TcpFault = { silentFor: Number.POSITIVE_INFINITY };

export interface HostileTcpOptions {
  /** With them, it speaks TLS to clients. */
  readonly keys?: KeyPair | undefined;
  /** The authority, as PEM, of the certificates that clients need. Default: they need none. */
  readonly clientCa?: string | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Whether it speaks TLS to the server. Default: false. */
  readonly isServerSecure?: boolean | undefined;
  /** What faults happen to: what the server sends, or what clients send. Default: `server`. */
  readonly faultsOf?: 'server' | 'client';
}

/** A proxy in front of a TCP server, which behaves as badly as a test says. */
export class HostileTcp {
  /** Called with each piece that the faulty side sends: how many there were before it, on all connections. */
  fault: (piece: number) => TcpFault | undefined = () => undefined;
  /** Called with all that the client sends. */
  watch: (data: Buffer) => void = () => {};
  #pieces = 0;
  readonly #target: number;
  readonly #options: HostileTcpOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  private constructor(target: number, options: HostileTcpOptions) {
    this.#target = target;
    this.#options = options;
    this.#port = options.port ?? 0;
  }

  /** @param target the port of the server. */
  static async before(target: number, options: HostileTcpOptions = {}): Promise<HostileTcp> {
    const proxy = new HostileTcp(target, options);
    await proxy.open();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  present(keys: KeyPair): void {
    (this.#server as SecureServer).setSecureContext({ ...keys, ca: this.#options.clientCa });
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

  /** Waits until all connections have ended, and what came over them is passed on. */
  async drained(): Promise<void> {
    while (this.#sockets.size > 0)
      await Promise.all([...this.#sockets].map((socket) => once(socket, 'close')));
  }

  async open(): Promise<void> {
    const take = (client: Socket) => this.#take(client);
    const { keys, clientCa: ca } = this.#options;
    const clients = ca === undefined ? {} : { ca, requestCert: true };
    this.#server =
      keys === undefined ? createServer(take) : createSecureServer({ ...keys, ...clients }, take);
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.close();
  }

  #take(client: Socket): void {
    const { isServerSecure = false, faultsOf = 'server' } = this.#options;
    const where = { port: this.#target, host: '127.0.0.1' };
    const server = isServerSecure ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
    const reset = () => {
      if (client instanceof TLSSocket) client.destroy();
      else client.resetAndDestroy();
      server.destroy();
    };
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket
        .on('error', () => other.destroy())
        .on('close', () => {
          this.#sockets.delete(socket);
          // What came before the end is passed on.
          other.destroySoon();
        });
    }
    client.on('data', (data) => this.watch(data));
    const passOn = (from: Socket, to: Socket, isFaulty: boolean) => {
      from.on('data', (data) => {
        const fault = isFaulty ? this.fault(this.#pieces++) : undefined;
        if (fault === 'reset') reset();
        else if (fault === undefined) to.write(data);
        else {
          from.pause();
          if (!Number.isFinite(fault.silentFor)) return;
          setTimeout(() => {
            if (fault.isResetAfterwards) return reset();
            to.write(data);
            from.resume();
          }, fault.silentFor);
        }
      });
    };
    passOn(client, server, faultsOf === 'client');
    passOn(server, client, faultsOf === 'server');
  }
}
