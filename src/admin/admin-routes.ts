import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline as pipeStreams } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import { isLoopback } from '../sdk/listen-address.ts';
import type { Secret } from '../sdk/secret.ts';
import type { PipelineHealth } from '../sdk/status.ts';
import type { AdminServerOptions } from './admin-server.ts';
import type { Connections } from './connections.ts';
import type { FirstRequest } from './first-request.ts';

/** Milliseconds: `for` of `/record`. */
const LONGEST_RECORDING = 600_000;
const NOT_FOUND = 'there are /metrics, /health/live, /health/ready, /record and POST /start';
/** Anywhere in an Accept-Encoding, unless its weight is 0. */
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly stream: FirstRequest;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parts are asked for when the client has taken the previous ones. */
  readonly body: string | AsyncGenerator<string>;
}

/** Answers requests for `/metrics`, `/health/live`, `/health/ready`, `/start` and `/record`. */
export function adminListener(options: AdminServerOptions, connections: Connections): RequestListener {
  return async (incoming, response) => {
    const request = readRequest(incoming);
    connections.setUse(request.stream, 'unknown');
    try {
      await send(await answerTo(request, options, connections), request, response);
    } catch (error) {
      // The client has gone.
      if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
      options.logger.error(`admin: a request failed: ${safeReason(error)}`);
      if (response.headersSent) response.destroy();
      else await send(problem(500, 'the request failed; the log says why'), request, response);
    }
  };
}

function readRequest({ method = '', url = '', headers, socket }: IncomingMessage): Request {
  // A request as for a proxy has the whole URL.
  const [path = '', query] = url.replace(/^https?:\/\/[^/?]*/i, '').split(/\?(.*)/s);
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    stream: socket as unknown as FirstRequest,
  };
}

async function send({ status, headers, body }: Answer, request: Request, response: ServerResponse) {
  const setHead = () => {
    response.statusCode = status;
    response.setHeaders(new Headers({ ...headers, Connection: 'close' }));
  };
  if (typeof body === 'string') {
    setHead();
    response.end(body);
    return;
  }
  // A failure before the first part can still be answered. After it, `pipeline` destroys the response.
  const first = await body.next();
  setHead();
  const parts = Readable.from(withFirst(first, body), { highWaterMark: 1 });
  response.setHeader('Vary', 'Accept-Encoding');
  if (!ACCEPTS_GZIP.test(String(request.headers['accept-encoding'] ?? ''))) {
    return pipeStreams(parts, response);
  }
  response.setHeader('Content-Encoding', 'gzip');
  return pipeStreams(parts, createGzip(), response);
}

async function* withFirst(first: IteratorResult<string>, rest: AsyncGenerator<string>) {
  if (first.done !== true) yield first.value;
  yield* rest;
}

async function answerTo(
  request: Request,
  options: AdminServerOptions,
  connections: Connections,
): Promise<Answer> {
  const { method, path, stream } = request;
  const isReading = method === 'GET' || method === 'HEAD';
  if (isReading && path === '/health/live') return json(200, { status: 'live' });
  // The probes of Kubernetes have no token.
  if (isReading && path === '/health/ready' && options.token && request.headers.authorization === undefined) {
    const isReady = isAllReady(options.health());
    return json(isReady ? 200 : 503, { status: statusText(isReady) });
  }
  const refused = refusal(request, options);
  if (refused !== undefined) return refused;
  connections.setUse(stream, 'admitted');
  if (path === '/start') return startPipeline(request, options);
  if (path === '/metrics') return metricsOf(request, options);
  if (path === '/health/ready') return readiness(options.health());
  if (path === '/record') return recording(request, options, connections);
  return problem(404, NOT_FOUND);
}

function metricsOf({ method }: Request, { metrics }: AdminServerOptions): Answer {
  const headers = { 'Content-Type': metrics.contentType };
  // A scrape resets the measurement of the event loop, so a HEAD request must not count as one.
  return { status: 200, headers, body: method === 'HEAD' ? '' : metrics.text() };
}

