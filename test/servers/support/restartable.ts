import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server } from './start-server.ts';

/** A server of a test that can be stopped or killed, and started again with the same port and the same data. */
export class Restartable {
  readonly #start: () => Promise<Server>;
  #server: Server;

  private constructor(start: () => Promise<Server>, server: Server) {
    this.#start = start;
    this.#server = server;
  }

  static async start(start: () => Promise<Server>): Promise<Restartable> {
    return new Restartable(start, await start());
  }

  /** What it has written since it was started last. */
  output(): string {
    return this.#server.output();
  }

  /** The process that runs now, or ran last. */
  get pid(): number {
    return this.#server.child.pid as number;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  kill(): Promise<void> {
    return this.#server.stop('SIGKILL');
  }

  /** Starts it again, and stops it before if it still runs. */
  async restart(): Promise<void> {
    await this.stop();
    this.#server = await this.#start();
  }
}

/** Whether a URL answers with a status below 300. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Whether something accepts connections at a port of the loopback interface. */
export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
