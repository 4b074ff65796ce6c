import { afterAll } from '@jest/globals';
import { byForm } from '../../faults/support/form.ts';
import { answer } from '../support/hostile-http.ts';
import { type LogRecord, type OtelCollector, startOtelCollector } from '../support/otel-collector.ts';
import { startVictoriaLogs, type VictoriaLogs } from '../support/victoria-logs.ts';
import type { HttpConnector } from './connector.ts';
import { testOverHttp } from './http-scenarios.ts';

const otlp = {
  recognises: false,
  exactlyOnce: false,
  credentials: {
    fields: 'auth: { bearer: { file: token } }',
    isRight: ({ authorization }) => authorization === 'Bearer right-token',
  },
  refusal: answer(400, { 'content-type': 'application/x-protobuf' }),
} satisfies Partial<HttpConnector>;

interface Logs {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: NonNullable<LogRecord['attributes']> };
    readonly scopeLogs: readonly { readonly logRecords: readonly LogRecord[] }[];
  }[];
}

let collector: OtelCollector | undefined;
afterAll(() => collector?.sink.close());

testOverHttp<OtelCollector>({
  ...otlp,
  name: 'otlp',
  needs: ['otelcol'],
  // It answers when it has sent on what it got.
  async start() {
    collector = await startOtelCollector({ isQueueing: false });
    return collector;
  },
  url: ({ url }) => url,
  endsBy: 'SIGKILL',
  target: ({ sink }, name) => ({
    forwarder: (at) => `plugin: otlp, url: '${at}', resource: { test: ${name} }`,
    documents: async () =>
      sink.requests
        // No test needs those of the ones before.
        .splice(0)
        .flatMap(({ body }) => (JSON.parse(body) as Logs).resourceLogs)
        .filter(({ resource }) => resource.attributes.some(({ value }) => value.stringValue === name))
        .flatMap(({ scopeLogs }) => scopeLogs)
        .flatMap(({ logRecords }) => logRecords)
        .map(({ body }) => JSON.stringify({ line: body?.stringValue })),
  }),
});

if (byForm({ short: false, long: true }))
  testOverHttp<VictoriaLogs>({
    ...otlp,
    name: 'otlp to VictoriaLogs',
    needs: ['victoria-logs'],
    start: startVictoriaLogs,
    url: ({ url }) => url,
    endsBy: 'SIGTERM',
    target: (server, name) => ({
      forwarder: (at) => `plugin: otlp, url: '${at}/insert/opentelemetry', resource: { test: ${name} }`,
      documents: async () =>
        (await server.rows(`test:=${name}`)).map(({ _msg }) => JSON.stringify({ line: _msg })),
    }),
  });
