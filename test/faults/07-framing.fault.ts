import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import type { CliProcess } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { residentMemory } from './support/memory.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

/** What `file` reads at a time. */
const CHUNK = 64 * 1024;

interface Output {
  readonly data: { readonly line: string; readonly source: string };
  readonly truncated?: boolean;
}

const outputsOf = (trial: Trial): Output[] =>
  trial
    .text('out/out.jsonl')
    .split('\n')
    .flatMap((document) => (document === '' ? [] : [JSON.parse(document) as Output]));
const linesOf = (trial: Trial) => outputsOf(trial).map(({ data }) => data.line);

/** What one run makes of the bytes of a file. */
async function afterOneRun(bytes: Buffer | string, collector?: string): Promise<Trial> {
  const trial = new Trial(fileToDisk(collector === undefined ? {} : { collector }));
  trial.append('in/a.log', bytes);
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  return trial;
}

it('characters and keys that the end of a chunk goes through, at every byte, stay whole', async () => {
  const trial = new Trial(fileToDisk());
  const longest = 120;
  for (let shift = 0; shift < longest; shift++) {
    // One file for each byte of a line: its first line moves all others on by one more.
    let text = `${'x'.repeat(shift)}\n`;
    while (Buffer.byteLength(text) < CHUNK + longest) text += `${trial.oracle.line('é€😀')}\n`;
    trial.append(`in/${shift}.log`, text);
  }
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  expect(linesOf(trial).filter((line) => /^id/.test(line) && !line.includes(';é€😀 '))).toEqual([]);
});

it('characters and keys that the end of a write goes through, at every byte, stay whole', async () => {
  // No part of a line is taken for one, however late the rest comes.
  const trial = new Trial(fileToDisk({ paths: 'in/*', collector: 'flush_timeout: 3600' }));
  const oracle = trial.oracle;
  const texts = Array.from({ length: 100 }, () => Buffer.from(`${oracle.line('é€😀'.repeat(4))}\n`));
  texts.forEach((text, at) => {
    trial.append(`in/${at}`, text.subarray(0, at));
  });
  const child = await trial.run();
  // What comes last is read last: so the begins were.
  trial.append('in/last', oracle.lines(1));
  await trial.until(() => trial.delivered > 0);
  texts.forEach((text, at) => {
    trial.append(`in/${at}`, text.subarray(at));
  });
  await trial.allDelivered();
  await kill(child, 'SIGTERM');
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: oracle.seed });
  expect(linesOf(trial).join('')).not.toContain('\ufffd');
});

it('a last line without a newline is one event, after a while of quiet, and none more when that comes', async () => {
  const trial = new Trial(fileToDisk());
  trial.append('in/a.log', 'first\nlast');
  const child = await trial.run();
  await trial.until(() => expect(linesOf(trial)).toEqual(['first', 'last']));
  trial.append('in/a.log', '\nnext\n');
  await trial.until(() => expect(linesOf(trial)).toEqual(['first', 'last', 'next']));
  trial.append('in/a.log', 'at the end of a run');
  await kill(child, 'SIGTERM');
  await trial.runOnce();
  trial.append('in/a.log', '\n');
  await trial.runOnce();
  expect(linesOf(trial)).toEqual(['first', 'last', 'next', 'at the end of a run']);
});