function readiness(pipelines: readonly PipelineHealth[]): Answer {
  const isReady = isAllReady(pipelines);
  const reasons =
    pipelines.length > 0
      ? pipelines.flatMap(({ pipeline, problems }) => problems.map((problem) => `${pipeline}: ${problem}`))
      : ['no pipeline has been started yet'];
  return json(isReady ? 200 : 503, {
    status: statusText(isReady),
    reasons,
    pipelines: pipelines.map(({ pipeline, state, isReady, problems }) => ({
      pipeline,
      state,
      ready: isReady,
      problems,
    })),
  });
}

function startPipeline({ method, query }: Request, { start }: AdminServerOptions): Answer {
  if (method !== 'POST') return problem(405, 'only POST is possible', { Allow: 'POST' });
  const name = query.get('pipeline');
  if (name === null) return problem(400, 'name a pipeline: /start?pipeline=NAME');
  try {
    const { pipeline, state } = start(name);
    return json(200, { pipeline, state });
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return problem(error.code === 'MILLRACE_PIPELINE_UNKNOWN' ? 404 : 409, error.message);
  }
}

function isAllReady(pipelines: readonly PipelineHealth[]): boolean {
  return pipelines.length > 0 && pipelines.every(({ isReady }) => isReady);
}

const statusText = (isReady: boolean) => (isReady ? 'ready' : 'not ready');

async function recording(
  { method, query, stream }: Request,
  { token, record }: AdminServerOptions,
  connections: Connections,
): Promise<Answer> {
  // Other users of this machine may see metrics, but not events.
  if (token === undefined) {
    const message = 'recordings show events, so they need a token: set `admin.token` or MILLRACE_ADMIN_TOKEN';
    return problem(403, message);
  }
  const duration = query.get('for') ?? '60s';
  const [, amount, unit] = /^(\d{1,6})(s|m)$/.exec(duration) ?? [];
  const forMs = Number(amount) * (unit === 'm' ? 60_000 : 1000);
  if (!(forMs > 0 && forMs <= LONGEST_RECORDING)) {
    return problem(400, '`for` is how long to record: 1s to 600s, or 1m to 10m');
  }
  if (method === 'HEAD') return problem(405, 'only GET is possible', { Allow: 'GET' });
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  stream.watchClient();
  connections.setUse(stream, 'recording');
  const pipeline = query.get('pipeline') ?? '';
  const answer = await record({ pipeline, forMs, forText: duration, signal: gone.signal });
  connections.setUse(stream, 'admitted');
  if (answer.status !== 200) return problem(answer.status, answer.error);
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/yaml; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    body: answer.text,
  };
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

function problem(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return json(status, { error }, { 'Cache-Control': 'no-store', ...headers });
}

/** The answer to a request that is refused; undefined if it is to be served. */
function refusal(
  { method, path, headers }: Request,
  { listen, token, hosts }: AdminServerOptions,
): Answer | undefined {
  const known = [...hosts, 'localhost', listen.host].map((host) => host.toLowerCase());
  const host = hostnameOf(`http://${headers.host ?? ''}`);
  if (host === undefined) return problem(400, 'the Host header is not valid');
  // DNS rebinding: a page of another site can make its own name resolve to this machine, and read the answers.
  if (isIP(host) === 0 && !known.includes(host)) {
    return problem(
      421,
      'the Host header names another host; use an IP address or localhost, or add the name to `admin.hosts`',
    );
  }
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${headers.host}`.toLowerCase()) {
    return problem(403, 'requests from pages of other sites are refused');
  }
  if (token === undefined ? !isLoopback(listen.host) : !isAuthorised(headers.authorization, token)) {
    return problem(401, 'send the token as `Authorization: Bearer …`', { 'WWW-Authenticate': 'Bearer' });
  }
  if (method !== 'GET' && method !== 'HEAD' && !(method === 'POST' && path === '/start')) {
    return problem(405, 'only GET is possible', { Allow: 'GET, HEAD' });
  }
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined) {
    return problem(413, 'requests have no body');
  }
  return undefined;
}

/** Without brackets; undefined if the URL is not valid. */
function hostnameOf(url: string): string | undefined {
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return hostname === '' ? undefined : hostname.replace(/^\[|\]$/g, '');
}

/** Takes the same time for every token. If the token cannot be read, no request is authorised. */
function isAuthorised(header: string | undefined, token: Secret): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (sent === undefined || token.problem() !== undefined) return false;
  return timingSafeEqual(digest(sent), digest(token.read()));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
