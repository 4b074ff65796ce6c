import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runCommand } from '../support/cli.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();

const MASKS = `
processors:
  known: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }
  random: { plugin: entropy_mask }
`;

/** Runs a configuration to its end; the events that it wrote. */
async function written(config: string) {
  const dir = folder();
  writeFileSync(join(dir, 'config.yaml'), config.replaceAll('DIR', dir));
  const { code, stderr } = await runCommand(['run', join(dir, 'config.yaml'), '--once', '--no-state']);
  const file = join(dir, 'out.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return { code, stderr, events: lines.map((line) => JSON.parse(line)) };
}

describe('bad data, from a file or a plugin through both masks to a file', () => {
  it('carries lines that are not UTF-8, NUL bytes and CRLF, masked beside them', async () => {
    const log = folder('bad.log');
    writeFileSync(
      log,
      Buffer.concat([
        Buffer.from('one k-1 '),
        Buffer.from([0xff, 0xfe, 0xc3]),
        Buffer.from(' k-2\ntwo \0 k-3\r\n\nlast k-4'),
      ]),
    );
    const { code, events } = await written(`
collectors: { log: { plugin: file, paths: ['${log}'], backfill: true } }
${MASKS}
forwarders: { out: { plugin: disk, path: DIR, filename: out.jsonl } }
pipelines: { main: { collect: log, process: [known, random], forward: out, restart: false } }
host_config: {}
`);
    expect(code).toBe(0);
    expect(events.map(({ data }) => data.line)).toEqual([
      'one <:KEY:> \ufffd\ufffd\ufffd <:KEY:>',
      'two \0 <:KEY:>',
      '',
      'last <:KEY:>',
    ]);
  });

  it('keeps __proto__ and constructor as data, and numbers and null where text is expected', async () => {
    const plugin = folder('odd.mjs');
    writeFileSync(
      plugin,
      `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export function* collect() {
  yield { timestamp: '2026-01-01T00:00:00.000Z', data: JSON.parse('{"__proto__":{"polluted":"k-1"},"constructor":"k-2","n":7,"nothing":null}') };
}
export const process = ({ event }) => {
  if ({}.polluted !== undefined) throw new Error('Object.prototype is polluted');
  return [event];
};
`,
    );
    const { code, events } = await written(`
collectors: { odd: { plugin: '${plugin}' } }
${MASKS}  watch: { plugin: '${plugin}' }
forwarders: { out: { plugin: disk, path: DIR, filename: out.jsonl } }
pipelines: { main: { collect: odd, process: [known, random, watch], forward: out, restart: false } }
host_config: {}
`);
    expect(code).toBe(0);
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events[0].data)).toBe(
      '{"__proto__":{"polluted":"<:KEY:>"},"constructor":"<:KEY:>","n":7,"nothing":null}',
    );
  });
});

it('examples/host-metrics.yaml runs against this machine', async () => {
  const { code, stdout } = await runCommand(['run', 'examples/host-metrics.yaml', '--once']);
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(events.some(({ beacon }) => beacon === 'memusage')).toBe(true);
  expect(events.some(({ data }) => typeof data.ret === 'object')).toBe(true);
});