it('`backfill: false` starts with the whole of a line that is being written', async () => {
  const trial = new Trial(fileToDisk({ backfill: false, collector: 'flush_timeout: 3600' }));
  // The first line of the oracle has a key in it.
  const text = `${trial.oracle.line()}\n`;
  const cut = text.indexOf('key_') + 12;
  trial.append('in/a.log', `old\n${text.slice(0, cut)}`);
  const child = await trial.run();
  trial.append('in/a.log', text.slice(cut) + trial.oracle.lines(10));
  await trial.allDelivered();
  await kill(child, 'SIGTERM');
  expect(linesOf(trial)[0]).toMatch(/^id:0:0;/);
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('`flush_timeout: null` leaves a last line without a newline to the next run, with `--once` too', async () => {
  const trial = new Trial(fileToDisk({ collector: 'flush_timeout: null' }));
  const text = `${trial.oracle.line()}\n`;
  const cut = text.indexOf('key_') + 12;
  trial.append('in/a.log', `first\n${text.slice(0, cut)}`);
  await trial.runOnce();
  expect(linesOf(trial)).toEqual(['first']);
  trial.append('in/a.log', text.slice(cut));
  await trial.runOnce();
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('CR LF ends a line, wherever a chunk ends; a CR alone is part of it', async () => {
  const before = 'x'.repeat(CHUNK - 4);
  const trial = await afterOneRun(`${before}abc\r\n\r\na\rb\r\r\nlast\r\n`);
  expect(linesOf(trial)).toEqual([`${before}abc`, '', 'a\rb\r', 'last']);
});

it('NUL bytes and bytes that are not UTF-8 hide no key', async () => {
  const key = 'key_00000000-00000000_yek';
  const wrong = [[0xff], [0xfe, 0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0x00]];
  const parts = wrong.map((bytes) => Buffer.from(bytes));
  const lines = parts.map((bytes) =>
    Buffer.concat([Buffer.from(key), bytes, Buffer.from(key), bytes, Buffer.from('\n')]),
  );
  const trial = await afterOneRun(Buffer.concat(lines));
  const shown = (bytes: Buffer) => `<:KEY:>${bytes}<:KEY:>${bytes}`;
  expect(linesOf(trial)).toEqual(parts.map(shown));
  expect(trial.verdict().leaks).toEqual([]);
});

const MB = 1024 * 1024;
const KEY_LENGTH = 'key_00000000-00000000_yek'.length;

it('a line of 10 MB comes whole and masked, and its neighbours intact', async () => {
  const trial = new Trial(fileToDisk({ collector: 'max_line_bytes: 16MiB' }));
  const { oracle } = trial;
  const half = () => 'é'.repeat(2.5 * MB);
  trial.append('in/a.log', `before\n${half()}${oracle.key()}${half()}\nafter ${oracle.key()}\n`);
  await trial.runOnce();
  expect(linesOf(trial)).toEqual(['before', `${half()}<:KEY:>${half()}`, 'after <:KEY:>']);
  expect(trial.verdict().leaks).toEqual([]);
});

it('a line that is cut is masked before, marked, and shows no part of a key that the cut goes through', async () => {
  const trial = new Trial(fileToDisk({ collector: `max_line_bytes: ${MB}` }));
  const { oracle } = trial;
  const words: string[] = [];
  // At each byte of a key, and where the part that is taken off behind the masks begins.
  for (let into = 0; into <= KEY_LENGTH; into++) {
    const keys = () => Array.from({ length: 100 }, () => oracle.key()).join('');
    const text = `${'x'.repeat(MB - into - KEY_LENGTH * 50)}${keys()}${'y'.repeat(MB)}`;
    words.push(`before-${into}`, `after-${into}`);
    trial.append('in/a.log', `before-${into}\n${text}\nafter-${into}\n`);
  }
  await trial.runOnce();
  const outputs = outputsOf(trial);
  const whole = outputs.filter(({ truncated }) => truncated !== true);
  const cut = outputs.filter(({ truncated }) => truncated === true);
  expect(whole.map(({ data }) => data.line)).toEqual(words);
  expect(cut.length).toBe(KEY_LENGTH + 1);
  expect(cut.filter(({ data }) => !/^x{500000,}$/.test(data.line))).toEqual([]);
  expect(trial.verdict().leaks).toEqual([]);
});

(process.platform === 'linux' ? it : it.skip)(
  'unfinished lines of many files share one budget: the longest are cut, as one beyond `max_line_bytes` is',
  async () => {
    const files = byForm({ short: 20, long: 60 });
    const trial = new Trial(fileToDisk({ pipeline: 'max_in_flight: 1' }));
    const text = 'x'.repeat(15 * MB);
    for (let n = 0; n < files; n++) trial.append(`in/${n}.log`, text);
    trial.append('in/z.log', `${trial.oracle.line()}\n`);
    const child = await trial.run('--read-memory', '16');
    await trial.allDelivered();
    // The lines end after some seconds of quiet.
    await trial.until(() => expect(linesOf(trial).length).toBe(files + 1));
    expect(residentMemory(child).peak).toBeLessThan(250);
    const { stderr } = await kill(child, 'SIGTERM');
    expect(stderr).toContain('unfinished lines took more than `--read-memory`');
    const cut = outputsOf(trial).filter(({ truncated }) => truncated === true);
    expect(cut.length).toBeGreaterThanOrEqual(files - 1);
    expect(cut.every(({ data }) => data.line.length <= 8 * MB)).toBe(true);
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  },
);

/** The most memory that a process has had so far, in MB. */
function peakMemory({ child }: CliProcess): number {
  const status = fs.readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

(process.platform === 'linux' ? it : it.skip)(
  'a line without end takes no more memory than one',
  async () => {
    const peaks: number[] = [];
    for (const megabytes of [2, byForm({ short: 200, long: 1000 })]) {
      const trial = new Trial(fileToDisk({ collector: `max_line_bytes: ${MB}` }));
      for (let n = 0; n < megabytes; n++) trial.append('in/a.log', 'x'.repeat(MB));
      trial.append('in/a.log', '\nafter\n');
      const child = await trial.run();
      await trial.until(() => expect(linesOf(trial).at(-1)).toBe('after'));
      peaks.push(peakMemory(child));
      await kill(child, 'SIGTERM');
    }
    const [least = 0, most = 0] = peaks;
    expect(most - least).toBeLessThan(50);
  },
);
