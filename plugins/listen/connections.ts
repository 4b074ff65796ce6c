import type { Socket } from 'node:net';
import { steadyClock } from '../../operators/internal.ts';

/** Milliseconds: a client that has just connected may be about to send. */
const LEAST_OPEN_MS = 1000;
/** Of all connections: so many that have sent nothing yet may push out those that have. */
const MOST_UNUSED_SHARE = 0.1;

interface Limits {
  readonly most: number;
  /** Milliseconds for which a connection that was in use is not in use any more, before it may make room. */
  readonly quietMs: number;
}

interface Connection {
  readonly socket: Socket;
  /** Whether anything ever came over it. */
  wasUsed: boolean;
  /** Requests that are not answered, or messages that are not acknowledged. */
  uses: number;
  /** When it was opened, or its last use ended. */
  quietSince: number;
}

/**
 * The open connections of a server, at most `most`, so that clients which hold connections open keep nobody out. A new one takes
 * the place of the oldest one over which nothing ever came, or else of the one that has been quiet longest. Connections that have
 * just been opened push out only some of those that were in use, so that a client which opens many does not push out all.
 */
export class Connections {
  readonly #limits: Limits;
  readonly #onClosed: (socket: Socket, why: string) => void;
  readonly #now = steadyClock();
  /** By the address of the client: TLS has two sockets for one connection. The oldest first. */
  readonly #open = new Map<string, Connection>();

  /** `onClosed` is called before a connection is closed or refused, because of a limit. */
  constructor(limits: Limits, onClosed: (socket: Socket, why: string) => void = () => {}) {
    this.#limits = limits;
    this.#onClosed = onClosed;
  }

  has(socket: Socket): boolean {
    return this.#open.has(keyOf(socket));
  }

  /** Returns whether there is room for it. */
  add(socket: Socket): boolean {
    if (this.#open.size >= this.#limits.most && !this.#makeRoom()) {
      this.#onClosed(socket, 'the limit `max_connections` is reached');
      socket.destroy();
      return false;
    }
    const key = keyOf(socket);
    const connection = { socket, wasUsed: false, uses: 0, quietSince: this.#now() };
    this.#open.set(key, connection);
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    return true;
  }

  /** A use of a connection starts. Returns what to call when it ends. */
  use(socket: Socket): () => void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return () => {};
    connection.wasUsed = true;
    connection.uses++;
    return () => {
      connection.uses--;
      connection.quietSince = this.#now();
    };
  }

  /** Closes the connections over which nothing ever came, such as those whose TLS handshake is not over. */
  closeNew(): void {
    for (const { socket, wasUsed } of this.#open.values()) if (!wasUsed) socket.destroy();
  }

  closeIdle(): void {
    for (const { socket, uses } of this.#open.values()) if (uses === 0) socket.destroy();
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #makeRoom(): boolean {
    const now = this.#now();
    const { most, quietMs } = this.#limits;
    let unused = 0;
    let quietest: [key: string, Connection] | undefined;
    for (const entry of this.#open) {
      const [key, { socket, wasUsed, uses, quietSince }] = entry;
      if (!wasUsed) {
        if (now - quietSince >= LEAST_OPEN_MS) {
          this.#close(key, socket, 'nothing came over it, and a new connection needed its place');
          return true;
        }
        unused++;
      } else if (uses === 0 && (quietest === undefined || quietSince < quietest[1].quietSince))
        quietest = entry;
    }
    if (quietest === undefined || unused >= most * MOST_UNUSED_SHARE) return false;
    const [key, { socket, quietSince }] = quietest;
    if (now - quietSince < quietMs) return false;
    this.#close(key, socket, 'it was quiet longest, and a new connection needed its place');
    return true;
  }

  #close(key: string, socket: Socket, why: string): void {
    this.#onClosed(socket, why);
    // Its `close` comes later.
    this.#open.delete(key);
    socket.destroy();
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
