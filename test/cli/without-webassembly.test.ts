import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';

/** Batches enough that masks are planned, and bytes searched. */
const LINES = 12_000;

const linesOf = (text: string) =>
  Array.from({ length: LINES }, (_, i) => `${i} "quoted" KEY::0123456789 \\ \t${text}\n`).join('');

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

async function outputOf(flags: readonly string[], text: string, workers: number): Promise<string[]> {
  const folder = folderWith({ 'a.log': linesOf(text) });
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
  it.each([
    ['of ASCII', 'text', 1],
    ['of ASCII', 'text', 2],
    ['of others', 'é😀', 1],
    ['of others', 'é😀', 2],
  ])('writes the same lines, %s: %s, with %d workers', async (_, text, workers) => {
    const lines = await outputOf(['--jitless'], text, workers);
    expect(lines).toEqual(await outputOf([], text, workers));
    expect(lines.at(-1)).toBe(`${LINES - 1} "quoted" <:SECRET:> \\ \t${text}`);
    expect(lines).toHaveLength(LINES);
  });
});
