import type { Socket } from 'node:net';
import { timer } from 'rxjs';
import type { ReadMessages, Session } from './session.ts';

const SECOND = 1000;
/** For a message that has started to be complete. */
const MESSAGE_MS = 60 * SECOND;
/** For the last acknowledgements to be sent. */
const CLOSING_MS = SECOND;

interface ConnectionOptions {
  readonly socket: Socket;
  /** The address of the sender. */
  readonly source: string;
  readonly session: Session;
  readonly clock: () => number;
  /** Called when something comes: returns what to call when nothing is left to read or to acknowledge. */
  readonly use: () => () => void;
}

/** The connection of a sender: what has come over it, and how long that takes. */
export class SenderConnection {
  readonly socket: Socket;
  readonly source: string;
  readonly #session: Session;
  readonly #clock: () => number;
  readonly #use: () => () => void;
  /** Whether it may have messages that are not taken. */
  isWaiting = false;
  #hasEnded = false;
  /** When bytes came last, and when the message started that is not complete. */
  #activeAt: number;
  #startedAt: number | undefined;
  /** Messages that were taken and are not acknowledged, in batches. */
  #unacknowledged = 0;
  #endUse: (() => void) | undefined;

  constructor({ socket, source, session, clock, use }: ConnectionOptions) {
    this.socket = socket;
    this.source = source;
    this.#session = session;
    this.#clock = clock;
    this.#use = use;
    this.#activeAt = clock();
  }

  /** Bytes in memory. */
  get memory(): number {
    return this.#session.memory;
  }

  /** Bytes that came and will not be taken, if nothing more is. */
  get unread(): number {
    return this.#session.unread;
  }

  /** Why nothing more can be read. */
  get malformed(): string | undefined {
    return this.#session.malformed;
  }

  push(chunk: Buffer): void {
    this.#activeAt = this.#clock();
    this.#endUse ??= this.#use();
    this.#session.push(chunk);
  }

  /** The other side has sent its last byte. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Takes messages, `most` at most, and reads on once there are no more. Returns whether there may be more. */
  take(most: number, emit: (messages: ReadMessages) => void): boolean {
    const read = this.#session.take(most);
    this.#emit(read, emit);
    if (read.messages.length === most && this.malformed === undefined) return true;
    this.isWaiting = false;
    if (this.#hasEnded && this.malformed === undefined)
      this.#emit(
        this.#session.end(() => closeSoon(this.socket)),
        emit,
      );
    else if (this.socket.isPaused()) this.socket.resume();
    if (!this.#session.isInsideMessage) this.#startedAt = undefined;
    else if (read.messages.length > 0 || this.#startedAt === undefined) this.#startedAt = this.#clock();
    this.#endIfUnused();
    return false;
  }

  /** Why the connection is to be closed, if its sender takes too long. */
  delay(idleMs: number): string | undefined {
    const now = this.#clock();
    if (this.isWaiting) {
      // It is not read, so its sender cannot do anything.
      this.#activeAt = now;
      if (this.#startedAt !== undefined) this.#startedAt = now;
    } else if (now - (this.#startedAt ?? now) >= MESSAGE_MS) {
      return `a message was not complete after ${MESSAGE_MS / SECOND} s`;
    } else if (now - this.#activeAt >= idleMs) return 'it was idle for `idle_timeout`';
    return undefined;
  }

  #emit({ messages, acknowledge }: ReadMessages, emit: (messages: ReadMessages) => void): void {
    if (messages.length === 0) return;
    this.#unacknowledged++;
    emit({
      messages,
      acknowledge: (outcome) => {
        acknowledge?.(outcome);
        this.#unacknowledged--;
        this.#endIfUnused();
      },
    });
  }

  #endIfUnused(): void {
    if (this.isWaiting || this.#unacknowledged > 0) return;
    this.#endUse?.();
    this.#endUse = undefined;
  }
}

/** Sends what is left to send, for a moment, and closes the connection. */
export function closeSoon(socket: Socket): void {
  const deadline = timer(CLOSING_MS).subscribe(() => socket.destroy());
  socket.once('close', () => deadline.unsubscribe()).destroySoon();
}

/** The address of the other side; an IPv4 address as such, also of a server that listens to both. */
export function addressOf({ remoteAddress = 'unknown' }: Socket): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
}
