import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { StdoutConfig } from '../../../plugins/forward/stdout.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const here = dirname(fileURLToPath(import.meta.url));

/** Writes events in a process of its own; what becomes of them goes to standard error. */
const program = (input: object, turns: number) => `
  import { forward, forwardBatch } from '../../../plugins/forward/stdout.ts';
  const ctx = { config: ${JSON.stringify(input)} };
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

async function start(input: object, turns: number): Promise<ChildProcess> {
  const outfile = folder('program.cjs');
  await build({
    stdin: { contents: program(input, turns), resolveDir: here, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    absWorkingDir: join(here, '../../..'),
  });
  return spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'pipe'] });
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
    expect(errors).toMatch(/^PluginError false standard output was closed by whoever read it/);
    expect(errors.trimEnd().split('\n').length).toBe(1);
  });
});
