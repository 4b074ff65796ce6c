import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { runCli } from '../support/cli.ts';

/** What is loaded of the packages that are copied. A link would be resolved, and would be the copy of the command. */
const COPIED: Readonly<Record<string, readonly string[]>> = {
  millrace: ['package.json', 'dist'],
  rxjs: ['package.json', 'dist/cjs', 'dist/bundles'],
};

const folder = mkdtempSync(join(tmpdir(), 'millrace-copies-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  await upToDateBuild();
  const packages = join(folder, 'node_modules');
  const installed = join(ROOT, 'node_modules');
  for (const [name, parts] of Object.entries(COPIED)) {
    const from = name === 'millrace' ? ROOT : join(installed, name);
    for (const part of parts) cpSync(join(from, part), join(packages, name, part), { recursive: true });
  }
  for (const name of readdirSync(installed))
    if (!(name in COPIED)) symlinkSync(join(installed, name), join(packages, name));
});

/** The command is of one installed copy of millrace, and the plugins import another. */
async function run(name: string, collector: string, forwarder = '') {
  const files = {
    'p.yaml': `
collectors: { source: { plugin: ./source.mjs } }
forwarders:
  out: { plugin: ${forwarder === '' ? 'disk, path: out, filename: out.jsonl' : './out.mjs'} }
pipelines: { main: { collect: source, forward: out, delivery: { attempts: 1 } } }
host_config: {}
`,
    'source.mjs': `
import { CollectConfigBase, EventBatch, collectedEvent } from 'millrace';
export const get_config_schema = () => CollectConfigBase;
${collector}`,
    'out.mjs': `
import { ForwardConfigBase, PluginError } from 'millrace';
export const get_config_schema = () => ForwardConfigBase;
${forwarder}`,
  };
  const cwd = join(folder, name);
  mkdirSync(cwd);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
  const result = await runCli(['run', 'p.yaml', '--once', '--no-state'], { cwd });
  return { ...result, path: (file: string) => join(cwd, file) };
}

const BATCHES = `
export function* collect() {
  for (let n = 0; n < 3; n++) yield new EventBatch([collectedEvent({ n }, '2026-01-01T00:00:00.000Z')]);
}`;

describe('two installed copies of millrace, one for the command and one for a plugin', () => {
  it('deliver the batches of each other', async () => {
    const { code, stderr, path } = await run('batches', BATCHES);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('main: completed') });
    const lines = readFileSync(path('out/out.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).data)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  it('show the messages of errors of each other', async () => {
    const forward = `export const forward = () => { throw new PluginError('the archive is full'); };`;
    const { code, stderr } = await run('errors', BATCHES, forward);
    expect(code).toBe(1);
    expect(stderr).toContain('forwarder out gave up on an event: the archive is full');
  });

  it('fail a run whose collector emits a value that is not an event, instead of dropping it', async () => {
    const { code, stderr } = await run('others', "export const collect = () => [{ events: ['a'] }];");
    expect(code).toBe(1);
    expect(stderr).toContain(
      'main: failed: collector source emitted an object that is not an event; expected events: objects of the form `{ data: { … } }`',
    );
  });
});
