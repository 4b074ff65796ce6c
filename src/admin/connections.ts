import type { Duplex } from 'node:stream';
import { Subscription } from 'rxjs';
import { longTimer } from '../../operators/index.ts';

/**
 * How a connection is used. An unknown client has sent no request yet, or none that shows that it may ask. A recording
 * takes as long as its client has asked for.
 */
type Use = 'unknown' | 'admitted' | 'recording';

const FIRST_TO_GO: readonly Use[] = ['unknown', 'admitted', 'recording'];

interface Connection {
  use: Use;
  deadline: Subscription;
}

interface ConnectionLimits {
  readonly most: number;
  readonly requestMs: number;
  readonly answerMs: number;
}

/**
 * The open connections of the admin server. There are at most `most`. In each, a request has so many milliseconds to arrive,
 * and its answer to be read, however slowly the client does that. A new connection takes the place of the oldest one of an
 * unknown client. So clients that hold connections open cannot keep a health check from its answer.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** The oldest first. */
  readonly #open = new Map<Duplex, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  add(stream: Duplex): void {
    const { most, requestMs } = this.#limits;
    if (this.#open.size >= most) this.#makeRoom();
    const connection: Connection = { use: 'unknown', deadline: deadline(stream, requestMs) };
    this.#open.set(stream, connection);
    stream.once('close', () => {
      connection.deadline.unsubscribe();
      this.#open.delete(stream);
    });
  }

  /** A request has arrived, and been admitted or not; or a recording starts, or is over. */
  setUse(stream: Duplex, use: Use): void {
    const connection = this.#open.get(stream);
    if (connection === undefined) return;
    connection.deadline.unsubscribe();
    connection.use = use;
    connection.deadline = use === 'recording' ? Subscription.EMPTY : deadline(stream, this.#limits.answerMs);
  }

  closeAll(): void {
    for (const stream of this.#open.keys()) stream.destroy();
  }

  #makeRoom(): void {
    for (const wanted of FIRST_TO_GO) {
      for (const [stream, { use }] of this.#open) {
        if (use !== wanted) continue;
        // Its `close` comes later.
        this.#open.delete(stream);
        stream.destroy();
        return;
      }
    }
  }
}

function deadline(stream: Duplex, ms: number): Subscription {
  return longTimer(ms).subscribe(() => stream.destroy());
}
