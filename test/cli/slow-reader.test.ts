import type { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { folderWith, startCli } from '../support/cli.ts';
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
  await cli.isIdle();
  stream.resume();
  return cli.ended();
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
