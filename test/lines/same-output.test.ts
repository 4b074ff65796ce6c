import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { folderWith, runCli, startCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';

const PIECES = [
  'KEY::0123456789',
  ' ',
  'x@y.de',
  '10.0.0.1',
  '"',
  '\\',
  'ä',
  '😀',
  '\0',
  '\t',
  'text',
  '\r',
  '\xff',
];

/** Behind a byte order mark, a line that only `^` masks; then lines of all kinds, some long, the last one without a newline; bytes that are no UTF-8 among them. */
function anyLines(count: number, random: () => number): Buffer {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const parts: Buffer[] = [Buffer.from('\ufefffirst of all\n')];
  for (let i = 0; i < count; i++) {
    const words = Array.from({ length: Math.floor(random() * 12) }, () => pick(PIECES));
    for (const word of words) parts.push(Buffer.from(word, word === '\xff' ? 'latin1' : 'utf8'));
    if (random() < 0.001) parts.push(Buffer.alloc(200_000, 'x'));
    parts.push(Buffer.from(pick(['\n', '\n', '\r\n'])));
  }
  return Buffer.concat([...parts, Buffer.from('last KEY::0123456789')]);
}

const config = (folder: string, workers: number) => `
collectors:
  log: { plugin: file, paths: ['${folder}/*.log'], backfill: true, max_line_bytes: 131072 }
  ticks: { plugin: test, interval: 0.001, count: 20 }
processors:
  fewer: { plugin: ./fewer.mjs, drop: 'text text' }
  secrets: { plugin: regex_mask, rules: { FIRST: '^first', SECRET: 'KEY::[0-9]{10}', EMAIL: '[a-z]+@[a-z.]+' } }
  tokens: { plugin: entropy_mask }
forwarders:
  out: { plugin: disk, path: '${folder}/out-${workers}', filename: out.jsonl }
pipelines:
  main: { collect: [log, ticks], process: [fewer, secrets, tokens], forward: out, workers: ${workers} }
host_config: {}
`;

/** A processor of somebody's, which drops some lines and fails on others. */
const FEWER = `
export const runsInWorkers = true;
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
const mapped = (line, { drop }) => {
  if (line.includes('ä ä')) throw new Error('no');
  return line.includes(drop) ? undefined : line;
};
export function process({ ctx, event }) {
  if (event.data.line === undefined) return event;
  return mapped(event.data.line, ctx.config) === undefined ? [] : event;
}
export const mapLines = ({ ctx }) => ({ map: (line) => mapped(line, ctx.config) });
`;

describe('workers', () => {
  it('write the same bytes in the same order as the main thread, and count the same', async () => {
    const random = seededRandom(7);
    const folder = folderWith();
    writeFileSync(join(folder, 'in.log'), anyLines(20_000, random));
    writeFileSync(join(folder, 'fewer.mjs'), FEWER);
    const results = [];
    for (const workers of [1, 2]) {
      writeFileSync(join(folder, `${workers}.yaml`), config(folder, workers));
      const { code, stderr } = await runCli(['run', join(folder, `${workers}.yaml`), '--once', '--no-state']);
      // Events failed, and there is no dead letter.
      expect(code).toBe(1);
      const lines = readFileSync(join(folder, `out-${workers}`, 'out.jsonl'), 'utf8')
        .replaceAll(/"timestamp":"[^"]*"/g, '')
        .split('\n');
      const isTick = (line: string) => line.includes('"count":');
      results.push({
        lines: lines.filter((line) => !isTick(line)),
        ticks: lines.filter(isTick).length,
        masked: /^ {2}masked[\s\S]*?(?=\n {2}out)/m.exec(stderr)?.[0],
        dropped: stderr.match(/^ +(?:dropped|filtered|processor_failed) +\d+/gm),
      });
    }
    expect(results[1]).toEqual(results[0]);
    const { length } = results[0]?.lines ?? [];
    expect(length).toBeLessThan(20_003);
    expect(results[0]?.dropped).toHaveLength(3);
    expect(results[0]?.lines[0]).toContain('"<:FIRST:> of all"');
    expect(results[0]?.masked).toMatch(/SECRET/);
  });

  it('leave lines to the main thread whose processor uses more of `ctx` than workers have', async () => {
    const plugin = `
export const runsInWorkers = true;
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export function process({ ctx, event }) {
  ctx.cache.seen = (ctx.cache.seen ?? 0) + 1;
  return { ...event, data: { seen: ctx.cache.seen } };
}`;
    const cwd = folderWith({
      'counting.mjs': plugin,
      'in.log': 'a line\n',
      'p.yaml': `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { numbers: { plugin: ./counting.mjs } }
forwarders: { out: { plugin: disk, path: ., filename: out.jsonl } }
pipelines: { main: { collect: log, process: numbers, forward: out, workers: 3 } }
host_config: {}
`,
    });
    const cli = await startCli(['run', 'p.yaml', '--no-state'], { cwd });
    // Until a worker has been given some: how long one takes to start is not known.
    let written = 1;
    await eventually(() => {
      appendFileSync(join(cwd, 'in.log'), 'a line\n'.repeat(1000));
      written += 1000;
      return cli.stderr.includes('processor numbers');
    }, 30_000);
    const seen = () => readFileSync(join(cwd, 'out.jsonl'), 'utf8').trimEnd().split('\n');
    await eventually(() => seen().length >= written, 30_000);
    cli.kill('SIGTERM');
    const { code, stderr } = await cli.ended();
    expect({ code, warned: stderr.match(/processor numbers .*/g) }).toEqual({
      code: 0,
      warned: [
        expect.stringContaining('declares `runsInWorkers` but uses ctx.cache, which workers do not have'),
      ],
    });
    expect(new Set(seen().map((line) => JSON.parse(line).data.seen)).size).toBe(written);
  });
});
