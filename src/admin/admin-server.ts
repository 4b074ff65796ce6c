import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, isIP, type Server } from 'node:net';
import type { Logger } from '../sdk/context.ts';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import type { ListenAddress } from '../sdk/listen-address.ts';
import type { Secret } from '../sdk/secret.ts';
import type { PipelineHealth, PipelineStatus } from '../sdk/status.ts';
import { adminListener } from './admin-routes.ts';
import { Connections } from './connections.ts';
import { FirstRequest } from './first-request.ts';
import type { Metrics } from './metrics.ts';

/** Limits on what comes from outside. Each connection has one request, without a body. */
const CONNECTIONS = { most: 128, requestMs: 5000, answerMs: 30_000 };
const MOST_HEAD_BYTES = 8192;

/** What `/record` is asked for. */
export interface RecordRequest {
  readonly pipeline: string;
  readonly forMs: number;
  /** The time in the form of the request. */
  readonly forText: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Records a pipeline, and returns the recording as a test. */
export type AnswerRecording = (
  request: RecordRequest,
) => Promise<
  { readonly status: 200; readonly text: string } | { readonly status: 404 | 409; readonly error: string }
>;

/**
 * Starts a pipeline that has ended, and returns its status.
 *
 * @throws MillraceError if there is no such pipeline, or it cannot be started now
 */
export type StartPipeline = (pipeline: string) => PipelineStatus;

export interface AdminServerOptions {
  readonly listen: ListenAddress;
  /** What requests must send; undefined only for a loopback address. */
  readonly token: Secret | undefined;
  /** Names by which requests may address the server, beside IP addresses, `localhost` and the host of `listen`. */
  readonly hosts: readonly string[];
  readonly metrics: Metrics;
  readonly health: () => readonly PipelineHealth[];
  readonly record: AnswerRecording;
  readonly start: StartPipeline;
  readonly logger: Logger;
}

/**
 * The server of `/metrics`, `/health/live`, `/health/ready`, `/start` and `/record`. Only the last one shows content of
 * events, masked, and only to those who send a token.
 */
export class AdminServer {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly address: string;

  private constructor(server: Server, connections: Connections, { host }: ListenAddress) {
    this.#server = server;
    this.#connections = connections;
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    this.address = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  }

  /** @throws MillraceError if the address cannot be listened on */
  static async listen(options: AdminServerOptions): Promise<AdminServer> {
    const { listen, logger } = options;
    const connections = new Connections(CONNECTIONS);
    const http = createHttpServer({ maxHeaderSize: MOST_HEAD_BYTES }, adminListener(options, connections));
    const server = createServer((socket) => {
      const stream = new FirstRequest(socket);
      connections.add(stream);
      stream.passTo(http, MOST_HEAD_BYTES);
    });
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
    return new AdminServer(server, connections, listen);
  }

  close(): void {
    this.#server.close();
    this.#connections.closeAll();
  }
}
