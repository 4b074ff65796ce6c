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
      `plugin: http, payload: flat, url: '${at}/insert/jsonline?_msg_field=line&_time_field=timestamp&_stream_fields=test&extra_fields=test=${name}'`,
    documents: () => messages(server, `test:=${name}`),
  }),
  credentials: { fields: 'auth: { bearer: { file: token } }', isRight: hasToken },
};

const loki: HttpConnector<VictoriaLogs> = {
  ...victoriaLogs,
  name: 'loki',
  target: (server, name) => ({
    forwarder: (at) => `plugin: loki, url: '${at}/insert', labels: { test: ${name} }`,
    documents: () => messages(server, `test:=${name}`),
  }),
  credentials: { fields: 'auth: { bearer: { file: token } }', isRight: hasToken },
};

for (const connector of [http, loki]) testOverHttp(connector);
