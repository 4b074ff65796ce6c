import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startProcess } from '../support/cli.ts';
import { installed } from '../support/installed.ts';

const FILES = {
  'in.log': 'KEY::0123456789\n',
  'p.yaml': `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { KEY: 'KEY::[0-9]{10}' } } }
forwarders: { out: { plugin: disk, path: ., filename: out.jsonl } }
pipelines: { main: { collect: log, process: mask, forward: out } }
host_config: {}
`,
};
const STORE = { 'state/state.mdb': 'of a run that was killed' };
const REFUSED =
  /^millrace: cannot load lmdb, which keeps the state: No native build was found for [^\n]*; install .*$/m;

/** As where packages were copied from a machine of another kind. */
const onAnother = (files: Readonly<Record<string, string>>) => installed(files, ['@lmdb']);

async function run(cli: string, cwd: string, ...args: readonly string[]) {
  return startProcess(process.execPath, [cli, ...args], { cwd }).ended();
}

describe('where lmdb does not load', () => {
  it('a run is refused before anything is read, and a state is left as it is', async () => {
    const { folder, cli } = await onAnother({ ...FILES, ...STORE });
    const { code, stderr } = await run(cli, folder, 'run', 'p.yaml', '--once', '--state-dir', 'state');
    expect([code, stderr]).toEqual([2, expect.stringMatching(REFUSED)]);
    expect(existsSync(join(folder, 'out.jsonl'))).toBe(false);
    expect(readdirSync(join(folder, 'state'))).toEqual(['state.mdb']);
  });

  it('a state is not read, nor called broken', async () => {
    const { folder, cli } = await onAnother(STORE);
    const { code, stderr } = await run(cli, folder, 'state', '--state-dir', 'state');
    expect([code, stderr]).toEqual([2, expect.stringMatching(REFUSED)]);
  });

  it('a run without a state goes on', async () => {
    const { folder, cli } = await onAnother(FILES);
    expect(await run(cli, folder, 'run', 'p.yaml', '--once', '--no-state')).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, 'out.jsonl'))).toBe(true);
  });
});
