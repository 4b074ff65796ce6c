import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach } from '@jest/globals';
import { of, Subject } from 'rxjs';
import type {
  CollectPlugin,
  EventBatch,
  Logger,
  Outcome,
  PipelineRunContext,
} from '../../../src/sdk/index.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';

const running: Collector[] = [];
afterEach(() => {
  for (const collector of running.splice(0)) collector.close();
});

interface Options {
  /** Room of the window. Default: without limit. */
  readonly room?: number;
  /** How batches are acknowledged as they come. Undefined: not before the test does it. */
  readonly outcome?: Outcome | undefined;
  readonly once?: boolean;
}

/** A collector that listens, with a window and acknowledgements as a test says. */
export class Collector {
  readonly batches: EventBatch[] = [];
  readonly logs: string[] = [];
  error: unknown;
  isComplete = false;
  port = 0;
  room: number;
  readonly #room$ = new Subject<number>();
  readonly #signal = new AbortController();
  readonly #ended = new AbortController();
  readonly #options: Options;

  private constructor(options: Options) {
    this.#options = options;
    this.room = options.room ?? Number.POSITIVE_INFINITY;
  }

  /** Starts it on a free port. */
  static async start(
    plugin: CollectPlugin,
    entry: Record<string, unknown>,
    options: Options = {},
  ): Promise<Collector> {
    const collector = new Collector({ outcome: 'forwarded', ...options });
    running.push(collector);
    collector.#run(plugin, entry);
    await eventually(() => collector.port > 0 || collector.error !== undefined);
    return collector;
  }

  #run(plugin: CollectPlugin, entry: Record<string, unknown>): void {
    const parsed = plugin.get_config_schema().safeParse({ listen: 0, ...entry });
    if (!parsed.success) throw new Error(JSON.stringify(parsed.error));
    const log = (message: string, fields?: Record<string, unknown>) => {
      this.logs.push(message);
      if (typeof fields?.port === 'number') this.port = fields.port;
    };
    const logger: Logger = { error: log, warn: log, info: log, debug: log };
    const self = this;
    const demand = {
      get room() {
        return self.room;
      },
      room$: this.room === Number.POSITIVE_INFINITY ? of(this.room) : this.#room$,
    };
    const ctx = testContext(
      parsed.data as { plugin: string },
      {
        ...{ logger, demand, once: this.#options.once ?? false },
        ...{ signal: this.#signal.signal, ended: this.#ended.signal },
      } as Partial<PipelineRunContext>,
    );
    const collected = plugin.collect({ ctx: ctx as never }) as import('rxjs').Observable<EventBatch>;
    collected.subscribe({
      next: (batch) => {
        this.batches.push(batch);
        if (this.#options.outcome !== undefined) batch.acknowledge?.(this.#options.outcome);
      },
      error: (error) => {
        this.error = error;
      },
      complete: () => {
        this.isComplete = true;
      },
    });
  }

  /** Data of all events that came. */
  get data(): unknown[] {
    return this.batches.flatMap(({ events }) => events.map(({ data }) => data));
  }

  /** Acknowledges whatever comes until the request is answered. */
  async acknowledgeUntil(answer: Promise<Response>): Promise<Response> {
    let isAnswered = false;
    void answer.finally(() => {
      isAnswered = true;
    });
    await eventually(() => {
      for (const batch of this.batches.splice(0)) batch.acknowledge?.('forwarded');
      return isAnswered;
    });
    return answer;
  }

  makeRoom(room: number): void {
    this.room = room;
    this.#room$.next(room);
  }

  stop(): void {
    this.#signal.abort();
  }

  end(): void {
    this.#ended.abort();
  }

  close(): void {
    this.stop();
    this.end();
  }

  post(body: string | Uint8Array, headers: Record<string, string> = {}, path = '/'): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, { method: 'POST', body: body as string, headers });
  }

  /** A connection of raw bytes; `received` is what the server has sent, `ended` whether it has closed it. */
  async raw(text: string): Promise<Socket & { received: string; isClosed: boolean }> {
    const socket = Object.assign(connect(this.port, '127.0.0.1'), { received: '', isClosed: false });
    socket
      .on('data', (chunk) => {
        socket.received += chunk;
      })
      .on('error', () => {})
      .on('close', () => {
        socket.isClosed = true;
      });
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(text);
    return socket;
  }
}

export type { AddressInfo };
