import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { freePort, skipWithout, startServer } from './support/start-server.ts';

const at = tempFolder();
const TOKEN = 'token-of-this-test';

beforeAll(upToDateBuild);

/** A run with `admin`, and a Prometheus that scrapes it every second. */
async function scrapedRun() {
  const folder = at();
  const [adminPort, port] = [await freePort(), await freePort()];
  const log = join(folder, 'app.log');
  writeFileSync(log, 'first secret=hunter2\n');
  writeFileSync(
    join(folder, 'pipelines.yaml'),
    `
collectors: { app: { plugin: file, paths: [${log}], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { secret: 'secret=\\S+' } } }
forwarders: { archive: { plugin: disk, path: ${folder}, filename: out.jsonl } }
pipelines: { main: { collect: app, process: mask, forward: archive } }
host_config: {}
admin: { listen: ${adminPort}, token: { env: TEST_TOKEN } }
`,
  );
  writeFileSync(
    join(folder, 'prometheus.yaml'),
    `
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: millrace
    authorization: { credentials: ${TOKEN} }
    static_configs: [{ targets: ['127.0.0.1:${adminPort}'] }]
`,
  );
  const bin = join(ROOT, 'dist/src/cli/bin.js');
  const run = await startServer(
    process.execPath,
    [bin, 'run', join(folder, 'pipelines.yaml'), '--no-state'],
    /main: running/,
    { env: { TEST_TOKEN: TOKEN } },
  );
  await startServer(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    /Server is ready to receive web requests/,
  );
  const query = async (expression: string): Promise<string | undefined> => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: readonly { value: readonly [number, string] }[] };
    };
    return data.result[0]?.value[1];
  };
  /** Waits for a scrape that gives this value. */
  const becomes = async (expression: string, expected: string) => {
    for (const end = performance.now() + 60_000; (await query(expression)) !== expected; await delay(200)) {
      if (performance.now() > end)
        throw new Error(`${expression} is ${await query(expression)}, not ${expected}`);
    }
  };
  return { folder, log, adminPort, query, becomes, run };
}

skipWithout('prometheus', 'promtool')('a real Prometheus', () => {
  it('scrapes a run, whose metrics keep to its conventions', async () => {
    const { folder, log, adminPort, query, becomes, run } = await scrapedRun();
    await becomes('up{job="millrace"}', '1');
    const delivered = 'millrace_events_sent_total{pipeline="main",entry="archive"}';
    await becomes(delivered, '1');
    appendFileSync(log, 'second secret=hunter2\nthird\n');
    await becomes(delivered, '3');
    expect(await query('millrace_values_masked_total{rule="secret"}')).toBe('2');
    expect(await query('millrace_pipeline_state{state="running"}')).toBe('1');
    expect(await query('millrace_received_bytes_total{entry="app"}')).toBe(String(readFileSync(log).length));
    expect(await query('sum(millrace_acknowledge_duration_seconds_bucket{le="+Inf"})')).toBe('3');

    const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = await metrics.text();
    // It prints what does not keep to the conventions, and then exits with 3.
    expect(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('');
    expect(text).not.toContain('hunter2');
    expect(run.output()).not.toContain(TOKEN);
    expect(readFileSync(join(folder, 'out.jsonl'), 'utf8')).not.toContain('hunter2');
  });
});
