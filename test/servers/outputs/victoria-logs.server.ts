import { answer } from '../support/hostile-http.ts';
import { startVictoriaLogs, type VictoriaLogs } from '../support/victoria-logs.ts';
import type { Headers, HttpConnector } from './connector.ts';
import { testOverHttp } from './http-scenarios.ts';

const hasToken = ({ authorization }: Headers) => authorization === 'Bearer right-token';

/** What the forwarders to VictoriaLogs have in common. It is stopped, not killed: it keeps a second of entries in memory. */
const victoriaLogs = {
  needs: ['victoria-logs'],
  start: startVictoriaLogs,
  url: ({ url }: VictoriaLogs) => url,
  recognises: false,
  exactlyOnce: false,
  endsBy: 'SIGTERM',
} as const;

/** The messages of the entries that a query finds. */
const messages = async (server: VictoriaLogs, query: string) =>
  (await server.rows(query)).map(({ _msg }) => JSON.stringify({ line: _msg }));

const http: HttpConnector<VictoriaLogs> = {
  ...victoriaLogs,
  name: 'http',
  target: (server, name) => ({
    forwarder: (at) =>
      `plugin: http, payload: flat, split_refused: true, url: '${at}/insert/jsonline?_msg_field=line&_time_field=timestamp&_stream_fields=test&extra_fields=test=${name}'`,
    documents: () => messages(server, `test:=${name}`),
  }),
  credentials: { fields: 'auth: { bearer: { file: token } }', isRight: hasToken },
  refusal: answer(400),
};

const loki: HttpConnector<VictoriaLogs> = {
  ...victoriaLogs,
  name: 'loki',
  target: (server, name) => ({
    forwarder: (at) => `plugin: loki, url: '${at}/insert', labels: { test: ${name} }`,
    documents: () => messages(server, `test:=${name}`),
  }),
  credentials: { fields: 'auth: { bearer: { file: token } }', isRight: hasToken },
  refusal: answer(400),
};

const splunk: HttpConnector<VictoriaLogs> = {
  ...victoriaLogs,
  name: 'splunk_hec',
  target: (server, name) => ({
    forwarder: (at) =>
      `plugin: splunk_hec, url: '${at}/insert/splunk', token: { file: token }, sourcetype: ${name}`,
    documents: () => messages(server, `sourcetype:=${name}`),
  }),
  credentials: { isRight: ({ authorization }) => authorization === 'Splunk right-token' },
  refusal: answer(400, {}, '{"text":"Invalid data format","code":6,"invalid-event-number":0}'),
};

const datadog: HttpConnector<VictoriaLogs> = {
  ...victoriaLogs,
  name: 'datadog',
  target: (server, name) => ({
    forwarder: (at) =>
      `plugin: datadog, url: '${at}/insert/datadog', api_key: { file: token }, service: ${name}`,
    documents: () => messages(server, `service:=${name}`),
  }),
  credentials: { isRight: (headers) => headers['dd-api-key'] === 'right-token' },
  refusal: answer(400, {}, '{"errors":[{"status":"400","title":"Bad Request"}]}'),
};

for (const connector of [http, loki, splunk, datadog]) testOverHttp(connector);
