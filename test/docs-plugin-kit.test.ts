import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './support/build.ts';
import { blocksOf } from './support/docs/markdown.ts';
import { Workspace } from './support/docs/workspace.ts';

/** The plugins of docs/plugins.md, and what the kit has to know of each. */
const PLUGINS: Readonly<Record<string, readonly [kind: string, options: string]>> = {
  'orders.mjs': ['collect', "{ config: { path: 'orders' }, time: 'real', patience: 500 }"],
  'clean_urls.mjs': ['process', '{}'],
  'hide_orders.mjs': [
    'process',
    "{ events: ['paid ORD-12345678', 'none', 7].map((message) => ({ timestamp, data: { message } })) }",
  ],
  'webhook.mjs': ['forward', 'sink'],
  'bulk.mjs': ['forward', 'sink'],
  'heartbeat.mjs': ['collect', '{}'],
  'mask_pins.mjs': ['process', "{ secret: 'pin=1234' }"],
  'probe.mjs': ['collect', '{}'],
  'parse_json.mjs': ['process', "{ events: [{ timestamp, data: { line: '{}' } }] }"],
  'bearer.mjs': ['forward', "{ ...sink, config: () => ({ ...sink.config(), token: { file: 'token' } }) }"],
};

/** Prints what the kit finds in each of them. The sink refuses what has `refuse me` in it. */
const SCRIPT = `
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { checkPlugin } from 'millrace/testing';
const timestamp = '2026-01-01T00:00:00.000Z';
const received = [];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const lines = body.trim().split('\\n');
  const statuses = lines.map((line) => (line.includes('refuse me') ? 422 : 200));
  received.push(...lines.filter((_, index) => statuses[index] === 200));
  response.writeHead(207).end(JSON.stringify(statuses));
});
await new Promise((listening) => server.listen(0, listening));
const sink = {
  config() {
    received.length = 0;
    return { url: 'http://localhost:' + server.address().port + '/' };
  },
  time: 'real',
  delivered: () => [...received],
  refused: [{ timestamp, data: { line: 'refuse me' } }],
};
writeFileSync('token', 'a token');
mkdirSync('orders');
for (const name of ['0001', '0002', '0003']) writeFileSync('orders/' + name, name);
const found = {};
const check = async (file, kind, options) => {
  const module = await import('./' + file);
  found[file] = await checkPlugin(kind, module.default ?? module, options).then(() => 'passed', (error) => error.message);
};
CHECKS
console.log(JSON.stringify(found));
server.close();
server.closeAllConnections();
`;

describe('the plugins of docs/plugins.md', () => {
  const workspace = new Workspace({ isEmpty: true });
  const blocks = blocksOf(readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8'));
  const files = blocks.flatMap(({ attributes, text }) => {
    const file = attributes.get('file');
    return file !== undefined && text.includes('millrace/plugin') ? [{ file, text }] : [];
  });

  it('are all in the list of this test', () => {
    expect(files.map(({ file }) => file).sort()).toEqual(Object.keys(PLUGINS).sort());
  });

  it('pass the conformance kit', async () => {
    workspace.install();
    for (const { file, text } of files) workspace.write(file, text);
    const checks = Object.entries(PLUGINS).map(
      ([file, [kind, options]]) => `await check('${file}', '${kind}', ${options});`,
    );
    const path = workspace.write('kit.mjs', SCRIPT.replace('CHECKS', checks.join('\n')));
    const { stdout } = await promisify(execFile)(process.execPath, [path], { cwd: workspace.folder });
    const found: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(found).toEqual(Object.fromEntries(files.map(({ file }) => [file, 'passed'])));
  });
});
