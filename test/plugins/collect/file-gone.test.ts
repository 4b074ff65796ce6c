import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import { folderWith, runCli } from '../../support/cli.ts';

const CONFIG = `
collectors: { log: { plugin: file, paths: ['a*.log'], backfill: true, allow_missing: true } }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: log, forward: out } }
host_config: {}
`;

it('a file that was not read to its end, and is gone at the next start, is logged and counted', async () => {
  const cwd = folderWith({ 'p.yaml': CONFIG, 'a.log': 'one\n', 'a2.log': 'two\n' });
  const run = () => runCli(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
  await run();
  // As a run leaves it that was killed while its forwarder failed.
  const journal = fs.readFileSync(`${cwd}/state/state.journal`, 'utf8');
  expect(journal).toContain('"path":"a.log"');
  const { openState } = await import('../../../src/state/open-state.ts');
  const store = await openState(`${cwd}/state`);
  for (const { pipeline, collector, key, value } of store.entries()) {
    if ((value as { path?: unknown }).path !== 'a.log') continue;
    store.of(pipeline, collector).set(key, { ...(value as object), offset: 1, size: 4 });
  }
  await store.close();
  for (const name of ['a.log', 'a2.log']) fs.rmSync(`${cwd}/${name}`);
  const { code, stdout, stderr } = await run();
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /warn .*main: a\.log is gone since an earlier run: after 1 byte that were read, at least 3 bytes were not/,
  );
  expect(stderr).toMatch(/info .*main: gone, truncated or replaced since an earlier run.*: a2\.log\. Lines/);
  expect(stdout + stderr).toMatch(/lost +3 +bytes at least.*\n +lost +1 +files? that/);
});
