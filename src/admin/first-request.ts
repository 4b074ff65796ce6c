import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

const HEAD_END = '\r\n\r\n';

/**
 * What a server of HTTP gets in place of a connection: the head of the first request, and nothing that comes later. Node.js
 * would parse all that a client sends without waiting, and keep the answers in memory while the client does not read them.
 */
export class FirstRequest extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('error', () => {}).once('close', () => this.destroy());
  }

  /** Waits for the head, of so many bytes at most, and gives itself to the server. */
  passTo(server: Server, mostBytes: number): void {
    const socket = this.#socket;
    let head = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(HEAD_END);
      // One that is too long gets its answer from the server.
      if (end < 0 && head.length <= mostBytes) return;
      socket.off('data', read).pause();
      this.push(end < 0 ? head : head.subarray(0, end + HEAD_END.length));
      server.emit('connection', this);
    };
    socket.on('data', read);
  }

  /** Only a connection that is read shows that its client has gone. What comes is thrown away. */
  watchClient(): void {
    this.#socket.resume();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.destroySoon();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
