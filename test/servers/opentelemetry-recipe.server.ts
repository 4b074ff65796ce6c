import fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { startOtelCollector } from './support/otel-collector.ts';
import { freePort, skipWithout } from './support/start-server.ts';

const folder = tempFolder();

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const IDS = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const TIME = '1700000000123456789';
const SCOPE = { name: 'lib', version: '1.0', attributes: [text('part', 'web')] };
const resourceOf = (service: string) => ({ attributes: [text('service.name', service)] });

/** A log record as an SDK sends it, and as the Collector is to get it. */
const record = (n: number, password: string) => ({
  ...{ timeUnixNano: TIME, observedTimeUnixNano: `${BigInt(TIME) + BigInt(n)}`, ...IDS, flags: 1 },
  ...{ severityNumber: 10, severityText: 'Note', eventName: 'login' },
  body: { kvlistValue: { values: [text('password', password), { key: 'n', value: { intValue: `${n}` } }] } },
  attributes: [text('password', password), { key: 'share', value: { doubleValue: 0.5 } }],
});
const span = (password: string) => ({
  ...{ ...IDS, parentSpanId: 'c7ad6b7169203331', name: 'GET /', kind: 2, startTimeUnixNano: TIME },
  ...{ endTimeUnixNano: '1700000000123456790', attributes: [text('password', password)] },
  events: [{ timeUnixNano: TIME, name: 'retry', attributes: [text('password', password)] }],
  status: { message: 'it failed', code: 2 },
});
const logsOf = (service: string, ...logRecords: readonly object[]) => ({
  resourceLogs: [{ resource: resourceOf(service), scopeLogs: [{ scope: SCOPE, logRecords }] }],
});
const tracesOf = (...spans: readonly object[]) => ({
  resourceSpans: [{ resource: resourceOf('shop'), scopeSpans: [{ scope: SCOPE, spans }] }],
});

skipWithout('otelcol')('the recipe docs/recipes/opentelemetry.md', () => {
  it('sends logs and spans on as they came, masked, and keeps them over an outage and a kill', async () => {
    const page = fs.readFileSync(join(ROOT, 'docs/recipes/opentelemetry.md'), 'utf8');
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const port = String(await freePort());
    fs.writeFileSync(folder('gateway.yaml'), yaml.replace('4318', port));
    const collector = await startOtelCollector();
    const start = async () => {
      const command = [await upToDateBuild(), 'run', 'gateway.yaml', '--state-dir', 'state'];
      const env = { COLLECTOR_URL: collector.url };
      const process = startProcess(globalThis.process.execPath, command, { cwd: folder(), env });
      await process.shows('stderr', /listens on/);
      return process;
    };
    const send = async (path: string, request: object) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(request);
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
      expect(answer.status).toBe(200);
    };
    const came = (path: string) => collector.sink.requests.filter((request) => request.path === path);

    const first = await start();
    await send('/v1/logs', logsOf('shop', record(1, 'hunter2hunter2')));
    await eventually(() => expect(collector.records()).toHaveLength(1));
    await collector.stop();
    await send('/v1/logs', logsOf('shop', record(2, 'hunter2hunter2'), record(3, 'hunter2hunter2')));
    await send('/v1/logs', logsOf('till', record(4, 'hunter2hunter2')));
    await send('/v1/traces', tracesOf(span('hunter2hunter2')));
    first.kill('SIGKILL');
    await first.ended();
    await collector.restart();
    const second = await start();
    await eventually(() => {
      expect(collector.records().length).toBeGreaterThanOrEqual(4);
      expect(came('/v1/traces').length).toBeGreaterThanOrEqual(1);
    });
    second.kill('SIGTERM');
    expect(await second.ended()).toMatchObject({ code: 0 });

    const masked = '<:password:>';
    const byNumber = new Map(
      collector
        .records()
        .map((each) => [
          Number(BigInt((each as { observedTimeUnixNano: string }).observedTimeUnixNano) - BigInt(TIME)),
          each,
        ]),
    );
    expect([...byNumber].toSorted(([a], [b]) => a - b)).toEqual(
      [1, 2, 3, 4].map((n) => [n, record(n, masked)]),
    );
    expect(JSON.parse(came('/v1/traces')[0]?.body ?? '')).toMatchObject(tracesOf(span(masked)));
    const origins = came('/v1/logs').flatMap(({ body }) => {
      const { resourceLogs } = JSON.parse(body) as ReturnType<typeof logsOf>;
      return resourceLogs.map(({ resource, scopeLogs }) => ({
        resource,
        scopes: scopeLogs.map(({ scope }) => scope),
      }));
    });
    for (const service of ['shop', 'till'])
      expect(origins).toContainEqual({ resource: resourceOf(service), scopes: [SCOPE] });
    expect(fs.existsSync(folder('archive/refused.jsonl'))).toBe(false);
    await collector.sink.close();
  });
});
