import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import { isLoopback } from '../sdk/listen-address.ts';
import type { Secret } from '../sdk/secret.ts';
import type { PipelineHealth } from '../sdk/status.ts';
import type { AdminServerOptions } from './admin-server.ts';
import type { Connections } from './connections.ts';
import type { RequestStream } from './request-stream.ts';

/** Milliseconds: `for` of `/record`. */
const LONGEST_RECORDING = 600_000;

/** Answers requests for `/metrics`, `/health/live`, `/health/ready`, `/start` and `/record`. */
export function adminListener(options: AdminServerOptions, connections: Connections): RequestListener {
  return getRequestListener(routes(options, connections).fetch, { overrideGlobalObjects: false });
}

function routes(options: AdminServerOptions, connections: Connections): Hono {
  const { metrics, health, start, logger } = options;
  const app = new Hono();
  app.use(async (request, next) => {
    connections.setUse(streamOf(request), 'unknown');
    return next();
  });
  app.get('/health/live', (request) => request.json({ status: 'live' }));
  app.get('/health/ready', async (request, next) => {
    // The probes of Kubernetes have no token.
    if (options.token === undefined || request.req.header('authorization') !== undefined) return next();
    const isReady = isAllReady(health());
    return request.json({ status: statusText(isReady) }, isReady ? 200 : 503);
  });
  app.use(async (request, next) => {
    const refused = refusal(request, options);
    if (refused !== undefined) return refused;
    connections.setUse(streamOf(request), 'admitted');
    return next();
  });
  app.use('/metrics', compress());
  app.get('/metrics', (request) => {
    // A scrape starts the measurement of the event loop anew, so a HEAD must not be one.
    const body = request.req.method === 'HEAD' ? '' : inBytes(metrics.text());
    return request.body(body, 200, { 'Content-Type': metrics.contentType });
  });
  app.get('/health/ready', (request) => {
    const pipelines = health();
    const isReady = isAllReady(pipelines);
    const reasons =
      pipelines.length > 0
        ? pipelines.flatMap(({ pipeline, problems }) => problems.map((problem) => `${pipeline}: ${problem}`))
        : ['no pipeline has been started yet'];
    const body = {
      status: statusText(isReady),
      reasons,
      pipelines: pipelines.map(({ pipeline, state, isReady, problems }) => ({
        pipeline,
        state,
        ready: isReady,
        problems,
      })),
    };
    return request.json(body, isReady ? 200 : 503);
  });
  app.post('/start', (request) => {
    const name = request.req.query('pipeline');
    if (name === undefined) return problem(request, 400, 'name a pipeline: /start?pipeline=NAME');
    try {
      const { pipeline, state } = start(name);
      return request.json({ pipeline, state });
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      return problem(request, error.code === 'MILLRACE_PIPELINE_UNKNOWN' ? 404 : 409, error.message);
    }
  });
  app.get('/start', (request) => problem(request, 405, 'only POST is possible', { Allow: 'POST' }));
  app.get('/record', (request) => recording(request, options, connections));
  app.notFound((request) =>
    problem(request, 404, 'there are /metrics, /health/live, /health/ready, /record and POST /start'),
  );
  app.onError((error, request) => {
    logger.error(`admin: a request failed: ${safeReason(error)}`);
    return problem(request, 500, 'the request failed; the log says why');
  });
  return app;
}

/** Asks for a part when the client has taken the previous one. `TextEncoderStream` takes longer than making the text. */
function inBytes(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(Buffer.from(value));
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

function isAllReady(pipelines: readonly PipelineHealth[]): boolean {
  return pipelines.length > 0 && pipelines.every(({ isReady }) => isReady);
}

const statusText = (isReady: boolean) => (isReady ? 'ready' : 'not ready');

const streamOf = (request: Context) =>
  (request.env as HttpBindings).incoming.socket as Duplex as RequestStream;

async function recording(
  request: Context,
  { token, record }: AdminServerOptions,
  connections: Connections,
): Promise<Response> {
  // Other users of this machine may see metrics, but not events.
  if (token === undefined) {
    const message = 'recordings show events, so they need a token: set `admin.token` or MILLRACE_ADMIN_TOKEN';
    return problem(request, 403, message);
  }
  const { pipeline, for: duration = '60s' } = request.req.query();
  const [, amount, unit] = /^(\d{1,6})(s|m)$/.exec(duration) ?? [];
  const forMs = Number(amount) * (unit === 'm' ? 60_000 : 1000);
  if (!(forMs > 0 && forMs <= LONGEST_RECORDING)) {
    return problem(request, 400, '`for` is how long to record: 1s to 600s, or 1m to 10m');
  }
  if (request.req.method === 'HEAD') return problem(request, 405, 'only GET is possible', { Allow: 'GET' });
  const stream = streamOf(request);
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  stream.watchClient();
  connections.setUse(stream, 'recording');
  const { signal } = gone;
  const answer = await record({ pipeline: pipeline ?? '', forMs, forText: duration, signal });
  connections.setUse(stream, 'admitted');
  if (answer.status !== 200) return problem(request, answer.status, answer.error);
  return request.body(answer.text, 200, {
    'Content-Type': 'application/yaml; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
}

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 421 | 500;

function problem(request: Context, status: Status, error: string, headers: Record<string, string> = {}) {
  return request.json({ error }, status, { 'Cache-Control': 'no-store', ...headers });
}

/** The answer to a request that is refused; undefined if it is to be served. */
function refusal(request: Context, { listen, token, hosts }: AdminServerOptions): Response | undefined {
  const { req } = request;
  const header = (name: string) => req.header(name);
  const known = [...hosts, 'localhost', listen.host].map((host) => host.toLowerCase());
  const host = hostnameOf(`http://${header('host') ?? ''}`);
  // DNS rebinding: a page of another site can make its own name resolve to this machine, and read the answers.
  if (host === undefined || (isIP(host) === 0 && !known.includes(host))) {
    return problem(
      request,
      421,
      'the Host header names another host; use an IP address or localhost, or add the name to `admin.hosts`',
    );
  }
  const origin = header('origin');
  if (origin !== undefined && origin.toLowerCase() !== `http://${header('host')}`.toLowerCase()) {
    return problem(request, 403, 'requests from pages of other sites are refused');
  }
  if (token === undefined ? !isLoopback(listen.host) : !isAuthorised(header('authorization'), token)) {
    return problem(request, 401, 'send the token as `Authorization: Bearer …`', {
      'WWW-Authenticate': 'Bearer',
    });
  }
  if (req.method !== 'GET' && req.method !== 'HEAD' && !(req.method === 'POST' && req.path === '/start')) {
    return problem(request, 405, 'only GET is possible', { Allow: 'GET, HEAD' });
  }
  if (Number(header('content-length') ?? 0) > 0 || header('transfer-encoding') !== undefined) {
    return problem(request, 413, 'requests have no body', { Connection: 'close' });
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
