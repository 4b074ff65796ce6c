import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCli, runShell } from '../support/cli.ts';

const CONFIG = `
collectors:
  piped: { plugin: stdin }
processors:
  mask: { plugin: regex_mask, rules: { PIN: 'pin=[0-9]+' } }
forwarders:
  out: { plugin: disk, path: out, filename: events.jsonl }
pipelines:
  main: { collect: piped, process: mask, forward: out }
host_config: {}
`;

const linesIn = (folder: string): string[] =>
  readFileSync(join(folder, 'out/events.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((document) => JSON.parse(document).data.line);

const withConfig = (config = CONFIG) => folderWith({ 'p.yaml': config });

describe('millrace run with stdin', () => {
  it.each([
    ['a pipe', "printf 'pin=1 a\\nb' | millrace run p.yaml"],
    ['a pipe, with --once', "printf 'pin=1 a\\nb' | millrace run p.yaml --once"],
    ['a file', 'millrace run p.yaml < in.log'],
    ['a writer that is slow', "(printf 'pin='; sleep 0.3; printf '1 a\\nb') | millrace run p.yaml"],
  ])('ends with %s, although pipelines are restarted by default', async (_, script) => {
    const cwd = withConfig();
    writeFileSync(join(cwd, 'in.log'), 'pin=1 a\nb');
    const { code, stderr } = await runShell(script, { cwd });
    expect(stderr).toMatch(/^main {2}completed/m);
    expect(code).toBe(0);
    expect(linesIn(cwd)).toEqual(['<:PIN:> a', 'b']);
  });

  it.each(['millrace run p.yaml < /dev/null', 'true | millrace run p.yaml', 'millrace run p.yaml <&-'])(
    'ends at once where there is nothing to read: %s',
    async (script) => {
      const { code, stderr } = await runShell(script, { cwd: withConfig() });
      expect(stderr).toMatch(/^ {2}in +0 /m);
      expect(code).toBe(0);
    },
  );

  it('masks the same lines with workers, in order', async () => {
    const cwd = withConfig(CONFIG.replace('forward: out }', 'forward: out, workers: 2 }'));
    const lines = Array.from({ length: 30_000 }, (_, n) => `line ${n} pin=${n} ä`);
    writeFileSync(join(cwd, 'in.log'), `${lines.join('\n')}\n`);
    const { code } = await runShell('cat in.log | millrace run p.yaml', { cwd });
    expect(code).toBe(0);
    expect(linesIn(cwd)).toEqual(lines.map((_, n) => `line ${n} <:PIN:> ä`));
  });

  it('stops at SIGTERM with what it has read delivered, although the writer goes on', async () => {
    const cwd = withConfig();
    const script = `
      mkfifo pipe; exec 3<>pipe; printf 'one\\n' >&3
      millrace run p.yaml < pipe & pid=$!
      until grep -q one out/events.jsonl 2>/dev/null; do sleep 0.05; done
      printf 'two\\n' >&3
      until grep -q two out/events.jsonl; do sleep 0.05; done
      kill -TERM $(pgrep -P $pid); wait $pid`;
    const { code, stderr } = await runShell(script, { cwd });
    expect(stderr).toMatch(/^main {2}stopped/m);
    expect(code).toBe(0);
    expect(linesIn(cwd)).toEqual(['one', 'two']);
  });

  /** Stops a run whose forwarder fails, with this in the pipe. */
  const stopWhileFailing = (cwd: string, input: string) =>
    runShell(
      `
      mkfifo pipe; exec 3<>pipe; printf '${input}' >&3
      millrace run p.yaml --drain-timeout 0 < pipe 2> log & pid=$!
      until grep -qE 'trying again|starting again' log; do sleep 0.05; done
      kill -TERM $(pgrep -P $pid); wait $pid; code=$?; cat log >&2; exit $code`,
      { cwd },
    );

  it.each([
    ['are retried', '{ plugin: http, url: "http://127.0.0.1:9" }'],
    ['wait for the next run', '{ plugin: disk, path: p.yaml, filename: events.jsonl }'],
  ])('fails if a stop gives up lines that %s, for they cannot be read again', async (_, forwarder) => {
    const cwd = withConfig(CONFIG.replace(/out: .*/, `out: ${forwarder}`));
    const { code, stderr } = await stopWhileFailing(cwd, 'one\\ntwo\\n');
    expect(stderr).toContain(
      'main: 2 events lost: the stop did not wait for them any longer, and standard input cannot be read again; the exit code is 1',
    );
    expect(code).toBe(1);
  });

  it('fails if a stop leaves lines that were read from the pipe', async () => {
    const config = CONFIG.replace(/out: .*/, 'out: { plugin: http, url: "http://127.0.0.1:9" }');
    const cwd = withConfig(config.replace('forward: out }', 'forward: out, max_in_flight: 2 }'));
    const { code, stderr } = await stopWhileFailing(cwd, 'one\\ntwo\\nthree\\nfo');
    expect(stderr).toContain('main: 2 events and 8 bytes lost: the stop did not wait for them any longer');
    expect(code).toBe(1);
  });

  it('refuses compressed input, in which masks would find nothing', async () => {
    const { code, stderr } = await runShell('echo pin=1 | gzip | millrace run p.yaml --once', {
      cwd: withConfig(),
    });
    expect(stderr).toContain('main: failed: collector piped: standard input is gzip');
    expect(code).toBe(1);
  });

  it('refuses a folder, which would look like an input without lines', async () => {
    const { code, stderr } = await runShell('millrace run p.yaml < .', { cwd: withConfig() });
    expect(stderr).toContain(
      'main: failed: collector piped: standard input is a folder; expected a file or a pipe',
    );
    expect(code).toBe(1);
  });

  it('is refused in two pipelines, for each line is read once', async () => {
    const cwd = withConfig(
      CONFIG.replace('host_config', '  other: { collect: piped, forward: out }\nhost_config'),
    );
    const { code, stderr } = await runCli(['validate', 'p.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /p\.yaml:10:12: pipelines\.other\.collect\[0\]: `piped` reads standard input, which `piped` of pipeline `main` reads already/,
    );
  });
});
