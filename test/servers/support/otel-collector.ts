import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HttpSink, httpSink } from '../../support/http-sink.ts';
import { listens, Restartable } from './restartable.ts';
import { freePort, serverFolder, startServer } from './start-server.ts';

/** A log record of OTLP in JSON. */
export interface LogRecord {
  readonly timeUnixNano?: string;
  readonly severityText?: string;
  readonly body?: { readonly stringValue?: string };
  readonly attributes?: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, unknown>>;
  }[];
}

/** An OpenTelemetry Collector, which takes OTLP and sends it on. */
export interface OtelCollector extends Restartable {
  /** Where it takes OTLP over HTTP: its paths are `/v1/logs`, `/v1/traces` and `/v1/metrics`. */
  readonly url: string;
  /** Where it takes OTLP over gRPC, as `host:port`. */
  readonly grpc: string;
  /** What came out of it, if `exportTo` was not given. */
  readonly sink: HttpSink;
  /** The log records that came out of it, in the order of their arrival. */
  records(): LogRecord[];
}

export interface OtelCollectorOptions {
  /** Where it sends what it gets, as OTLP over HTTP: the paths are added. Default: to a sink of the test. */
  readonly exportTo?: string;
  /** How it encodes that. Default: `json`. */
  readonly encoding?: 'json' | 'proto';
  /** Whether it keeps what it has answered in memory until it is sent on. Default: true. */
  readonly isQueueing?: boolean;
}

/** Starts an OpenTelemetry Collector: `skipWithout('otelcol')`. Close its sink after the test. */
export async function startOtelCollector(options: OtelCollectorOptions = {}): Promise<OtelCollector> {
  const folder = serverFolder('otelcol');
  const [http, grpc] = [await freePort(), await freePort()];
  const sink = await httpSink();
  const { exportTo = sink.url.slice(0, -1), encoding = 'json', isQueueing = true } = options;
  const file = join(folder, 'config.yaml');
  writeFileSync(
    file,
    `receivers:
  otlp: { protocols: { http: { endpoint: 127.0.0.1:${http} }, grpc: { endpoint: 127.0.0.1:${grpc} } } }
exporters:
  otlphttp: { endpoint: '${exportTo}', encoding: ${encoding}, sending_queue: { enabled: ${isQueueing} }, retry_on_failure: { initial_interval: 100ms, max_interval: 1s } }
service:
  telemetry: { metrics: { level: none } }
  pipelines:
    logs: { receivers: [otlp], exporters: [otlphttp] }
    traces: { receivers: [otlp], exporters: [otlphttp] }
    metrics: { receivers: [otlp], exporters: [otlphttp] }
`,
  );
  const server = await Restartable.start(() =>
    startServer('otelcol', ['--config', file], async () => (await listens(http)) && listens(grpc)),
  );
  type Logs = { resourceLogs: { scopeLogs: { logRecords: LogRecord[] }[] }[] };
  const records = () =>
    sink.requests
      .filter(({ path }) => path.endsWith('/v1/logs'))
      .flatMap(({ body }) => (JSON.parse(body) as Logs).resourceLogs)
      .flatMap(({ scopeLogs }) => scopeLogs)
      .flatMap(({ logRecords }) => logRecords);
  return Object.assign(server, { url: `http://127.0.0.1:${http}`, grpc: `127.0.0.1:${grpc}`, sink, records });
}
