import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { isIP } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Logger } from '../sdk/context.ts';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import { isLoopback, type ListenAddress } from '../sdk/listen-address.ts';
import type { Secret } from '../sdk/secret.ts';
import type { PipelineHealth } from '../sdk/status.ts';
import type { Metrics } from './metrics.ts';

/** Limits on what comes from outside. Requests have no bodies, so there is no limit on them but that. */
const MOST_CONNECTIONS = 64;
const MOST_HEADER_BYTES = 8192;
const HEADERS_MS = 5000;
const REQUEST_MS = 10_000;
const IDLE_MS = 30_000;

export interface AdminServerOptions {
  readonly listen: ListenAddress;
  /** What requests must send; undefined only for a loopback address. */
  readonly token: Secret | undefined;
  /** Names by which requests may address the server, beside IP addresses, `localhost` and the host of `listen`. */
  readonly hosts: readonly string[];
  readonly metrics: Metrics;
  readonly health: () => readonly PipelineHealth[];
  readonly logger: Logger;
}

/** The server of `/metrics`, `/health/live` and `/health/ready`. It shows no content of events. */
export class AdminServer {
  readonly #server: Server;
  readonly address: string;

  private constructor(server: Server, { host }: ListenAddress) {
    this.#server = server;
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    this.address = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  }

  /** @throws MillraceError if the address cannot be listened on */
  static async listen(options: AdminServerOptions): Promise<AdminServer> {
    const { listen, logger } = options;
    const server = createServer(
      {
        maxHeaderSize: MOST_HEADER_BYTES,
        headersTimeout: HEADERS_MS,
        requestTimeout: REQUEST_MS,
        keepAliveTimeout: IDLE_MS,
      },
      getRequestListener(routes(options).fetch, { overrideGlobalObjects: false }),
    );
    server.maxConnections = MOST_CONNECTIONS;
    server.timeout = IDLE_MS;
    server.listen({ host: listen.host, port: listen.port });
    try {
      await once(server, 'listening');
    } catch (error) {
      const reason = safeReason(error);
      throw new MillraceError(
        'MILLRACE_ADMIN',
        `admin: cannot listen on ${listen.host}:${listen.port}: ${reason}; choose another address with --admin or \`admin.listen\``,
      );
    }
    server.on('error', (error) => logger.error(`admin: ${safeReason(error)}`));
    // Pipelines decide how long the process lives.
    server.unref();
    return new AdminServer(server, listen);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function routes(options: AdminServerOptions): Hono {
  const { metrics, health, logger } = options;
  const app = new Hono();
  app.use(async (request, next) => refusal(request, options) ?? next());
  app.get('/metrics', async (request) =>
    request.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType }),
  );
  app.get('/health/live', (request) => request.json({ status: 'live' }));
  app.get('/health/ready', (request) => {
    const pipelines = health();
    const isReady = pipelines.every((pipeline) => pipeline.isReady);
    const reasons = pipelines.flatMap(({ pipeline, problems }) =>
      problems.map((problem) => `${pipeline}: ${problem}`),
    );
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
  app.notFound((request) => problem(request, 404, 'there are /metrics, /health/live and /health/ready'));
  app.onError((error, request) => {
    logger.error(`admin: a request failed: ${safeReason(error)}`);
    return problem(request, 500, 'the request failed; the log says why');
  });
  return app;
}

type Status = 400 | 401 | 403 | 404 | 405 | 413 | 421 | 500;

function problem(request: Context, status: Status, error: string, headers: Record<string, string> = {}) {
  return request.json({ error }, status, { 'Cache-Control': 'no-store', ...headers });
}

/** The answer to a request that is not to be served. */
function refusal(request: Context, { listen, token, hosts }: AdminServerOptions): Response | undefined {
  const { req } = request;
  const header = (name: string) => req.header(name);
  const known = [...hosts, 'localhost', listen.host].map((host) => host.toLowerCase());
  const host = hostnameOf(`http://${header('host') ?? ''}`);
  // A page of another site can make its own name resolve to this machine, and then read what it gets as its own.
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
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    return problem(request, 405, 'only GET is possible', { Allow: 'GET, HEAD' });
  }
  if (Number(header('content-length') ?? 0) > 0 || header('transfer-encoding') !== undefined) {
    return problem(request, 413, 'requests have no body', { Connection: 'close' });
  }
  return undefined;
}

/** Without brackets; undefined if the URL is none. */
function hostnameOf(url: string): string | undefined {
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return hostname === '' ? undefined : hostname.replace(/^\[|\]$/g, '');
}

/** In the same time for every token. A token that cannot be read admits nobody. */
function isAuthorised(header: string | undefined, token: Secret): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (sent === undefined || token.problem() !== undefined) return false;
  return timingSafeEqual(digest(sent), digest(token.read()));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
