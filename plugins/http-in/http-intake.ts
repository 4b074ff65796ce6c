import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Observable, Subject } from 'rxjs';
import { untilAborted } from '../../operators/index.ts';
import { BlockMemory } from '../../operators/internal-files.ts';
import { type EventBatch, type PipelineRunContext, PluginError, safeReason } from '../../src/sdk/index.ts';
import { lineDemand } from '../lines/collect-lines.ts';
import { type AuthSchemes, challenges, isAuthorised } from '../listen/auth.ts';
import { addressText, listenOn } from '../listen/listening.ts';
import { serverOptions, useCurrentCertificate } from '../listen/tls.ts';
import { Connections } from './connections.ts';
import { type EventParts, Intake } from './intake.ts';
import { isUnavailable, Refusal } from './refusal.ts';
import { BodyBudget, BodyLease, readBody } from './request-body.ts';
import type { HttpListenerSettings } from './settings.ts';

/** Milliseconds: for the head of a request, however slowly it comes, and between two requests of a connection. */
const HEAD_MS = 10_000;
const IDLE_MS = 60_000;
/** How often Node.js looks for requests that are late. */
const CHECK_MS = 1000;
const MOST_HEAD_BYTES = 16_384;

/** A request whose body has arrived. */
export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** Without its compression. */
  readonly body: Buffer;
  /** For lines. */
  readonly memory: BlockMemory;
  /**
   * Counts bytes that the events take beside the body. `what` starts the message that says that they are too many.
   *
   * @throws Refusal if the open requests have no room for so many
   */
  reserve(bytes: number, what: string): void;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface RequestEvents extends EventParts {
  /** What the client is told in place of the usual answer, once the events are acknowledged. */
  readonly answer?: Answer;
}

/** What a path of the server does. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** How its clients may send the credentials; undefined: it needs none. */
  readonly auth: AuthSchemes | undefined;
  /** @throws Refusal for what is not in the format; it names the place, and quotes nothing */
  read(request: ReceivedRequest): RequestEvents;
  /** What the client is told of a request whose events are acknowledged, or which is refused. */
  answer(result: number | Refusal, request: Pick<ReceivedRequest, 'headers' | 'query'>): Answer;
}

type Context = PipelineRunContext<HttpListenerSettings & { readonly name: string }>;

interface ServerEvents {
  emit(batch: EventBatch): void;
  fail(error: unknown): void;
  readonly closed: boolean;
}

/**
 * Listens for requests, and emits a batch or more for the events of each. A request is answered when all of its events are
 * acknowledged. Errors if it cannot listen. With `ctx.signal` it completes: it takes no more requests, and answers those
 * whose events are in flight.
 */
export function collectHttp(
  ctx: Context,
  endpointOf: (path: string) => Endpoint | undefined,
): Observable<EventBatch> {
  return new Observable<EventBatch>((subscriber) => {
    if (ctx.once) {
      const message = 'it never ends, so it cannot be used with --once';
      subscriber.error(Object.assign(new PluginError(message, { permanent: true }), { fatal: true }));
      return;
    }
    const server = new HttpIntake(ctx, endpointOf, {
      emit: (batch) => subscriber.next(batch),
      fail: (error) => subscriber.error(error),
      get closed() {
        return subscriber.closed;
      },
    });
    subscriber.add(() => server.stop());
  }).pipe(untilAborted(ctx.signal));
}

class HttpIntake {
  readonly #ctx: Context;
  readonly #endpointOf: (path: string) => Endpoint | undefined;
  readonly #server: Server;
  readonly #intake: Intake;
  readonly #connections: Connections;
  readonly #budget: BodyBudget;
  readonly #memory = new BlockMemory();
  readonly #refusals: RefusalLog;
  readonly #answered$ = new Subject<void>();
  #openRequests = 0;
  #isStopping = false;

