import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runCli } from '../support/cli.ts';
import { installed } from '../support/installed.ts';

/** The command is of one installed copy of millrace, and the plugins import another. */
async function run(collector: string, forwarder = '') {
  const { folder } = await installed({
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
  });
  const result = await runCli(['run', 'p.yaml', '--once', '--no-state'], { cwd: folder });
  return { ...result, path: (name: string) => join(folder, name) };
}

const BATCHES = `
export function* collect() {
  for (let n = 0; n < 3; n++) yield new EventBatch([collectedEvent({ n }, '2026-01-01T00:00:00.000Z')]);
}`;

describe('two installed copies of millrace, one for the command and one for a plugin', () => {
  it('deliver the batches of each other', async () => {
    const { code, stderr, path } = await run(BATCHES);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('main: completed') });
    const lines = readFileSync(path('out/out.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).data)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  it('show the messages of errors of each other', async () => {
    const forward = `export const forward = () => { throw new PluginError('the archive is full'); };`;
    const { code, stderr } = await run(BATCHES, forward);
    expect(code).toBe(1);
    expect(stderr).toContain('forwarder out gave up on an event: the archive is full');
  });

  it('fail a run whose collector emits what is no event, instead of dropping it', async () => {
    const { code, stderr } = await run("export const collect = () => [{ events: ['a'] }];");
    expect(code).toBe(1);
    expect(stderr).toContain(
      'main: failed: collector source emitted an object that is no event; expected events: objects of the form `{ data: { … } }`',
    );
  });
});
