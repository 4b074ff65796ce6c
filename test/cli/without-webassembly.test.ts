import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';

const LINES = Array.from({ length: 500 }, (_, i) => `${i} "quoted" KEY::0123456789 \\ é\t😀\n`).join('');

const config = (folder: string, workers: number) => `
host_config: {}
collectors:
  log: { plugin: file, paths: ['${folder}/a.log'], backfill: true }
processors:
  mask: { plugin: regex_mask, rules: { SECRET: 'KEY::[0-9]{10}' } }
forwarders:
  out: { plugin: disk, path: '${folder}/out', filename: out.jsonl }
pipelines:
  main: { collect: log, process: mask, forward: out, workers: ${workers} }
`;

async function outputOf(flags: readonly string[], workers: number): Promise<string[]> {
  const folder = folderWith({ 'a.log': LINES });
  const file = join(folderWith({ 'p.yaml': config(folder, workers) }), 'p.yaml');
  const run = [await upToDateBuild(), 'run', file, '--once', '--state-dir', join(folder, 'state')];
  const { code, stderr } = await startProcess(process.execPath, [...flags, ...run]).ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('completed') });
  return readFileSync(join(folder, 'out/out.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((document) => JSON.parse(document).data.line);
}

describe('a process without WebAssembly', () => {
  it.each([1, 2])('writes the same lines, with %d workers', async (workers) => {
    const lines = await outputOf(['--jitless'], workers);
    expect(lines).toEqual(await outputOf([], workers));
    expect(lines[499]).toBe('499 "quoted" <:SECRET:> \\ é\t😀');
    expect(lines).toHaveLength(500);
  });
});
