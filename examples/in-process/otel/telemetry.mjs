// Traces and logs of a service. Everything that leaves the process passes a mask.

import { LoggerProvider } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { RedactingLogRecordProcessor, RedactingSpanProcessor } from 'millrace/otel';
import { createRedactor } from 'millrace/redact';

/**
 * @param {object} to
 * @param {import('@opentelemetry/resources').Resource} to.resource
 * @param {import('@opentelemetry/sdk-trace-base').SpanProcessor} to.spans such as `new BatchSpanProcessor(new OTLPTraceExporter())`
 * @param {import('@opentelemetry/sdk-logs').LogRecordProcessor} to.logs such as `new BatchLogRecordProcessor({ exporter })`
 */
export function startTelemetry({ resource, spans, logs }) {
  const redactor = createRedactor();
  // Prompts do not leave this service, not even masked.
  const options = { attributes: /** @type {const} */ ({ 'gen_ai.input.messages': 'drop' }) };
  const tracing = new BasicTracerProvider({
    resource,
    spanProcessors: [new RedactingSpanProcessor(redactor, spans, options)],
  });
  const logging = new LoggerProvider({
    resource,
    processors: [new RedactingLogRecordProcessor(redactor, logs, options)],
  });
  return {
    tracer: tracing.getTracer('shop'),
    logger: logging.getLogger('shop'),
    report: () => redactor.report(),
    async stop() {
      await tracing.shutdown();
      await logging.shutdown();
    },
  };
}
