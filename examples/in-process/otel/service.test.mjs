// Secrets are planted wherever the service records something. None of them may be in what it sends.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createService } from './service.mjs';
import { startTelemetry } from './telemetry.mjs';

const PLANTED = {
  argument: 'Gr4nite-argument-71',
  authorization: 'Gr4nite-header-72',
  cookie: 'Gr4nite-cookie-73',
  key: 'Gr4nite-apikey-74',
  query: 'Gr4nite-query-75',
  password: 'Gr4nite-passw0rd-76',
  environment: 'Gr4nite-environment-77',
};
process.env.SHOP_DB_PASSWORD = PLANTED.environment;

/** What the collector of the service got. */
let sent = '';
const collector = createServer(async (request, response) => {
  sent += await text(request);
  response.end('{}');
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
after(() => collector.close());

const url = urlOf(collector);
const resource = resourceFromAttributes({
  'service.name': 'shop',
  'process.command_args': ['node', 'service.mjs', '--admin-password', PLANTED.argument],
});
const toCollector = () => ({
  spans: new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` })),
  logs: new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${url}/v1/logs` }) }),
});

test('no planted secret leaves the service, and what is needed to find an error does', async () => {
  const telemetry = startTelemetry({ resource, ...toCollector() });
  await requestTo(createService(telemetry));
  await telemetry.stop();
  for (const [place, secret] of Object.entries(PLANTED)) assert(!sent.includes(secret), `${place} left`);
  for (const wanted of [
    '"name":"POST /login?token=<:query:>"',
    '{"key":"http.route","value":{"stringValue":"/login"}}',
    '{"key":"http.request.header.authorization","value":{"arrayValue":{"values":[{"stringValue":"<:redacted:>"}]}}}',
    '{"key":"gen_ai.usage.input_tokens","value":{"intValue":42}}',
    'cannot log ada in with password=<:password:>',
    'postgres://shop:<:url-password:>@db.example.com/shop',
    '{"key":"service.name","value":{"stringValue":"shop"}}',
  ])
    assert(sent.includes(wanted), `${wanted} is not in ${sent}`);
  assert(telemetry.report().masked['secrets/context:password'] > 0);
});

test('without the mask, each of them would leave', async () => {
  const { spans, logs } = toCollector();
  const tracing = new BasicTracerProvider({ resource, spanProcessors: [spans] });
  const logging = new LoggerProvider({ resource, processors: [logs] });
  await requestTo(createService({ tracer: tracing.getTracer('shop'), logger: logging.getLogger('shop') }));
  await Promise.all([tracing.shutdown(), logging.shutdown()]);
  for (const [place, secret] of Object.entries(PLANTED))
    assert(sent.includes(secret), `${place} is not planted`);
});

/** @param {import('node:http').Server} service */
async function requestTo(service) {
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { status } = await fetch(`${urlOf(service)}/login?token=${PLANTED.query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${PLANTED.authorization}`,
      cookie: `theme=dark; session=${PLANTED.cookie}`,
      'x-api-key': PLANTED.key,
    },
    body: JSON.stringify({
      user: 'ada',
      password: PLANTED.password,
      prompt: `Log me in, my password is ${PLANTED.password}`,
    }),
  });
  assert.equal(status, 500);
  service.close();
}

/** @param {import('node:http').Server} server */
function urlOf(server) {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}`;
}
