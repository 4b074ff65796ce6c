import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { isIP } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import { isLoopback } from '../sdk/listen-address.ts';
import type { Secret } from '../sdk/secret.ts';
import type { AdminServerOptions } from './admin-server.ts';

/** Milliseconds: `for` of `/record`. */
const LONGEST_RECORDING = 600_000;

/** Answers requests for `/metrics`, `/health/live`, `/health/ready`, `/start` and `/record`. */
export function adminListener(options: AdminServerOptions): RequestListener {
  return getRequestListener(routes(options).fetch, { overrideGlobalObjects: false });
}

function routes(options: AdminServerOptions): Hono {
  const { metrics, health, start, logger } = options;
  const app = new Hono();
  app.use(async (request, next) => refusal(request, options) ?? next());
  app.get('/metrics', async (request) => {
    // A scrape starts the measurement of the event loop anew, so a HEAD must not be one.
    const body = request.req.method === 'HEAD' ? '' : await metrics.text();
    return request.body(body, 200, { 'Content-Type': metrics.contentType });
  });
  app.get('/health/live', (request) => request.json({ status: 'live' }));
  app.get('/health/ready', (request) => {
    const pipelines = health();
    const isStarted = pipelines.length > 0;
    const isReady = isStarted && pipelines.every((pipeline) => pipeline.isReady);
    const reasons = isStarted
      ? pipelines.flatMap(({ pipeline, problems }) => problems.map((problem) => `${pipeline}: ${problem}`))
      : ['no pipeline has been started yet'];
    const body = {
      status: isReady ? 'ready' : 'not ready',
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
  app.get('/record', (request) => recording(request, options));
  app.notFound((request) =>
    problem(request, 404, 'there are /metrics, /health/live, /health/ready, /record and POST /start'),
  );
  app.onError((error, request) => {
    logger.error(`admin: a request failed: ${safeReason(error)}`);
    return problem(request, 500, 'the request failed; the log says why');
  });
  return app;
}

async function recording(request: Context, { token, record }: AdminServerOptions): Promise<Response> {
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
  const { incoming } = request.env as HttpBindings;
  // Nothing is sent until the recording has ended.
  const { timeout = 0 } = incoming.socket;
  incoming.socket.setTimeout(0);
  const gone = new AbortController();
  incoming.socket.once('close', () => gone.abort());
  const { signal } = gone;
  const answer = await record({ pipeline: pipeline ?? '', forMs, forText: duration, signal });
  incoming.socket.setTimeout(timeout);
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
