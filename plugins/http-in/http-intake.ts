import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Observable, Subject, type Subscriber } from 'rxjs';
import { untilAborted } from '../../operators/index.ts';
import { BlockMemory } from '../../operators/internal-files.ts';
import { type EventBatch, type PipelineRunContext, safeReason } from '../../src/sdk/index.ts';
import { lineDemand } from '../lines/collect-lines.ts';
import { isAuthorised } from '../listen/auth.ts';
import { Connections } from '../listen/connections.ts';
import { addressText, listenOn, onceError } from '../listen/listening.ts';
import { serverOptions, useCurrentCertificate } from '../listen/tls.ts';
import { type Answer, type Endpoint, plainAnswer } from './endpoint.ts';
import { Intake } from './intake.ts';
import { isUnavailable, Refusal } from './refusal.ts';
import { RefusalLog } from './refusal-log.ts';
import { BodyBudget, BodyLease, readBody } from './request-body.ts';
import { sendAnswer, withRefusalHeaders } from './send-answer.ts';
import type { HttpListenerSettings } from './settings.ts';

/** Milliseconds: for the head of a request, however slowly it comes, and between two requests of a connection. */
const HEAD_MS = 10_000;
const IDLE_MS = 60_000;
/** Milliseconds: a client may send its next request over the same connection. */
const QUIET_MS = 1000;
/** How often Node.js looks for requests that are late. */
const CHECK_MS = 1000;
const MOST_HEAD_BYTES = 16_384;
const EXPECTS_CONTINUE = /100-continue/i;

type Context = PipelineRunContext<HttpListenerSettings & { readonly name: string }>;

/**
 * Listens for requests, and emits a batch for the events of each. A request is answered when its batch is acknowledged.
 * Errors if it cannot listen. With `ctx.signal` it completes: it takes no more requests, and answers those whose events are
 * in flight.
 */
export function collectHttp(
  ctx: Context,
  endpointOf: (path: string) => Endpoint | undefined,
): Observable<EventBatch> {
  return new Observable<EventBatch>((subscriber) => {
    if (ctx.once) {
      subscriber.error(onceError());
      return;
    }
    const server = new HttpIntake(ctx, endpointOf, subscriber);
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

  constructor(
    ctx: Context,
    endpointOf: (path: string) => Endpoint | undefined,
    subscriber: Subscriber<EventBatch>,
  ) {
    const { config, logger } = ctx;
    this.#ctx = ctx;
    this.#endpointOf = endpointOf;
    this.#refusals = new RefusalLog(ctx);
    this.#connections = new Connections({ most: config.max_connections, quietMs: QUIET_MS });
    this.#budget = new BodyBudget(config.max_open_bytes);
    const demand = lineDemand(ctx);
    this.#intake = new Intake({ demand, subscriber, timeoutMs: config.timeout * 1000 });
    const room = demand.room$.subscribe(() => this.#intake.run());
    ctx.signal.addEventListener('abort', () => room.unsubscribe(), { once: true });
    this.#server = this.#createServer();
    listenOn(this.#server, config.listen, {
      onListening: (address) =>
        logger.info(
          `${ctx.pipeline}: collector ${config.name} listens on ${config.tls ? 'https' : 'http'}://${addressText(address)}`,
          { port: address.port },
        ),
      onError: (error) => subscriber.error(error),
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
      requestTimeout,
      headersTimeout: Math.min(HEAD_MS, requestTimeout),
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: MOST_HEAD_BYTES,
      noDelay: true,
    };
    const server =
      tls === undefined
        ? createHttpServer(options)
        : createHttpsServer({ ...options, ...serverOptions(tls), handshakeTimeout: HEAD_MS });
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
    const answerTo = (result: number | Refusal) =>
      endpoint === undefined ? plainAnswer(result) : endpoint.answer(result, known);
    try {
      if (endpoint === undefined) throw new Refusal(404, 'nothing listens at this path');
      this.#admit(endpoint, request);
      if (EXPECTS_CONTINUE.test(request.headers.expect ?? '')) response.writeContinue();
      const body = await readBody(request, this.#ctx.config.max_body_bytes, lease);
      const reserve = (bytes: number, what: string) => lease.growBy(bytes, what);
      const isFull = this.#intake.isFull || this.#ctx.buffer?.isFull === true;
      const events = endpoint.read({ ...known, body, memory: this.#memory, isFull, reserve });
      reserve(events.memoryBytes, 'the events in memory are');
      this.#ctx.stats.bytes(body.length);
      const result = await this.#intake.offer(events, body.length);
      if (result instanceof Refusal) throw result;
      if (events.rejected !== undefined) this.#refusals.addRejected(events.rejected);
      this.#send(events.answer ?? answerTo(result), response);
    } catch (error) {
      // The client has left before its request was complete.
      if (!(error instanceof Refusal) && request.destroyed) return;
      const refusal = error instanceof Refusal ? error : this.#failure(error);
      const answer = withRefusalHeaders(answerTo(refusal), refusal, this.#ctx.config.auth);
      this.#refusals.add(refusal, answer.status);
      this.#send(answer, response);
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

  #send(answer: Answer, response: ServerResponse<IncomingMessage>): void {
    const { max_body_bytes: mostDiscarded } = this.#ctx.config;
    sendAnswer(response, answer, { isLast: this.#isStopping, mostDiscarded });
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
