import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { folderWith, runCli, runCommand, startCli } from '../support/cli.ts';
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
export const traits = { pure: true };
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

/** Hands on each event, and hides from the next processor that it is a line. */
const SINGLE = `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ event }) => event;
`;

/** Ordinary lines, lines with secrets in many forms, and private keys over several lines, some of them without an end. */
function linesWithSecrets(count: number, random: () => number): string {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const letters = (length: number) =>
    Array.from({ length }, () => pick([...'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'])).join(
      '',
    );
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const pieces = [
    () => `GET /orders/${letters(6)} 200`,
    () => `password=${letters(16)}`,
    () => JSON.stringify({ user: 'ada', apiKey: letters(32) }),
    () => JSON.stringify({ body: JSON.stringify({ client_secret: letters(24) }) }),
    () => `postgres://app:${letters(14)}@db.example/main`,
    () => `Authorization: Basic ${base64(`ada:${letters(12)}`)}`,
    () => `next=%3Ftoken%3D${letters(24)}`,
    () => `token ghp_${letters(36)} was refused`,
    () => `TICKET-${Math.floor(random() * 1e8)}`,
    () => 'ä ä',
    () => 'text text',
    () => '😀 \0 \t "',
    () => '',
  ];
  const blockOf = (lines: number) => [
    `${pick(['', 'key: '])}-----BEGIN RSA PRIVATE KEY-----`,
    ...Array.from({ length: lines }, () => letters(64)),
    ...pick([['-----END RSA PRIVATE KEY----- and more'], ['-----END RSA PRIVATE KEY-----'], []]),
  ];
  const lines: string[] = [];
  while (lines.length < count) {
    if (random() < 0.02) lines.push(...blockOf(Math.floor(random() * 15)));
    else lines.push(Array.from({ length: Math.floor(random() * 4) }, () => pick(pieces)()).join(' '));
  }
  return `${lines.join('\n')}\n`;
}

/** Compares results, of their long texts the first line that differs alone: Jest takes minutes to compare all lines. */
function expectSame<T extends object>(one: T | undefined, other: T | undefined): void {
  const linesOf = (result: T | undefined) =>
    Object.entries(result ?? {}).flatMap(([name, value]) =>
      (typeof value === 'string' ? value.split('\n') : [JSON.stringify(value)]).map(
        (line, n) => `${name}:${n + 1}: ${line}`,
      ),
    );
  const [lines, others] = [linesOf(one), linesOf(other)];
  const length = Math.max(lines.length, others.length);
  const at = Array.from({ length }).findIndex((_, n) => lines[n] !== others[n]);
  expect(lines[at]).toBe(others[at]);
}

describe('redact', () => {
  it.each([
    ['with packs, blocks and encodings', 'blocks: { lines: 12, timeout: 600 }', ''],
    ['without blocks', 'blocks: false', 'workers: 2'],
    ['with an audit', 'blocks: { timeout: 600 }, audit: { path: FOLDER/audit.jsonl }', ''],
  ])('%s does the same to lines together as to single events', async (_, fields, alsoWith) => {
    const results = [];
    const input = linesWithSecrets(2000, seededRandom(11));
    const ways = [
      { process: 'single, fewer, secrets', pipeline: '' },
      { process: 'fewer, secrets', pipeline: '' },
      ...(alsoWith === '' ? [] : [{ process: 'fewer, secrets', pipeline: `${alsoWith},` }]),
    ];
    for (const { process, pipeline } of ways) {
      const folder = folderWith({
        'in.log': input,
        'fewer.mjs': FEWER,
        'single.mjs': SINGLE,
      });
      const config = `
collectors: { log: { plugin: file, paths: ['${folder}/in.log'], backfill: true } }
processors:
  single: { plugin: ./single.mjs }
  fewer: { plugin: ./fewer.mjs, drop: 'text text' }
  secrets: { plugin: redact, rules: { TICKET: 'TICKET-[0-9]+' }, ${fields.replace('FOLDER', folder)} }
forwarders:
  out: { plugin: disk, path: '${folder}', filename: out.jsonl }
  dead: { plugin: disk, path: '${folder}', filename: dead.jsonl }
pipelines:
  main: { collect: log, process: [${process}], forward: out, ${pipeline} delivery: { dead_letter: dead } }
host_config: {}
`;
      writeFileSync(join(folder, 'p.yaml'), config);
      const args = ['run', join(folder, 'p.yaml'), '--once', '--state-dir', join(folder, 'state')];
      const written = (name: string) =>
        existsSync(join(folder, name))
          ? readFileSync(join(folder, name), 'utf8')
              .replaceAll(/"(?:timestamp|time)":"[^"]*"/g, '')
              .replaceAll(folder, '')
          : '';
      const { code, stderr } = await runCommand(args);
      const [out, dead, audit] = ['out.jsonl', 'dead.jsonl', 'audit.jsonl'].map(written);
      // What was acknowledged does not come again, in a process of its own.
      appendFileSync(join(folder, 'in.log'), 'TICKET-1 is the last line\n');
      const again = await runCli(args);
      expect(again.code).toBe(0);
      results.push({
        code,
        out,
        dead,
        audit,
        counts: stderr.match(/^ +[a-zA-Z_:/.-]+ +\d+$/gm),
        later: written('out.jsonl').slice(out?.length),
      });
    }
    const [single, ...others] = results;
    for (const other of others) expectSame(other, single);
    expect(single?.out?.split('\n').length).toBeGreaterThan(1000);
    expect(single?.dead?.split('\n').length).toBeGreaterThan(10);
    expect(single?.later?.match(/"line":"[^"]*"/g)).toEqual(['"line":"<:TICKET:> is the last line"']);
    expect(single?.out).not.toMatch(/TICKET-\d|ghp_/);
    expect(single?.counts?.join()).toMatch(/TICKET +\d{3}/);
  });
});

describe('workers', () => {
  it('write the same bytes in the same order as the main thread, and count the same', async () => {
    const random = seededRandom(7);
    const folder = folderWith();
    writeFileSync(join(folder, 'in.log'), anyLines(20_000, random));
    writeFileSync(join(folder, 'fewer.mjs'), FEWER);
    const results = [];
    for (const workers of [1, 2]) {
      writeFileSync(join(folder, `${workers}.yaml`), config(folder, workers));
      const { code, stderr } = await runCommand([
        'run',
        join(folder, `${workers}.yaml`),
        '--once',
        '--no-state',
      ]);
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
export const traits = { pure: true };
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
    });
    const seen = () => readFileSync(join(cwd, 'out.jsonl'), 'utf8').trimEnd().split('\n');
    await eventually(() => seen().length >= written);
    cli.kill('SIGTERM');
    const { code, stderr } = await cli.ended();
    expect({ code, warned: stderr.match(/processor numbers .*/g) }).toEqual({
      code: 0,
      warned: [
        expect.stringContaining('declares the trait `pure` but uses ctx.cache, which workers do not have'),
      ],
    });
    expect(new Set(seen().map((line) => JSON.parse(line).data.seen)).size).toBe(written);
  });
});
