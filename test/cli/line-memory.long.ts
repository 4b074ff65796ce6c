import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';

const MIB = 1024 * 1024;
const LONG = ', max_line_bytes: 16777216';

/** Runs a pipeline with so many MiB for V8's heap, on lines of `bytes` bytes; the line that comes out last has `end`. */
async function run({ process = '', heap, bytes = 15 * MIB, odd = '', lines = 2, fields = LONG }: Job) {
  const cwd = folderWith({
    'p.yaml': `
collectors:
  log: { plugin: file, paths: [app.log], backfill: true${fields} }
processors:
  regex: { plugin: regex_mask, rules: { email: '[a-z]+@[a-z.]+', ip: '\\d+\\.\\d+\\.\\d+\\.\\d+' } }
  secrets: { plugin: redact }
forwarders:
  out: { plugin: disk, path: ., filename: out.jsonl }
pipelines:
  main: { collect: log, process: [${process}], forward: out }
host_config: {}
`,
  });
  const line = odd + 'some words of a log '.repeat(bytes / 20 - 2);
  writeFileSync(join(cwd, 'app.log'), `${line} ada@example.org\n`.repeat(lines));
  const args = [
    `--max-old-space-size=${heap}`,
    await upToDateBuild(),
    'run',
    'p.yaml',
    '--once',
    '--no-state',
  ];
  const { code, stderr } = await startProcess(globalThis.process.execPath, args, { cwd }).ended();
  const ends: string[] = [];
  if (code === 0) {
    for await (const text of createInterface({ input: createReadStream(join(cwd, 'out.jsonl')) })) {
      ends.push(JSON.parse(text).data.line.slice(-16));
    }
  }
  return { code, stderr, ends };
}

interface Job {
  readonly process?: string;
  readonly heap: number;
  readonly bytes?: number;
  readonly odd?: string;
  readonly lines?: number;
  readonly fields?: string;
}

describe('a line of 15 MiB', () => {
  it.each([
    ['ASCII', ''],
    ['of every language', '\u{1f600} '],
  ])('is never a string between a file and a disk, so 40 MiB of heap are enough: %s', async (_, odd) => {
    const { code, ends } = await run({ heap: 40, odd });
    expect([code, ends]).toEqual([0, Array(2).fill(' ada@example.org')]);
  });

  it('of ASCII can be masked by expressions with 80 MiB of heap', async () => {
    const { code, ends } = await run({ heap: 80, process: 'regex' });
    expect([code, ends]).toEqual([0, Array(2).fill('a log  <:email:>')]);
  });

  it('of any characters can be masked with the heap that the documentation names', async () => {
    const { code, ends, stderr } = await run({ heap: 192, process: 'secrets, regex', odd: '\u{1f600} ' });
    expect([code, ends]).toEqual([0, Array(2).fill('a log  <:email:>')]);
    expect(stderr).not.toContain('max_line_bytes');
  });
});

describe('a run with little memory', () => {
  it('says that a long line could end it, at every start again, and what to set', async () => {
    const { stderr } = await run({ heap: 64, process: 'regex', bytes: 1000 });
    expect(stderr).toContain(
      'main: a line of `max_line_bytes` (16777216 bytes) may need more memory than this process has, would end it, and ' +
        'would be read again at the next start: set `max_line_bytes` to 3355443 or less, or give V8 a heap of 192 MiB ' +
        '(NODE_OPTIONS=--max-old-space-size=192; now 64)',
    );
  });

  it('says nothing with the limit that it names, or without processors', async () => {
    const limited = await run({
      heap: 64,
      process: 'regex',
      bytes: 1000,
      fields: ', max_line_bytes: 3355443',
    });
    const plain = await run({ heap: 64, bytes: 1000 });
    expect([limited.stderr, plain.stderr].join('')).not.toContain('may need more memory');
  });

  it('masks lines that are cut at the limit that it names', async () => {
    const fields = ', max_line_bytes: 3355443';
    const { code, ends } = await run({ heap: 64, process: 'secrets, regex', odd: '\u{1f600} ', fields });
    expect([code, ends.length]).toEqual([0, 2]);
  });
});
