import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { fromEvent, interval, Observable } from 'rxjs';
import { Fifo, Pump, steadyClock } from '../../operators/internal.ts';
import {
  type ListenAddress,
  type Outcome,
  type PipelineRunContext,
  safeReason,
} from '../../src/sdk/index.ts';
import { BatchDemand } from '../lines/batch-demand.ts';
import { BATCH_LINES } from '../lines/collect-lines.ts';
import { Connections } from '../listen/connections.ts';
import { listenOn } from '../listen/listening.ts';
import { serverOptions, useCurrentCertificate } from '../listen/tls.ts';
import type { CollectorConfig } from './collector-settings.ts';
import { addressOf, closeSoon, SenderConnection } from './sender-connection.ts';
import { PlainSession, type ReadMessages, RelpSession } from './session.ts';

/** Messages of one sender. */
export interface Received {
  readonly messages: readonly string[];
  /** The address of the sender. */
  readonly source: string;
  readonly acknowledge?: ((outcome: Outcome) => void) | undefined;
}

/** What a listener reports, beside the messages. */
export interface ListenerReports {
  listening(address: ListenAddress): void;
  /** A connection was closed or refused; `why` quotes nothing of what came over it. */
  closed(source: string, why: string): void;
  /** A new certificate cannot be used. */
  certificate(why: string): void;
  /** A message was longer than the limit, and was skipped. */
  tooLong(source: string): void;
  /** So many connections are open. */
  connections(open: number): void;
}

type Context = PipelineRunContext<CollectorConfig>;

const SECOND = 1000;
const KEEP_ALIVE_MS = 60 * SECOND;
/** A sender over plain TCP loses a message when its connection is closed, so that one which sends now and then keeps it. */
const QUIET_MS = 60 * SECOND;
/** Bytes of incomplete messages in memory, over all connections. */
const MOST_MEMORY = 64 * 1024 * 1024;

/**
 * Listens for connections and emits the messages that come over them. While there is no room, it does not read, so that the
 * senders wait. Errors if it cannot listen. When the run is stopped, it emits what has come and has room, completes, and closes
 * the connections; those of RELP once the run is over, for their last acknowledgements.
 */
export function listenForStreams(ctx: Context, reports: ListenerReports): Observable<Received> {
  return new Observable((subscriber) => {
    const listener = new StreamListener(
      ctx,
      reports,
      (received) => subscriber.next(received),
      (error) => subscriber.error(error),
    );
    subscriber.add(() => listener.stop());
    const stopped$ = fromEvent(ctx.signal, 'abort');
    subscriber.add(
      stopped$.subscribe(() => {
        listener.takeLast();
        subscriber.complete();
      }),
    );
    listener.start();
  });
}

class StreamListener {
  readonly #ctx: Context;
  readonly #reports: ListenerReports;
  readonly #emit: (received: Received) => void;
  readonly #fail: (error: unknown) => void;
  readonly #demand: BatchDemand;
  readonly #server: Server;
  readonly #pump: Pump;
  readonly #clock = steadyClock();
  /** With the bytes of each that count to the total. */
  readonly #connections = new Map<SenderConnection, number>();
  /** All open connections, those in the TLS handshake included. */
  readonly #open: Connections;
  /** Those that have sent something new, and those that wait for room. */
  readonly #fresh = new Fifo<SenderConnection>();
  readonly #waiting = new Fifo<SenderConnection>();
  readonly #timers;
  #memory = 0;
  /** There is no more to wait for, so each bit of room counts. */
  #isLast = false;
  #isStopped = false;

  constructor(
    ctx: Context,
    reports: ListenerReports,
    emit: (received: Received) => void,
    fail: (error: unknown) => void,
  ) {
    this.#ctx = ctx;
    this.#reports = reports;
    this.#emit = emit;
    this.#fail = fail;
    this.#demand = new BatchDemand(ctx.demand, ctx.state, BATCH_LINES);
    this.#pump = new Pump(() => this.#step(), { closed: false, error: fail });
    const { tls, max_connections } = ctx.config;
    const options = { allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const connect = (socket: Socket) => this.#connect(socket);
    if (tls === undefined) this.#server = createServer(options, connect);
    else {
      const server = createTlsServer({ ...options, ...serverOptions(tls) }, connect);
      useCurrentCertificate(server, tls, (why) => reports.certificate(why));
      this.#server = server;
    }
    this.#open = new Connections({ most: max_connections, quietMs: QUIET_MS }, (socket, why) =>
      reports.closed(addressOf(socket), why),
    );
    this.#server.prependListener('connection', (socket) => this.#open.add(socket));
    this.#timers = this.#demand.room$.subscribe(() => this.#pump.run());
  }

