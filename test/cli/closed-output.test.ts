import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { abandonWriters } from '../../src/cli/signals.ts';
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
    expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
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

  it('is an error where it cannot be written for another reason', async () => {
    const { code, stderr } = await runShell('millrace schema > /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^millrace: cannot write to standard output: ENOSPC.*\n$/);
  });

  it('is said once, however often it is tried', async () => {
    const cwd = folderWith({
      'in.log': 'a\n',
      'c.yaml': `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { screen: { plugin: stdout } }
pipelines: { main: { collect: log, forward: screen, delivery: { attempts: 3 } } }
host_config: {}
`,
    });
    const { code, stderr } = await runShell('millrace run c.yaml --once --no-state > /dev/full', { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ {2}retries +2 /m);
    expect(stderr.match(/^millrace: cannot write to standard output/gm)?.length).toBe(1);
  });
});

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
