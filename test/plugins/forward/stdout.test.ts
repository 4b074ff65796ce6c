import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { build } from 'esbuild';
import { lastValueFrom, toArray } from 'rxjs';
import { ResumingWriter } from '../../../operators/files/append/resuming-writer.ts';
import { StdoutConfig } from '../../../plugins/forward/stdout.ts';
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
if (noSmallDisk !== undefined) process.stderr.write(`a part of stdout.test.ts is skipped: ${noSmallDisk}\n`);
const onSmallDisk = noSmallDisk === undefined ? describe : describe.skip;
const here = dirname(fileURLToPath(import.meta.url));

/** Writes events in a process of its own; what becomes of them goes to standard error. */
const program = (input: object, turns: number) => `
  import { forward, forwardBatch } from '../../../plugins/forward/stdout.ts';
  const ctx = { config: ${JSON.stringify(input)}, stats: { bytes() {} } };
  const event = { timestamp: 't', data: { n: 1 }, big: 'x'.repeat(1000) };
  let turn = 0;
  function next() {
    if (turn++ === ${turns}) return console.error('done');
    const work = turn % 2 ? forward({ ctx, event }) : forwardBatch({ ctx, events: [event, event] });
    work.subscribe({
      complete: next,
      error: (error) => console.error(error.name, error.permanent === true, error.message),
    });
  }
  next();
`;

/** Writes events until each is written; says why not on standard error. */
const retrying = (turns: number) => `
  import { forward } from '../../../plugins/forward/stdout.ts';
  const ctx = { config: { pretty_print: false }, stats: { bytes() {} } };
  let turn = 0;
  function next() {
    if (turn === ${turns}) return console.error('done');
    const event = { data: {}, n: turn + 1, big: 'x'.repeat(1000) };
    forward({ ctx, event }).subscribe({
      complete: () => {
        turn++;
        next();
      },
      error: (error) => {
        console.error(error.message);
        setTimeout(next, 20);
      },
    });
  }
  next();
`;

async function start(input: object, turns: number): Promise<ChildProcess> {
  const outfile = await bundled(program(input, turns));
  return spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function bundled(contents: string): Promise<string> {
  const outfile = folder('program.cjs');
  await build({
    stdin: { contents, resolveDir: here, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    absWorkingDir: join(here, '../../..'),
  });
  return outfile;
}

/** The lines of a stream, one by one. */
function readline(input: Readable): { next(): Promise<string | undefined> } {
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  return { next: async () => (await lines.next()).value };
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}

describe('stdout forwarder', () => {
  it('indents only if asked to, by default', () => {
    expect(StdoutConfig.parse({ plugin: 'stdout' })).toEqual({ plugin: 'stdout', pretty_print: false });
  });

  it('writes one JSON document per line', async () => {
    const child = await start({ pretty_print: false }, 2);
    const [out, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).data)).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    expect(errors).toBe('done\n');
  });

  it('indents if asked to', async () => {
    const child = await start({ pretty_print: true }, 1);
    expect(await textOf(child.stdout)).toMatch(
      /^\{\n {2}"timestamp": "t",\n {2}"data": \{\n {4}"n": 1\n {2}\},\n/,
    );
  });

  it('fails, with a clear word, when its reader is gone', async () => {
    const child = await start({ pretty_print: false }, 1e9);
    child.stdout?.once('data', () => child.stdout?.destroy());
    const errors = await textOf(child.stderr);
    expect(errors).toMatch(/^PluginError false standard output was closed by its reader/);
    expect(errors.trimEnd().split('\n').length).toBe(1);
  });
});

onSmallDisk('standard output on a full disk', () => {
  it('loses no part of a line that the disk had no room for, and goes on when there is room', async () => {
    const disk = smallDisk(256);
    disk.leave(8 * 1024);
    const path = join(disk.path, 'out');
    const out = fs.openSync(path, 'w');
    const outfile = await bundled(retrying(40));
    const child = spawn(process.execPath, [outfile], { stdio: ['ignore', out, 'pipe'] });
    fs.closeSync(out);
    const errors = readline(child.stderr as Readable);
    expect(await errors.next()).toMatch(/^cannot write to standard output: ENOSPC.*make room on that disk$/);
    expect(fs.statSync(path).size).toBe(8 * 1024);
    disk.leave(128 * 1024);
    while ((await errors.next()) !== 'done');
    const lines = fs.readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });
});

describe('a writer that resumes', () => {
  const write = (writer: ResumingWriter, text: string) => lastValueFrom(writer.write(text).pipe(toArray()));
  /** Lets `count` bytes through, then fails. */
  const failAfter = (count: number) => {
    const real = fs.write as unknown as (...args: unknown[]) => void;
    let left = count;
    jest.spyOn(fs, 'write').mockImplementation(((...args: unknown[]) => {
      const next = args.at(-1) as (error: Error) => void;
      if (left === 0) {
        process.nextTick(next, Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }));
        return;
      }
      args[3] = Math.min(left, args[3] as number);
      left -= args[3] as number;
      real(...args);
    }) as never);
  };
  const opened = () => {
    const fd = fs.openSync(folder('out'), 'w');
    return { writer: new ResumingWriter(fd, 'it'), text: () => fs.readFileSync(folder('out'), 'utf8') };
  };
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['the same', ['one\ntwo\n'], 'one\ntwo\n'],
    ['its parts, one by one', ['one\n', 'two\n'], 'one\ntwo\n'],
    ['something else', ['three\n'], 'one\ntwo\nthree\n'],
    ['something else, then the same', ['three\n', 'one\ntwo\n'], 'one\ntwo\nthree\n'],
    ['more', ['one\ntwo\nthree\n'], 'one\ntwo\nthree\n'],
  ])('doubles nothing when what follows is %s', async (_, following, expected) => {
    const { writer, text } = opened();
    failAfter(6);
    await expect(write(writer, 'one\ntwo\n')).rejects.toThrow('cannot write to it: ENOSPC');
    jest.restoreAllMocks();
    for (const next of following) await write(writer, next);
    await write(writer, 'end\n');
    expect(text()).toBe(`${expected}end\n`);
  });

  it('tears and doubles nothing of two users who fail in turns, with memory that is used again', async () => {
    const { writer, text } = opened();
    const memory = Buffer.from('one\ntwo\n');
    failAfter(2);
    await expect(lastValueFrom(writer.write(memory))).rejects.toThrow('ENOSPC');
    memory.fill('x');
    jest.restoreAllMocks();
    failAfter(7);
    await expect(write(writer, 'three\n')).rejects.toThrow('ENOSPC');
    jest.restoreAllMocks();
    await write(writer, 'one\ntwo\n');
    await write(writer, 'three\n');
    expect(text()).toBe('one\ntwo\nthree\n');
  });

  it('doubles nothing that was cancelled when it had begun', async () => {
    const { writer, text } = opened();
    writer.write('one\n').subscribe().unsubscribe();
    await write(writer, 'one\n');
    await write(writer, 'one\n');
    expect(text()).toBe('one\none\n');
  });
});
