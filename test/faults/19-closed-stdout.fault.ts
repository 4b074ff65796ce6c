import { expect, it } from '@jest/globals';
import { runShell } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { fileToDisk, Trial } from './support/trial.ts';

const LINES = byForm({ short: 20_000, long: 200_000 });
/** Bytes that a pipe holds. What the kernel has taken is lost with the reader. */
const PIPE = 64 * 1024;

/** `max_in_flight` of a pipeline of lines, unless it is set. */
const IN_FLIGHT = 10_000;

const idsIn = (stdout: string) => [...stdout.matchAll(/id:(\d+):\d+;/g)].map(([, id]) => Number(id));

it.each([
  ['after some lines', 'head -n 5'],
  ['at once', 'true'],
  ['in the middle of a line', 'head -c 1000'],
])(
  'standard output closed %s: it ends well, and the next run goes on behind what was taken',
  async (_, reader) => {
    const config = fileToDisk({ forwarder: 'plugin: stdout' });
    const trial = new Trial(config);
    trial.append('in/a.log', trial.oracle.lines(LINES));
    const script = `millrace run p.yaml --once --state-dir state | ${reader}; exit $PIPESTATUS`;
    const first = await runShell(script, { cwd: trial.folder });
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('standard output was closed by its reader: stopping');
    expect(first.stderr).not.toMatch(/EPIPE|^\s+at /m);
    const taken = Number(/^ {4}out +([\d,]+)$/m.exec(first.stderr)?.[1]?.replaceAll(',', ''));

    const { code, stdout } = await trial.runOnce();
    expect(code).toBe(0);
    const rest = idsIn(stdout);
    // No line between what was taken and what comes now is left out, and what comes now is all the rest.
    expect(rest[0]).toBeLessThanOrEqual(taken);
    expect(rest).toEqual(
      Array.from({ length: LINES - (rest[0] as number) }, (_, n) => (rest[0] as number) + n),
    );
    // What was taken and not read is no more than a pipe holds, and the reader's own first look at it.
    const lineBytes = stdout.length / rest.length;
    const read = idsIn(first.stdout).length;
    expect((taken - read) * lineBytes).toBeLessThan(3 * PIPE);
    const { leaks } = trial.verdict({ logs: { reader: first.stdout, run: first.stderr, next: stdout } });
    expect(leaks).toEqual([]);
  },
);

it('other outputs of the same pipeline get every line all the same, in the end', async () => {
  const config = fileToDisk({ forwarder: 'plugin: disk, path: out, filename: out.jsonl' })
    .replace('pipelines:', '  screen: { plugin: stdout }\npipelines:')
    .replace('forward: out', 'forward: [out, screen]');
  const trial = new Trial(config);
  trial.append('in/a.log', trial.oracle.lines(LINES));
  const script = 'millrace run p.yaml --once --state-dir state | head -n 1; exit $PIPESTATUS';
  expect((await runShell(script, { cwd: trial.folder })).code).toBe(0);
  expect((await trial.runOnce()).code).toBe(0);
  const verdict = trial.verdict();
  // The file was ahead of the pipe by what was in flight.
  expect(verdict).toMatchObject({ seed: verdict.seed, lost: 0, torn: 0, leaks: [] });
  expect(verdict.doubled).toBeLessThanOrEqual(IN_FLIGHT);
});
