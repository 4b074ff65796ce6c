import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { abandonWriters } from '../../src/cli/signals.ts';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, runShell } from '../support/cli.ts';
import { countTo } from './configs.ts';

describe('standard output closed by its reader', () => {
  it('stops a run quietly', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(1_000_000) });
    const script = 'millrace run p.yaml --drain-timeout 600 | head -n 2; exit $PIPESTATUS';
    const { code, stdout, stderr } = await runShell(script, { cwd });
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toContain('standard output was closed by its reader: stopping');
    expect(stderr).not.toMatch(/EPIPE|^\s+at |warn|retries/m);
  });

  it('lets the other pipelines drain', async () => {
    const config = countTo(1_000_000)
      .replace('pipelines:', '  archive: { plugin: disk, path: out, filename: all.jsonl }\npipelines:')
      .replace('host_config', '  filing: { collect: numbers, forward: archive }\nhost_config');
    const cwd = folderWith({ 'p.yaml': config });
    const { code, stderr } = await runShell('millrace run p.yaml | head -n 1; exit $PIPESTATUS', {
      cwd,
    });
    expect(code).toBe(0);
    const filed = Number(/^ {4}archive +([\d,]+)$/m.exec(stderr)?.[1]?.replaceAll(',', ''));
    expect(filed).toBeGreaterThan(0);
    const lines = readFileSync(join(cwd, 'out/all.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(filed);
  });

  it.each(['schema', 'plugins', '--help'])('ends `%s` without a word', async (command) => {
    const { code, stderr } = await runShell(`millrace ${command} | true; exit $PIPESTATUS`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('ends `redact` with 0, as other filters', async () => {
    const { code, stdout, stderr } = await runShell(
      'seq 500000 | millrace redact | head -n 1; exit ${PIPESTATUS[1]}',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '1\n', stderr: '' });
  });

  it.each([
    ['>&-', true],
    ['> /dev/null', false],
  ])('from the start is what a run with a `stdout` forwarder warns of: %s', async (to, isWarned) => {
    const cwd = folderWith({ 'p.yaml': countTo(3) });
    const { code, stderr } = await runShell(`millrace run p.yaml --once --no-state ${to}`, { cwd });
    expect(code).toBe(0);
    expect(/warn {2}standard output is closed, so events .* are lost/.test(stderr)).toBe(isWarned);
  });

  it.each(['schema', '--version', '-V', '--help'])(
    'is an error where it cannot be written for another reason: %s',
    async (command) => {
      const { code, stderr } = await runShell(`millrace ${command} > /dev/full`);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^millrace: cannot write to standard output: ENOSPC.*\n$/);
    },
  );

  it.each([
    ['file', 'millrace run c.yaml --once --no-state > /dev/full'],
    ['file', 'millrace run c.yaml --no-state > /dev/full'],
    ['stdin', 'seq 100000 | millrace run c.yaml > /dev/full'],
    ['stdin', 'mkfifo open; exec 3<>open; echo a >&3; millrace run c.yaml < open > /dev/full'],
    ['stdin', 'echo a | millrace run c.yaml > /dev/full'],
  ])('ends a run of %s, and is said once: %s', async (plugin, script) => {
    const settings = plugin === 'file' ? ', paths: [in.log], backfill: true' : '';
    const cwd = folderWith({
      'in.log': 'a\n',
      'c.yaml': `
collectors: { log: { plugin: ${plugin}${settings} } }
forwarders: { screen: { plugin: stdout } }
pipelines: { main: { collect: log, forward: screen } }
host_config: {}
`,
    });
    const { code, stderr } = await runShell(script, { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('standard output cannot be written: stopping');
    expect(stderr.match(/^millrace: cannot write to standard output: ENOSPC/gm)?.length).toBe(1);
    expect(stderr).not.toMatch(/closed by its reader|trying again/);
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript)
  process.stderr.write('a part of closed-output.test.ts is skipped: `script` is not installed\n');

(hasScript ? it : it.skip)(
  'shows no live line among the events that the reader of a pipe prints',
  async () => {
    const run = `'${process.execPath}' '${await upToDateBuild()}' run p.yaml | head -n 2`;
    const cwd = folderWith({ 'p.yaml': countTo(1_000_000), 'in.sh': run });
    const { stdout } = await runShell("TERM=xterm script -qec 'sh in.sh' /dev/null", { cwd });
    const events = stdout.split('\r\n').filter((line) => line.includes('"data"'));
    expect(events).toHaveLength(2);
    for (const event of events) expect(event).toMatch(/^\{.*\}$/);
  },
);

describe('abandonWriters', () => {
  it('waits for the pipelines that write elsewhere, and a second more', () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    scheduler.run(({ cold, expectObservable }) => {
      const stopped = [cold<void>('5s (a|)'), cold<void>('2s (a|)')];
      expectObservable(abandonWriters(stopped)).toBe('6s (z|)', { z: 0 });
      expectObservable(abandonWriters([])).toBe('1s (z|)', { z: 0 });
    });
  });
});
