import { expect, it } from '@jest/globals';
import { createTraceState, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordProcessor } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createRedactor } from '../../redact/index.ts';
import { RedactingLogRecordProcessor, RedactingSpanProcessor } from '../../redact/otel.ts';
import { eventually } from '../support/eventually.ts';
import { startOtelCollector } from './support/otel-collector.ts';
import { skipWithout } from './support/start-server.ts';

/** A secret of its own for each place, so that a failure names the place. */
const secretOf = (place: string) => `Gr4nite-${place}-76`;
const PLACES = [
  ...['resource', 'later', 'scope', 'name', 'attribute', 'list', 'header', 'cookie', 'parameter', 'prompt'],
  ...['event', 'eventname', 'exception', 'link', 'status', 'state', 'body', 'nested', 'json', 'logattribute'],
];
const IDS = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };

/** Plants a secret at each place of a span and of log records, and sends them. */
async function send(
  url: string,
  processSpans: (next: SpanProcessor) => SpanProcessor,
  processLogs: (next: LogRecordProcessor) => LogRecordProcessor,
) {
  const resource = resourceFromAttributes({
    'service.name': 'shop',
    'process.command_args': ['node', 'app.js', '--password', secretOf('resource')],
    'app.settings': Promise.resolve(`password=${secretOf('later')}`),
  });
  const spans = new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }));
  const exporter = new OTLPLogExporter({ url: `${url}/v1/logs` });
  const tracing = new BasicTracerProvider({ resource, spanProcessors: [processSpans(spans)] });
  const logging = new LoggerProvider({
    resource,
    processors: [processLogs(new BatchLogRecordProcessor({ exporter }))],
  });
  const traceState = createTraceState(`shop=password:${secretOf('state')}`);
  const context = trace.setSpanContext(ROOT_CONTEXT, { ...IDS, traceState });
  const span = tracing.getTracer('shop').startSpan(
    `GET /reset?token=${secretOf('name')}`,
    {
      attributes: {
        'http.request.header.authorization': [`Bearer ${secretOf('header')}`],
        'http.request.header.cookie': [`theme=dark; session=${secretOf('cookie')}`],
        'db.query.text': `SELECT * FROM users WHERE password = '${secretOf('attribute')}'`,
        'db.query.parameter.0': secretOf('parameter'),
        'gen_ai.input.messages': JSON.stringify([
          { role: 'user', content: `password: ${secretOf('prompt')}` },
        ]),
        'gen_ai.usage.input_tokens': 42,
        'app.passwords': [secretOf('list')],
      },
      links: [{ context: IDS, attributes: { 'app.password': secretOf('link') } }],
    },
    context,
  );
  span.addEvent(`retry with password=${secretOf('eventname')}`, { 'app.password': secretOf('event') });
  span.recordException(new Error(`password=${secretOf('exception')} is wrong`));
  span.setStatus({ code: SpanStatusCode.ERROR, message: `password=${secretOf('status')} is wrong` });
  span.end();
  const attributes = { 'app.password': secretOf('scope') };
  const logger = logging.getLogger('shop', '1.0', { attributes });
  logger.emit({ body: `login with password=${secretOf('body')}`, context });
  logger.emit({
    body: { request: [{ headers: { 'x-api-key': secretOf('nested') } }] },
    attributes: { user: { name: 'ada', password: secretOf('logattribute') } },
  });
  logger.emit({ body: JSON.stringify({ password: secretOf('json') }) });
  await Promise.all([tracing.shutdown(), logging.shutdown()]);
}

/** What the Collector sent on, when it has sent one request with spans and one with records. */
async function sentOnBy(collector: Awaited<ReturnType<typeof startOtelCollector>>) {
  const { requests } = collector.sink;
  await eventually(() => expect(requests.map(({ path }) => path).sort()).toEqual(['/v1/logs', '/v1/traces']));
  const [logs, spans] = ['/v1/logs', '/v1/traces'].map((wanted) =>
    JSON.parse(requests.find(({ path }) => path === wanted)?.body ?? ''),
  );
  return { logs, spans, text: JSON.stringify([logs, spans]) };
}

skipWithout('otelcol')('the SDK of OpenTelemetry sends to a Collector', () => {
  it('no planted secret with the masks of millrace/otel, and what is no secret', async () => {
    const collector = await startOtelCollector();
    const redactor = createRedactor();
    await send(
      collector.url,
      (next) => new RedactingSpanProcessor(redactor, next),
      (next) => new RedactingLogRecordProcessor(redactor, next),
    );
    const { logs, spans, text } = await sentOnBy(collector);
    expect(PLACES.filter((place) => text.includes(secretOf(place)))).toEqual([]);
    const resource = { attributes: expect.arrayContaining([stringOf('service.name', 'shop')]) };
    expect(spans).toMatchObject({
      resourceSpans: [
        {
          resource,
          scopeSpans: [
            {
              scope: { name: 'shop' },
              spans: [
                {
                  traceId: IDS.traceId,
                  parentSpanId: IDS.spanId,
                  name: 'GET /reset?token=<:query:>',
                  attributes: expect.arrayContaining([
                    { key: 'gen_ai.usage.input_tokens', value: { intValue: '42' } },
                    stringOf('db.query.text', "SELECT * FROM users WHERE password = '<:password:>'"),
                  ]),
                  status: { message: 'password=<:password:> is wrong', code: 2 },
                },
              ],
            },
          ],
        },
      ],
    });
    expect(logs).toMatchObject({
      resourceLogs: [
        {
          resource,
          scopeLogs: [
            {
              scope: { name: 'shop', attributes: [stringOf('app.password', '<:password:>')] },
              logRecords: [
                { body: { stringValue: 'login with password=<:password:>' }, traceId: IDS.traceId },
                {},
                { body: { stringValue: '{"password":"<:password:>"}' } },
              ],
            },
          ],
        },
      ],
    });
    await collector.sink.close();
  });

  it('each of them without the masks', async () => {
    const collector = await startOtelCollector();
    await send(
      collector.url,
      (next) => next,
      (next) => next,
    );
    const { text } = await sentOnBy(collector);
    expect(PLACES.filter((place) => !text.includes(secretOf(place)))).toEqual([]);
    await collector.sink.close();
  });
});

const stringOf = (key: string, stringValue: string) => ({ key, value: { stringValue } });
