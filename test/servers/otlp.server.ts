import { expect, it } from '@jest/globals';
import otlp from '../../plugins/collect/otlp.ts';
import { Collector } from '../plugins/collect/http-helpers.ts';
import { eventually } from '../support/eventually.ts';
import { startOtelCollector } from './support/otel-collector.ts';
import { skipWithout } from './support/start-server.ts';

skipWithout('otelcol')('otlp: an OpenTelemetry Collector as the sender', () => {
  it.each(['json', 'proto'] as const)(
    'sends logs and traces as %s, and repeats what is refused',
    async (encoding) => {
      const collector = await Collector.start(otlp, { plugin: 'otlp' }, { outcome: undefined });
      const exportTo = `http://127.0.0.1:${collector.port}`;
      const sender = await startOtelCollector({ exportTo, encoding });
      const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
      const resource = { attributes: [text('service.name', 'shop')] };
      const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
      const record = {
        ...{ timeUnixNano: '1700000000123456789', severityNumber: 9, body: { stringValue: 'paid' }, ...ids },
        attributes: [text('user', 'ada')],
      };
      const span = { name: 'GET /', kind: 2, startTimeUnixNano: '1700000000123456789', ...ids };
      const send = async (path: string, request: object) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${sender.url}${path}`, {
          method: 'POST',
          body: JSON.stringify(request),
          headers,
        });
        expect(answer.status).toBe(200);
      };
      await send('/v1/logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] });
      await eventually(() => collector.batches.length === 1);
      // The Collector keeps what was refused, and sends it again after Retry-After.
      collector.batches[0]?.acknowledge?.('rejected');
      await eventually(() => collector.batches.length === 2);
      collector.batches[1]?.acknowledge?.('forwarded');
      await send('/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
      await eventually(() => collector.batches.length === 3);
      collector.batches[2]?.acknowledge?.('forwarded');
      const log = {
        ...{
          time: '2023-11-14T22:13:20.123456789Z',
          severity_number: 9,
          body: 'paid',
          attributes: { user: 'ada' },
        },
        ...{
          trace_id: ids.traceId,
          span_id: ids.spanId,
          resource: { attributes: { 'service.name': 'shop' } },
        },
      };
      expect(collector.data.slice(0, 2)).toEqual([
        expect.objectContaining(log),
        expect.objectContaining(log),
      ]);
      expect(collector.data[2]).toMatchObject({ name: 'GET /', start_time: log.time, trace_id: ids.traceId });
      expect(collector.data).toHaveLength(3);
      await sender.sink.close();
    },
  );
});
