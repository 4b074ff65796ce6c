import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import datadog from '../../plugins/forward/datadog.ts';
import otlp from '../../plugins/forward/otlp.ts';
import splunk from '../../plugins/forward/splunk_hec.ts';
import { toJsonLine } from '../../src/sdk/serialise.ts';
import { contextFor, done, event, events } from '../plugins/forward/http-helpers.ts';
import { type OtelCollector, startOtelCollector } from './support/otel-collector.ts';
import { skipWithout } from './support/start-server.ts';
import { startVictoriaLogs, type VictoriaLogs } from './support/victoria-logs.ts';

const bytesOf = (count: number) =>
  Buffer.from(
    events(count)
      .map((each) => toJsonLine(each))
      .join(''),
  );
const lines = (count: number) => events(count).map(({ data }) => data.line);

skipWithout('victoria-logs')('outputs over HTTP to VictoriaLogs', () => {
  let server: VictoriaLogs;
  beforeAll(async () => {
    server = await startVictoriaLogs();
  });
  afterAll(() => server.stop());

  it('splunk_hec: events as lines, as JSON, and compressed', async () => {
    const base = { url: `${server.url}/insert/splunk`, token: 't', sourcetype: 'hec' };
    await done(splunk.forwardJsonLines?.({ ctx: contextFor(splunk, base) })?.(bytesOf(100), 'a'));
    const ctx = contextFor(splunk, { ...base, format: 'json', compression: 'gzip', source: 'json' });
    await done(splunk.forwardBatch?.({ ctx, events: [event(1, { n: 7 })], id: 'b' }));
    const rows = await server.rows('sourcetype:hec');
    expect(
      rows
        .filter(({ source }) => source !== 'json')
        .map(({ _msg }) => _msg)
        .sort(),
    ).toEqual(lines(100).sort());
    expect(rows.find(({ source }) => source === 'json')).toMatchObject({
      'event.n': '7',
      _time: '2026-01-01T00:00:00Z',
    });
  });

  it('datadog', async () => {
    const ctx = contextFor(datadog, { url: `${server.url}/insert/datadog`, api_key: 'k', service: 'dd' });
    await done(datadog.forwardBatch?.({ ctx, events: [event(1, { n: 7 })], id: 'a' }));
    expect(await server.rows('service:dd')).toMatchObject([{ _msg: 'line 1' }]);
  });

  it('otlp in protobuf', async () => {
    const ctx = contextFor(otlp, {
      url: `${server.url}/insert/opentelemetry`,
      resource: { 'service.name': 'otlp' },
    });
    await done(
      otlp.forwardBatch?.({ ctx, events: [event(1, { n: 7, level: 'warn', deep: { a: 'b' } })], id: 'a' }),
    );
    expect(await server.rows('"service.name":otlp')).toMatchObject([
      { _msg: 'line 1', n: '7', _time: '2026-01-01T00:00:00Z' },
    ]);
  });
});

skipWithout('otelcol')('otlp to the OpenTelemetry Collector', () => {
  let collector: OtelCollector;
  beforeAll(async () => {
    collector = await startOtelCollector();
  });
  afterAll(async () => {
    await collector.stop();
    await collector.sink.close();
  });

  describe.each(['protobuf', 'json'])('in %s', (encoding) => {
    it('gives the same record', async () => {
      const before = collector.records().length;
      const ctx = contextFor(otlp, { url: collector.url, encoding, compression: 'gzip' });
      const data = {
        ...{ level: 'error', n: -7, f: 0.5, list: [1, 'a', { b: true }], deep: { a: 'ä' } },
        trace_id: '0af7651916cd43dd8448eb211c80319c',
      };
      await done(otlp.forwardBatch?.({ ctx, events: [event(1, data), ...events(500)], id: 'a' }));
      const deadline = performance.now() + 60_000;
      while (collector.records().length < before + 501 && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const records = collector.records().slice(before);
      expect(records).toHaveLength(501);
      expect(records[0]).toMatchObject({
        timeUnixNano: '1767225600000000000',
        severityNumber: 17,
        severityText: 'error',
        body: { stringValue: 'line 1' },
        traceId: '0af7651916cd43dd8448eb211c80319c',
      });
      expect(records[0]?.attributes).toEqual([
        { key: 'n', value: { intValue: '-7' } },
        { key: 'f', value: { doubleValue: 0.5 } },
        {
          key: 'list',
          value: {
            arrayValue: {
              values: [
                { intValue: '1' },
                { stringValue: 'a' },
                { kvlistValue: { values: [{ key: 'b', value: { boolValue: true } }] } },
              ],
            },
          },
        },
        { key: 'deep', value: { kvlistValue: { values: [{ key: 'a', value: { stringValue: 'ä' } }] } } },
      ]);
    });
  });
});
