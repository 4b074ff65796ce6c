import type { Socket } from 'node:net';
import { steadyClock } from '../../operators/internal.ts';

/** Milliseconds: a client that has just connected may be about to send. */
const LEAST_IDLE_MS = 1000;

interface Connection {
  readonly socket: Socket;
  /** Requests that are not answered. */
  requests: number;
  /** When it was last seen to have no request. */
  idleSince: number;
}

/**
 * The open connections of a server, at most `most`. A new one takes the place of the oldest one that has had no request for
 * a second, so that clients which hold connections open keep nobody out; without such a one, it is closed.
 */
export class Connections {
  readonly #most: number;
  readonly #now = steadyClock();
  /** By the address of the client: TLS has two sockets for one connection. The oldest first. */
  readonly #open = new Map<string, Connection>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns whether there is room for it. */
  add(socket: Socket): boolean {
    if (this.#open.size >= this.#most && !this.#makeRoom()) {
      socket.destroy();
      return false;
    }
    const key = keyOf(socket);
    const connection = { socket, requests: 0, idleSince: this.#now() };
    this.#open.set(key, connection);
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    return true;
  }

  /** A request of a connection starts. Returns what to call when it is answered. */
  use(socket: Socket): () => void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return () => {};
    connection.requests++;
    return () => {
      connection.requests--;
      connection.idleSince = this.#now();
    };
  }

  closeIdle(): void {
    for (const { socket, requests } of this.#open.values()) if (requests === 0) socket.destroy();
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #makeRoom(): boolean {
    for (const [key, { socket, requests, idleSince }] of this.#open) {
      if (requests > 0 || this.#now() - idleSince < LEAST_IDLE_MS) continue;
      // Its `close` comes later.
      this.#open.delete(key);
      socket.destroy();
      return true;
    }
    return false;
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
