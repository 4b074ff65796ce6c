// node virtual-time.js COUNT SECONDS: prints how many milliseconds a test takes with so many events, one each so many seconds.
import { parseConfig } from '../../src/index.ts';
import { testPipeline } from '../../src/testing/index.ts';

const [count, seconds] = process.argv.slice(2).map(Number) as [number, number];
const config = await parseConfig({
  collectors: { log: { plugin: 'file', paths: ['/var/log/app.log'] } },
  processors: { secrets: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } } },
  forwarders: { archive: { plugin: 'disk', path: '/srv/archive' } },
  pipelines: { main: { collect: 'log', process: 'secrets', forward: 'archive' } },
  host_config: {},
});
const events = Array.from({ length: count }, (_, i) => ({
  at: i * seconds * 1000,
  value: `beat ${i} k-${i}`,
}));
const start = performance.now();
const run = await testPipeline(config, { collect: { log: { events } } });
const arrived = run.forwarded('archive').length;
const ms = performance.now() - start;
if (arrived !== count || run.state !== 'completed') throw new Error(`${arrived} of ${count} events arrived`);
process.stdout.write(String(ms));