  constructor(ctx: Context, endpointOf: (path: string) => Endpoint | undefined, events: ServerEvents) {
    const { config, logger } = ctx;
    this.#ctx = ctx;
    this.#endpointOf = endpointOf;
    this.#refusals = new RefusalLog(ctx);
    this.#connections = new Connections(config.max_connections);
    this.#budget = new BodyBudget(config.max_open_bytes);
    const demand = lineDemand(ctx);
    this.#intake = new Intake({
      ...{ demand, emit: events.emit, timeoutMs: config.timeout * 1000 },
      owner: {
        get closed() {
          return events.closed;
        },
        error: events.fail,
      },
    });
    const room = demand.room$.subscribe(() => this.#intake.run());
    ctx.signal.addEventListener('abort', () => room.unsubscribe(), { once: true });
    this.#server = this.#createServer();
    listenOn(this.#server, config.listen, {
      onListening: (address) =>
        logger.info(
          `${ctx.pipeline}: collector ${config.name} listens on ${config.tls ? 'https' : 'http'}://${addressText(address)}`,
          { port: address.port },
        ),
      onError: events.fail,
    });
    ctx.beforeEnd?.(new Observable((subscriber) => this.#whenAnswered(() => subscriber.complete())));
    const end = () => this.#end();
    if (ctx.ended.aborted) end();
    else ctx.ended.addEventListener('abort', end, { once: true });
  }

  /** Takes no more requests. */
  stop(): void {
    this.#isStopping = true;
    this.#server.close();
    this.#intake.stop();
    this.#connections.closeIdle();
  }

  /** Nothing is acknowledged any more. */
  #end(): void {
    this.#intake.end();
    this.#whenAnswered(() => this.#connections.closeAll());
  }

  #createServer(): Server {
    const { tls, timeout, name } = this.#ctx.config;
    const requestTimeout = timeout * 1000;
    const options: ServerOptions = {
      ...{ headersTimeout: Math.min(HEAD_MS, requestTimeout), requestTimeout, keepAliveTimeout: IDLE_MS },
      ...{ connectionsCheckingInterval: CHECK_MS, maxHeaderSize: MOST_HEAD_BYTES, noDelay: true },
    };
    const server =
      tls === undefined
        ? createHttpServer(options)
        : createHttpsServer({ ...options, ...serverOptions(tls) });
    if (tls !== undefined) {
      useCurrentCertificate(server as ReturnType<typeof createHttpsServer>, tls, (problem) =>
        this.#ctx.logger.error(
          `${this.#ctx.pipeline}: collector ${name}: ${problem}; the previous certificate is still used`,
        ),
      );
    }
    server.prependListener('connection', (socket) => this.#connections.add(socket));
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      void this.#take(request, response);
    // Only once the request may send its body, it is told to.
    return server.on('request', listener).on('checkContinue', listener);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#openRequests++;
    const release = this.#connections.use(request.socket);
    response.once('close', () => {
      release();
      this.#openRequests--;
      if (this.#openRequests === 0) this.#answered$.next();
    });
    // A client that leaves is no error: its events stay.
    request.on('error', () => {});
    const lease = new BodyLease(this.#budget);
    const [path = '', query] = (request.url ?? '').replace(/^https?:\/\/[^/?]*/i, '').split(/\?(.*)/s);
    const endpoint = this.#endpointOf(path);
    const known = { headers: request.headers, query: new URLSearchParams(query) };
    const answerTo = (result: number | Refusal) => (endpoint ?? NOT_FOUND).answer(result, known);
    try {
      if (endpoint === undefined) throw new Refusal(404, 'nothing listens at this path');
      this.#admit(endpoint, request);
      if (EXPECTS_CONTINUE.test(request.headers.expect ?? '')) response.writeContinue();
      const body = await readBody(request, this.#ctx.config.max_body_bytes, lease);
      const reserve = (bytes: number, what: string) => lease.growBy(bytes, what);
      const events = endpoint.read({ ...known, body, memory: this.#memory, reserve });
      reserve(events.memoryBytes, 'the events in memory are');
      this.#ctx.stats.bytes(body.length);
      const result = await this.#intake.offer(events, body.length);
      if (result instanceof Refusal) throw result;
      this.#send(events.answer ?? answerTo(result), request, response);
    } catch (error) {
      // The client has left before its request was complete.
      if (!(error instanceof Refusal) && request.destroyed) return;
      const refusal = error instanceof Refusal ? error : this.#failure(error);
      this.#refusals.add(refusal);
      const told = answerTo(refusal);
      const { retryAfter } = refusal;
      const headers = {
        ...told.headers,
        ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
        ...(told.status === 401 ? { 'www-authenticate': challenges(this.#ctx.config.auth) } : {}),
      };
      this.#send({ ...told, headers }, request, response);
    } finally {
      lease.giveBack();
    }
  }

  /** Before the body is read. */
  #admit({ auth: schemes, method }: Endpoint, request: IncomingMessage): void {
    const { auth } = this.#ctx.config;
    if (auth !== undefined && schemes !== undefined) {
      const { authorization } = request.headers;
      if (authorization === undefined) throw new Refusal(401, 'send credentials as `Authorization`');
      if (!isAuthorised(auth, authorization, schemes)) throw new Refusal(401, 'invalid credentials');
    }
    if (request.method !== method) throw new Refusal(405, `send ${method}`);
    if (this.#isStopping) throw isUnavailable('the pipeline stops; repeat the request');
  }

  #failure(error: unknown): Refusal {
    const { logger, pipeline, config } = this.#ctx;
    logger.error(`${pipeline}: collector ${config.name}: a request failed: ${safeReason(error)}`);
    return new Refusal(500, 'the request failed; the log of the server says why');
  }

  #send({ status, headers = {}, body }: Answer, request: IncomingMessage, response: ServerResponse): void {
    if (response.destroyed) return;
    response.writeHead(status, {
      ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      ...(this.#isStopping ? { connection: 'close' } : {}),
    });
    response.end(body);
    if (!request.complete) this.#discardRest(request);
  }

  /** What follows a refusal is read and thrown away: if it were not read, many clients would not see the answer. */
  #discardRest(request: IncomingMessage): void {
    let left = this.#ctx.config.max_body_bytes;
    request.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left < 0) request.socket.destroy();
    });
    request.resume();
  }

  #whenAnswered(then: () => void): void {
    if (this.#openRequests === 0) then();
    else {
      const subscription = this.#answered$.subscribe(() => {
        subscription.unsubscribe();
        then();
      });
    }
  }
}

