import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type CliProcess, folderWith, startCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';

/** More than the pipe and the buffers of both processes hold. */
const MISTAKES = 4000;

const manyProblems = () => {
  const entries = Array.from(
    { length: MISTAKES },
    (_, i) => `  wrong_${i}: { plugin: disk, pathh: somewhere }`,
  );
  return `forwarders:\n${entries.join('\n')}\n`;
};

const manyPipelines = () => {
  const names = Array.from(
    { length: 600 },
    (_, i) => `  pipeline_with_a_long_name_${i}: { collect: a, forward: b }`,
  );
  return `collectors: { a: { plugin: test } }\nforwarders: { b: { plugin: noop } }\npipelines:\n${names.join('\n')}\nhost_config: {}\n`;
};

/** Runs a command, and reads a stream of it only when the command has ended or cannot go on without that. */
async function readLate(args: readonly string[], cwd: string, name: 'stdout' | 'stderr') {
  const cli = await startCli(args, { cwd });
  const stream = cli.child[name] as Readable;
  stream.pause();
  await eventually(() => stream.readableLength > 0);
  await idle(cli);
  stream.resume();
  return cli.ended();
}

/** Resolves when the process has ended, or has used no processor time for far longer than a turn takes. */
async function idle({ child }: CliProcess): Promise<void> {
  const used = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ').slice(13, 15).join(' ');
  let before = '';
  while (child.exitCode === null && used() !== before) {
    before = used();
    await delay(250);
  }
}

describe('a reader that is slow', () => {
  it('gets every problem', async () => {
    const cwd = folderWith({ 'many.yaml': manyProblems() });
    const { code, stderr } = await readLate(['validate', 'many.yaml'], cwd, 'stderr');
    expect(code).toBe(2);
    expect(stderr.length).toBeGreaterThan(500_000);
    expect(stderr.match(/unknown key `pathh`/g)).toHaveLength(MISTAKES);
    expect(stderr).toMatch(/\n\n[\d,]+ errors\. Nothing was started\.\n$/);
  });

  it('gets all of a result', async () => {
    const cwd = folderWith({ 'many.yaml': manyPipelines() });
    const { code, stdout } = await readLate(['graph', 'many.yaml', '--format', 'svg'], cwd, 'stdout');
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(500_000);
    expect(stdout).toMatch(/<\/svg>\n$/);
  });
});
