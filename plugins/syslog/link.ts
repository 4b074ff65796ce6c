import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import {
  asyncScheduler,
  finalize,
  fromEvent,
  merge,
  Observable,
  observeOn,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import { steadyClock } from '../../operators/internal.ts';
import { type FailedEvent, type PipelineRunContext, PluginError, safeReason } from '../../src/sdk/index.ts';
import { connectionOptions } from '../tls/client-tls.ts';
import type { ForwarderConfig } from './forwarder-settings.ts';
import { RELP_OFFERS, RelpFrames, relpFrame } from './relp-frames.ts';

type Context = PipelineRunContext<ForwarderConfig>;

/**
 * Milliseconds after which what was sent over TCP counts as delivered, unless the connection breaks before. Twice the time
 * that it took to connect if that is longer: an answer to what was sent takes a round trip.
 */
const SETTLE_MS = 20;
/** Milliseconds for the server to check the certificate of this client. Most say with a session ticket that they have. */
const CHECK_MS = 1000;
/** Milliseconds for the last bytes to leave when the run is over. */
const CLOSING_MS = 1000;
/** Answers of RELP are short. */
const MOST_ANSWER_BYTES = 65_536;
const LAST_NUMBER = 999_999_999;

/** Messages that were sent together. */
interface Call {
  /** A message is delivered, by its position. */
  delivered(index: number): void;
  refused(index: number): void;
  fail(error: PluginError): void;
}

/** The connection of a run: opened for the first call, and again for the next one if it was lost. */
export class SyslogLink {
  readonly #ctx: Context;
  readonly #calls = new Set<Call>();
  /** Messages that RELP has not acknowledged, by their numbers. */
  readonly #numbers = new Map<number, { readonly call: Call; readonly index: number }>();
  #socket: Socket | undefined;
  #isOpen = false;
  /** Told when the connection is open. */
  #waiting: (() => void)[] = [];
  #lastNumber = 0;
  readonly #clock = steadyClock();
  #settleMs = SETTLE_MS;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    ctx.beforeEnd?.(new Observable((subscriber) => this.#end(() => subscriber.complete())));
    ctx.ended.addEventListener('abort', () => this.#socket?.destroy(), { once: true });
  }

  /**
   * Sends messages. Completes when all are delivered: acknowledged by RELP, or handed to the system and not followed by the
   * end of the connection. Errors name the messages that RELP has not acknowledged.
   */
  send(messages: readonly string[]): Observable<never> {
    return new Observable<never>((subscriber) => {
      const { config, stats } = this.#ctx;
      const left = new Set(messages.keys());
      const refused = new Set<number>();
      const call: Call = {
        delivered: (index) => {
          left.delete(index);
          if (left.size === 0) end();
        },
        refused: (index) => {
          refused.add(index);
          call.delivered(index);
        },
        fail: (error) =>
          subscriber.error(left.size === messages.length ? error : partly(error, left, refused)),
      };
      const end = () => {
        if (refused.size === 0) subscriber.complete();
        else subscriber.error(partly(new PluginError(`${config.url.text} refused messages`), left, refused));
      };
      subscriber.add(() => this.#calls.delete(call));
      subscriber.add(
        timer(config.timeout * 1000).subscribe(() => {
          this.#lose(new PluginError(`${config.url.text} did not answer within ${config.timeout} s`));
        }),
      );
      const write = () => {
        if (subscriber.closed) return;
        const bytes = this.#framed(messages, call);
        this.#socket?.write(bytes, (error) => {
          if (error) return;
          stats.bytes(bytes.length);
          if (config.url.scheme === 'relp' || subscriber.closed) return;
          subscriber.add(
            timer(this.#settleMs).subscribe(() => {
              for (const index of messages.keys()) call.delivered(index);
            }),
          );
        });
      };
      // The end of a connection that was idle is noticed first: what is written after it would be lost.
      const start = () => {
        this.#calls.add(call);
        this.#whenOpen(write);
      };
      subscriber.add(timer(0).subscribe(start));
    }).pipe(finalize(() => this.#forget()));
  }

  #framed(messages: readonly string[], call: Call): Buffer {
    const { url, framing } = this.#ctx.config;
    const frame = (message: string, index: number): string => {
      if (url.scheme === 'relp') {
        this.#lastNumber = (this.#lastNumber % LAST_NUMBER) + 1;
        this.#numbers.set(this.#lastNumber, { call, index });
        return relpFrame(this.#lastNumber, 'syslog', message);
      }
      if (framing === 'newline') return `${message.replace(/[\r\n]+/g, ' ')}\n`;
      return `${Buffer.byteLength(message)} ${message}`;
    };
    return Buffer.from(messages.map(frame).join(''));
  }

  /** Numbers of calls that were given up get no answer that anybody waits for. */
  #forget(): void {
    for (const [number, { call }] of this.#numbers) if (!this.#calls.has(call)) this.#numbers.delete(number);
  }

  #whenOpen(then: () => void): void {
    if (this.#isOpen) then();
    else {
      this.#waiting.push(then);
      if (this.#socket === undefined) this.#connect();
    }
  }

  #connect(): void {
    const { url, tls } = this.#ctx.config;
    const where = { host: url.host, port: url.port };
    const startedAt = this.#clock();
    let socket: Socket;
    try {
      const options = {
        rejectUnauthorized: true,
        ...(tls && connectionOptions(tls)),
        ...(isIP(url.host) === 0 && { servername: url.host }),
      };
      const isSecure = url.scheme === 'tls' || tls !== undefined;
      socket = isSecure ? connectTls({ ...where, ...options }) : connect(where);
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        this.#settleMs = Math.max(SETTLE_MS, 2 * (this.#clock() - startedAt));
        this.#opened(socket);
      });
    } catch (cause) {
      this.#lose(new PluginError(`cannot connect to ${url.text}: ${safeReason(cause)}`, { cause }));
      return;
    }
    this.#socket = socket;
    this.#isOpen = false;
    const lost = (why: string, cause?: unknown) => {
      if (this.#socket !== socket) return;
      const what = this.#isOpen ? `the connection to ${url.text} is lost` : `cannot connect to ${url.text}`;
      this.#lose(new PluginError(`${what}: ${why}`, { cause }));
    };
    socket
      .setKeepAlive(true)
      .on('error', (cause) => lost(safeReason(cause), cause))
      .on('end', () => lost('the server closed it'))
      .on('close', () => lost('it was closed'));
    // A server of plain syslog sends nothing, but only what is read shows that it has closed the connection.
    if (url.scheme !== 'relp') socket.resume();
  }

  #opened(socket: Socket): void {
    if (this.#socket !== socket) return;
    const { url, tls } = this.#ctx.config;
    if (url.scheme !== 'relp') {
      // TLS 1.3 is open for this side before the server has checked the certificate, and would lose what is sent.
      // Node.js does not send what is written inside of the event `session`.
      const isChecked =
        tls?.cert === undefined || !(socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3');
      if (isChecked) this.#ready();
      else
        merge(fromEvent(socket, 'session'), timer(CHECK_MS))
          .pipe(take(1), observeOn(asyncScheduler), takeUntil(fromEvent(socket, 'close')))
          .subscribe(() => {
            if (this.#socket === socket) this.#ready();
          });
      return;
    }
    const frames = new RelpFrames(MOST_ANSWER_BYTES);
    this.#lastNumber = 1;
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk);
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
        if (frame.command === 'serverclose') socket.end();
        else if (frame.command === 'rsp') this.#answered(frame.number, frame.data?.toString('latin1') ?? '');
      }
      if (frames.malformed === undefined) return;
      this.#lose(
        new PluginError(`${this.#ctx.config.url.text} does not answer as RELP: ${frames.malformed}`),
      );
    });
    socket.write(relpFrame(1, 'open', RELP_OFFERS));
  }

  #answered(number: number, answer: string): void {
    const isOk = answer.startsWith('200');
    if (!this.#isOpen) {
      if (isOk) this.#ready();
      else this.#lose(new PluginError(`${this.#ctx.config.url.text} refuses the session of RELP`));
      return;
    }
    const sent = this.#numbers.get(number);
    this.#numbers.delete(number);
    if (isOk) sent?.call.delivered(sent.index);
    else sent?.call.refused(sent.index);
  }

  #ready(): void {
    this.#isOpen = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const then of waiting) then();
  }

  /** Ends the connection, and fails all calls: over TCP, nobody knows what of them has arrived. */
  #lose(error: PluginError): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    this.#waiting = [];
    this.#numbers.clear();
    socket?.destroy();
    for (const call of [...this.#calls]) call.fail(error);
  }

  /** Closes the connection when its last bytes have left. */
  #end(done: () => void): void {
    const socket = this.#socket;
    if (socket === undefined || socket.destroyed) {
      done();
      return;
    }
    this.#socket = undefined;
    const deadline = timer(CLOSING_MS).subscribe(() => socket.destroy());
    socket.once('close', () => {
      deadline.unsubscribe();
      done();
    });
    if (this.#ctx.config.url.scheme === 'relp')
      socket.write(relpFrame((this.#lastNumber % LAST_NUMBER) + 1, 'close'));
    socket.end();
  }
}

/** An error that names the messages that were not delivered. */
function partly(error: PluginError, left: ReadonlySet<number>, refused: ReadonlySet<number>): PluginError {
  const failedEvents: FailedEvent[] = [...left, ...refused].map((index) => ({ index }));
  return new PluginError(error.message, { cause: error, failedEvents });
}