const json = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** How an endpoint answers that has no protocol of its own. */
export function plainAnswer(result: number | Refusal): Answer {
  return result instanceof Refusal
    ? { status: result.status, body: json({ error: result.message }) }
    : { status: 200, body: json({ events: result }) };
}

const EXPECTS_CONTINUE = /100-continue/i;

const NOT_FOUND: Pick<Endpoint, 'answer'> = { answer: plainAnswer };

const isPowerOfTen = (count: number) => /^10*$/.test(String(count));

/** Counts refused requests, and logs them ever more rarely: a client with a wrong token repeats it for ever. */
class RefusalLog {
  readonly #ctx: Context;
  readonly #refused;
  readonly #counts = new Map<number, number>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#refused = ctx.metrics.counter({
      name: 'requests_refused_total',
      help: 'Requests that were refused, by the status of the answer.',
      labels: ['status'],
    });
  }

  add({ status, message }: Refusal): void {
    this.#refused.inc(1, { status: String(status) });
    const count = (this.#counts.get(status) ?? 0) + 1;
    this.#counts.set(status, count);
    if (count > 3 && !isPowerOfTen(count)) return;
    const { logger, pipeline, config } = this.#ctx;
    logger.warn(
      `${pipeline}: collector ${config.name} refused a request with ${status}: ${message} (requests with ${status} so far: ${count})`,
      { status },
    );
  }
}
