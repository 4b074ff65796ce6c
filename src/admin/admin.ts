import type { MetricsOf } from '../engine/manager.ts';
import type { AdminConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { isLoopback, type ListenAddress } from '../sdk/listen-address.ts';
import { Secret } from '../sdk/secret.ts';
import type { AdminServer, AnswerRecording, StartPipeline } from './admin-server.ts';
import type { WatchedPipeline } from './engine-metrics.ts';

/** The variable that holds the token for `--admin` without `admin.token`. */
const TOKEN_VARIABLE = 'MILLRACE_ADMIN_TOKEN';
/** Seconds. */
const STALLED_AFTER = 60;

interface AdminOptions {
  /** Takes precedence over that of the configuration. */
  readonly listen: ListenAddress | undefined;
  readonly logger: Logger;
  /** The pipelines that there are at the moment. */
  readonly pipelines: (stalledAfter: number) => readonly WatchedPipeline[];
  readonly record: AnswerRecording;
  readonly start: StartPipeline;
}

/** The metrics and health of a process, served if the command line or the configuration asks for it. */
export class Admin {
  readonly #options: AdminOptions;
  #server: AdminServer | undefined;
  #stalledAfter = STALLED_AFTER;
  /** `ctx.metrics` of plugins; undefined if nothing is served. */
  metrics: MetricsOf | undefined;
  /** Whether recordings may be asked for: only with a token, because they show events. */
  records = false;

  constructor(options: AdminOptions) {
    this.#options = options;
  }

  /** Seconds without progress after which a pipeline with events in flight is not ready. */
  get stalledAfter(): number {
    return this.#stalledAfter;
  }

  /** Starts the server. Later calls, with a configuration that was reloaded, change only when a pipeline is not ready. */
  async open(config: AdminConfig | undefined): Promise<void> {
    this.#stalledAfter = config?.stalled_after ?? STALLED_AFTER;
    const listen = this.#options.listen ?? config?.listen;
    if (listen === undefined || this.#server !== undefined) return;
    const { logger, pipelines, record, start } = this.#options;
    const token =
      config?.token ?? (process.env[TOKEN_VARIABLE] ? new Secret({ env: TOKEN_VARIABLE }) : undefined);
    checkToken(listen, token);
    // Loaded here, because most runs need neither. prom-client is loaded by the first request.
    const [{ AdminServer }, { Metrics }] = await Promise.all([
      import('./admin-server.ts'),
      import('./metrics.ts'),
    ]);
    const watched = () => pipelines(this.#stalledAfter);
    const metrics = new Metrics(watched);
    const health = () => watched().map((pipeline) => pipeline.health);
    const hosts = config?.hosts ?? [];
    this.#server = await AdminServer.listen({
      ...{ listen, token, hosts, metrics, health, record, start, logger },
    });
    this.metrics = metrics.of;
    this.records = token !== undefined;
    logger.info(
      `admin: metrics at ${this.#server.address}/metrics, health at ${this.#server.address}/health/ready`,
    );
  }

  close(): void {
    this.#server?.close();
  }
}

function checkToken({ host, port }: ListenAddress, token: Secret | undefined): void {
  const unreadable = token?.problem();
  if (unreadable !== undefined) throw new MillraceError('MILLRACE_ADMIN', `admin.token: ${unreadable}`);
  if (token !== undefined || isLoopback(host)) return;
  throw new MillraceError(
    'MILLRACE_ADMIN',
    `admin: ${host}:${port} can be reached from other machines, so requests need a token: set \`admin.token\` or the ` +
      `environment variable ${TOKEN_VARIABLE}, or listen on 127.0.0.1`,
  );
}
