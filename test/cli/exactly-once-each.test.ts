import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { folderWith, runCli } from '../support/cli.ts';

const ONE_BY_ONE = `
import { appendFileSync } from 'node:fs';
import { ForwardConfigBase } from 'millrace/plugin';
export const traits = { deduplicates: true };
export const get_config_schema = () => ForwardConfigBase;
export function forward({ event, id }) {
  appendFileSync('stored', \`\${id} \${event.data.line}\\n\`);
}
`;

it('exactly once, a forwarder that takes one event for each call gets all of them, each with an id of its own', async () => {
  const expected = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  const cwd = folderWith({
    'one-by-one.mjs': ONE_BY_ONE,
    'in.log': expected.map((line) => `${line}\n`).join(''),
    'p.yaml': `
collectors:
  log: { plugin: file, paths: [in.log], backfill: true }
forwarders:
  out: { plugin: ./one-by-one.mjs }
pipelines:
  main: { collect: log, forward: out, exactly_once: true }
host_config: {}
`,
  });
  const { code, stderr } = await runCli(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
  expect(stderr).toMatch(/^main {2}completed/m);
  expect(code).toBe(0);
  const stored = readFileSync(join(cwd, 'stored'), 'utf8').split('\n').slice(0, -1);
  expect(stored.map((entry) => entry.replace(/^\S+ /, ''))).toEqual(expected);
  expect(new Set(stored.map((entry) => entry.split(' ')[0])).size).toBe(expected.length);
});