  start(): void {
    this.#server.on('tlsClientError', (error: Error, socket: Socket) => {
      // Without it, the connection was closed for a limit.
      if (!this.#open.has(socket)) return;
      this.#reports.closed(addressOf(socket), `the TLS handshake failed: ${safeReason(error)}`);
    });
    listenOn(this.#server, this.#ctx.config.listen, {
      onListening: (address) => this.#reports.listening(address),
      onError: this.#fail,
    });
    this.#timers.add(interval(SECOND).subscribe(() => this.#closeSlow()));
  }

  /** Takes what has come, as far as the pipeline has room: senders over plain TCP have taken it for delivered. */
  takeLast(): void {
    this.#isLast = true;
    while (this.#step());
  }

  /** Acknowledgements of RELP may come until the run is over. */
  stop(): void {
    this.#isStopped = true;
    this.#timers.unsubscribe();
    this.#server.close();
    this.#open.closeNew();
    const { ended, config, stats } = this.#ctx;
    for (const { unread } of this.#connections.keys()) stats.lost(unread);
    if (config.listen.scheme !== 'relp') this.#destroyAll();
    else if (ended.aborted) this.#destroyAll();
    else {
      for (const { socket } of this.#connections.keys()) socket.pause();
      ended.addEventListener('abort', () => this.#destroyAll(), { once: true });
    }
  }

  #destroyAll(): void {
    for (const { socket } of this.#connections.keys()) closeSoon(socket);
  }

  #connect(socket: Socket): void {
    // A TLS handshake may end after a stop, when nothing is read any more.
    if (this.#isStopped) socket.destroy();
    if (socket.destroyed) return;
    const { config } = this.#ctx;
    const source = addressOf(socket);
    const reports = { tooLong: () => this.#reports.tooLong(source) };
    const send = (frames: string) => {
      if (socket.writable) socket.write(frames);
    };
    const session =
      config.listen.scheme === 'relp'
        ? new RelpSession(config.max_message_bytes, reports, send, () => closeSoon(socket))
        : new PlainSession(config.max_message_bytes, reports);
    const use = () => this.#open.use(socket);
    const connection = new SenderConnection({ socket, source, session, clock: this.#clock, use });
    this.#connections.set(connection, 0);
    this.#reports.connections(this.#connections.size);
    const read = () => {
      if (!connection.isWaiting) this.#fresh.push(connection);
      connection.isWaiting = true;
      this.#pump.run();
      if (connection.isWaiting) socket.pause();
    };
    socket
      .on('data', (chunk: Buffer) => {
        if (this.#isStopped) return;
        this.#ctx.stats.bytes(chunk.length);
        connection.push(chunk);
        this.#measure(connection);
        read();
      })
      .on('end', () => {
        connection.end();
        read();
      })
      // A connection that is reset is closed as well.
      .on('error', () => {})
      .on('close', () => {
        this.#memory -= this.#connections.get(connection) ?? 0;
        this.#connections.delete(connection);
        this.#reports.connections(this.#connections.size);
      });
  }

  /** Takes the messages of one connection after the other; false if there are none, or no room for them. */
  #step(): boolean {
    if (this.#isStopped) return false;
    const { room } = this.#isLast ? this.#ctx.demand : this.#demand;
    const connection = this.#fresh.shift() ?? (room > 0 ? this.#waiting.shift() : undefined);
    if (connection === undefined) return false;
    // Without room, commands of RELP are answered all the same.
    const most = Math.min(Math.max(room, 0), BATCH_LINES);
    if (connection.take(most, (read) => this.#emitMessages(connection, read))) {
      this.#waiting.push(connection);
      return true;
    }
    const { malformed } = connection;
    if (malformed !== undefined) this.#close(connection, malformed);
    this.#measure(connection);
    return true;
  }

  #emitMessages({ source }: SenderConnection, { messages, acknowledge }: ReadMessages): void {
    this.#demand.emitted(messages.length);
    this.#emit({
      messages,
      source,
      acknowledge: (outcome) => {
        acknowledge?.(outcome);
        this.#demand.acknowledged(messages.length);
      },
    });
  }

  /** Counts what the connection holds. If all hold too much, that which holds most is closed. */
  #measure(connection: SenderConnection): void {
    const counted = this.#connections.get(connection);
    // It is closed.
    if (counted === undefined) return;
    const { memory } = connection;
    this.#memory += memory - counted;
    this.#connections.set(connection, memory);
    if (this.#memory <= MOST_MEMORY) return;
    const [[largest]] = [...this.#connections].toSorted(([, a], [, b]) => b - a) as [
      [SenderConnection, number],
    ];
    this.#close(largest, 'incomplete messages take more than 64 MiB, and its own is the longest');
  }

  #close(connection: SenderConnection, why: string): void {
    if (connection.socket.destroyed) return;
    this.#reports.closed(connection.source, why);
    connection.socket.destroy();
  }

  #closeSlow(): void {
    const idleMs = (this.#ctx.config.idle_timeout ?? Number.POSITIVE_INFINITY) * SECOND;
    for (const connection of this.#connections.keys()) {
      const why = connection.delay(idleMs);
      if (why !== undefined) this.#close(connection, why);
    }
  }
}
