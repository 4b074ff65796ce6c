import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCli, runCommand } from '../support/cli.ts';
import { countTo, MODULES, THREE, withModules } from './configs.ts';

describe('millrace run', () => {
  it('writes results to standard output; log and summary to standard error', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(1200) });
    const { code, stdout, stderr } = await runCommand(['run', 'p.yaml'], { cwd });
    expect(code).toBe(0);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toHaveLength(1200);
    expect(events[1199].data.count).toBe(1200);
    expect(stderr).toMatch(/^\S+Z info {2}counting: running$/m);
    expect(stderr).toMatch(
      /\ncounting {2}completed after [\d.]+ m?s\n {2}in {8}1,200 {2}events, [\d,]+\/s\n {2}out\n {4}screen {2}1,200\n {2}dropped {7}0\n$/,
    );
    expect(stderr).not.toContain('\u001b');
  });

  it('with --once ends when there is nothing more to read, and sums up what was masked', async () => {
    const config = `
collectors: { log: { plugin: file, paths: in.log, backfill: true } }
processors:
  mask: { plugin: regex_mask, rules: { digits: '\\d+', letters: '[xy]' } }
forwarders: { archive: { plugin: disk, path: out, filename: out.jsonl } }
pipelines: { web: { collect: log, process: mask, forward: archive } }
host_config: {}
`.replace('paths: in.log', 'paths: [in.log]');
    const cwd = folderWith({ 'p.yaml': config, 'in.log': 'a 1\nb 22 x\nc 3 4\n' });
    const { code, stdout, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(
      / {2}masked +5 {2}values\n {4}digits +4\n {4}letters +1\n {2}out\n {4}archive +3\n/,
    );
  });

  it.each(['*.none', 'none.log'])(
    'with --once, fails if `paths` name no file, unless that may be: %s',
    async (name) => {
      const config = (more = '') => `
collectors: { log: { plugin: file, paths: [in.log, '${name}'], backfill: true${more} } }
pipelines: { main: { collect: log, forward: screen } }
forwarders: { screen: { plugin: stdout } }
host_config: {}
`;
      const cwd = folderWith({
        'p.yaml': config(),
        'allowed.yaml': config(', allow_missing: true'),
        'in.log': 'a\n',
      });
      const failed = await runCommand(['run', 'p.yaml', '--once', '--no-state'], { cwd });
      expect(failed.code).toBe(1);
      expect(failed.stdout).toContain('"line":"a"');
      expect(failed.stderr).toMatch(
        /main: .*cannot read .*none.*: .*; correct `paths`, or set `allow_missing: true` if that may be/,
      );
      const allowed = await runCommand(['run', 'allowed.yaml', '--once', '--no-state'], { cwd });
      expect(allowed.code).toBe(0);
      expect(allowed.stdout).toContain('"line":"a"');
    },
  );

  it.each([
    ['a folder', (path: string) => fs.mkdirSync(path), 'give the name of a file'],
    ['a symbolic link', (path: string) => fs.symlinkSync('elsewhere', path), 'none is followed'],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ])('fails when the output can never be a file: %s is there', async (_, put, advice) => {
    const config = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { archive: { plugin: disk, path: ., filename: out.jsonl } }
pipelines: { main: { collect: log, forward: archive, restart: false } }
host_config: {}
`;
    const cwd = folderWith({ 'p.yaml': config, 'in.log': 'a\n' });
    put(join(cwd, 'out.jsonl'));
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect([code, stderr.includes(advice)]).toEqual([1, true]);
  });

  it('runs what it only warns of, such as a rule that masks nothing', async () => {
    const config = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { IDLE: '', KEY: 'k[0-9]+' } } }
forwarders: { archive: { plugin: disk, path: ., filename: out.jsonl } }
pipelines: { main: { collect: log, process: mask, forward: archive } }
host_config: {}
`;
    const cwd = folderWith({ 'p.yaml': config, 'in.log': 'a k1\n' });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('so it masks nothing') });
    expect(fs.readFileSync(join(cwd, 'out.jsonl'), 'utf8')).toContain('a <:KEY:>');
  });

  it('gives a processor as many events as it waits for, up to max_in_flight', async () => {
    const config = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { gather: { plugin: ./gather.mjs } }
forwarders: { archive: { plugin: disk, path: out, filename: out.jsonl } }
pipelines: { main: { collect: log, process: gather, forward: archive } }
host_config: {}
`;
    const gather = `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
const waiting = [];
export const process = ({ event }) => new Promise((resolve) => {
  waiting.push(() => resolve(event));
  if (waiting.length === 1000) for (const go of waiting.splice(0)) go();
});`;
    const cwd = folderWith({ 'p.yaml': config, 'gather.mjs': gather, 'in.log': 'a\n'.repeat(3000) });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect([code, /archive +3,000/.test(stderr)]).toEqual([0, true]);
  });

  describe('that a plugin fails on some events of', () => {
    const failing = (delivery: string, once: 'processor' | 'forwarder') => `
collectors: { numbers: { plugin: test, count: 3, interval: 0.001 } }
processors: { picky: { plugin: ./picky.mjs } }
forwarders: { none: { plugin: noop }, refusing: { plugin: ./refusing.mjs }, dead: { plugin: disk, path: dead } }
pipelines:
  main: { collect: numbers, ${once === 'processor' ? 'process: picky, forward: none' : 'forward: refusing'}, delivery: ${delivery} }
host_config: {}
`;
    const modules = {
      'picky.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ event }) => { if (event.data.count === 2) throw new Error('no'); return event; };`,
      'refusing.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = ({ event }) => { if (event.data.count > 1) throw new Error('no'); };`,
    };

    it.each([
      ['{}', 'processor', '1 event lost'],
      ['{ attempts: 1 }', 'forwarder', '2 events lost'],
    ] as const)('fails if they are lost, and says so at any log level: %s', async (delivery, which, lost) => {
      const cwd = folderWith({ 'p.yaml': failing(delivery, which), ...modules });
      const { code, stderr } = await runCommand(['run', 'p.yaml', '--once', '--log-level', 'error'], { cwd });
      expect(code).toBe(1);
      expect(stderr).toContain(
        `main: ${lost}: a plugin or the condition of a route failed on them and the pipeline has no \`delivery.dead_letter\``,
      );
    });

    it.each([
      ['{ dead_letter: dead }', 'processor'],
      ['{ attempts: 1, dead_letter: dead }', 'forwarder'],
    ] as const)('does not fail if a dead letter has them: %s', async (delivery, which) => {
      const cwd = folderWith({ 'p.yaml': failing(delivery, which), ...modules });
      const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
      expect(code).toBe(0);
      expect(stderr).not.toContain('lost');
    });
  });

  it('with --pipeline runs the named pipelines only, disabled ones never', async () => {
    const config = `${countTo(3)}`.replace(
      'host_config',
      '  other: { collect: numbers, forward: screen, restart: false }\nhost_config',
    );
    const cwd = folderWith({ 'p.yaml': config });
    const one = await runCommand(['run', 'p.yaml', '--pipeline', 'other'], { cwd });
    expect(one.code).toBe(0);
    expect(one.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(one.stderr).toContain('\nother  completed');
    expect(one.stderr).not.toContain('\ncounting  ');
    const both = await runCommand(['run', '--pipeline=other', '--pipeline', 'counting', 'p.yaml'], { cwd });
    expect(both.stdout.trimEnd().split('\n')).toHaveLength(6);
  });

  it.each([
    [['--pipeline', 'wbe'], '--pipeline wbe: p.yaml has no such pipeline. Did you mean `web`?'],
    [['--pipeline', 'nothing'], 'It has `web`, `api`, `old`.'],
    [['--pipeline', 'constructor'], '--pipeline constructor: p.yaml has no such pipeline.'],
    [['--pipeline', 'web', '--pipeline', 'old'], '--pipeline old: disabled: p.yaml says "enabled: false"'],
  ])('%j starts nothing and says why', async (args, message) => {
    const cwd = folderWith({ 'p.yaml': THREE });
    const { code, stdout, stderr } = await runCommand(['run', 'p.yaml', ...args], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('running');
  });

  it('says that there are no pipelines', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(1).replace(/pipelines:\n.*\n/, 'pipelines: {}\n') });
    const { code, stderr } = await runCommand(['run', 'p.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('p.yaml: nothing to run: `pipelines` is empty');
  });

  it('runs a configuration whose tests are wrong, and warns of them and of what is not used', async () => {
    const unused = countTo(2).replace('forwarders:', '  more: { plugin: test }\nforwarders:');
    const cwd = folderWith({ 'p.yaml': `${unused}tests: { one: { colect: {} } }\n` });
    const { code, stdout, stderr } = await runCommand(['run', 'p.yaml'], { cwd });
    expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 0, lines: 2 });
    expect(stderr).toMatch(/warn {2}p\.yaml:4:3: collectors\.more: no pipeline uses it$/m);
    expect(stderr).toMatch(/warn {2}p\.yaml:10:1: tests: \d errors in the tests, which are ignored here/);
    expect((await runCommand(['graph', 'p.yaml'], { cwd })).code).toBe(0);
    expect((await runCommand(['validate', 'p.yaml'], { cwd })).code).toBe(2);
  });

  it('says that every pipeline is disabled', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(1, ', enabled: false') });
    const { code, stderr } = await runCommand(['run', 'p.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('nothing to run: every pipeline says "enabled: false" (`counting`)');
  });

  it('starts nothing of a wrong configuration', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(0) });
    const { code, stdout, stderr } = await runCommand(['run', 'p.yaml'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^p\.yaml:3:\d+: collectors\.numbers\.count: /);
    expect(stderr).toContain('1 error. Nothing was started.');
  });

  it('ends with 1 if a pipeline failed, and shows nothing of an event', async () => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': withModules({ collect: './failing.mjs' }) });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--log-level', 'debug'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(/error web: failed/);
    expect(stderr).toMatch(/^web {2}failed after .*failing\.mjs/m);
    expect(stderr).not.toContain('4711');
  });

  it('ends with 70 on an unexpected error, and shows nothing of an event', async () => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': withModules({ collect: './crashing.mjs' }) });
    const brief = await runCli(['run', 'p.yaml'], { cwd });
    expect(brief.code).toBe(70);
    expect(brief.stderr).toMatch(/^millrace: unexpected error: Error at .*crashing\.mjs/m);
    expect(brief.stderr).toContain('--log-level debug');
    expect(brief.stderr).not.toMatch(/^\s+at /m);
    const full = await runCli(['run', 'p.yaml', '--log-level', 'debug'], { cwd });
    expect(full.code).toBe(70);
    expect(full.stderr).toMatch(/^\s+at .*crashing\.mjs/m);
    expect(brief.stderr + full.stderr).not.toContain('4711');
  });

  it.each(['pretty', 'json'])(
    'shows nothing of an event in the stack of an unexpected error, or in a warning (%s)',
    async (format) => {
      const plugin = `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = () => {
  process.emitWarning('the line is 4711', 'Line4711', 'CODE4711');
  setImmediate(() => setImmediate(() => {
    throw new Error('bad:\\n    at 4711 (file:///4711.js:1:1)\\n    at 4711:1:1');
  }));
  return new Promise(() => {});
};
`;
      const cwd = folderWith({ 'warning.mjs': plugin, 'p.yaml': withModules({ forward: './warning.mjs' }) });
      const args = ['run', 'p.yaml', '--log-level', 'debug', '--log-format', format];
      const { code, stderr } = await runCli(args, { cwd });
      expect(code).toBe(70);
      expect(stderr).toContain('a warning was reported by Node.js or a plugin: Error at ');
      expect(stderr).toMatch(/at .*warning\.mjs:\d+:\d+/);
      expect(stderr.replaceAll(/"?time(?:stamp)?"?[:=]"[^"]*"/g, '')).not.toContain('4711');
      if (format === 'json') for (const line of stderr.trimEnd().split('\n')) JSON.parse(line);
    },
  );

  it('with --log-format json writes one object a line, the summary too', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(2) });
    const { stderr } = await runCommand(['--log-format', 'json', 'run', 'p.yaml'], { cwd });
    const entries = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const entry of entries)
      expect(Object.keys(entry).slice(0, 3)).toEqual(['timestamp', 'level', 'message']);
    expect(entries.at(-1)).toMatchObject({
      level: 'info',
      message: expect.stringMatching(/^counting: completed after /),
      pipeline: 'counting',
      collected: 2,
      forwarded: { screen: 2 },
    });
  });

  it.each(['warn', 'error'])('with --log-level %s is silent about a run without trouble', async (level) => {
    const cwd = folderWith({ 'p.yaml': countTo(2) });
    const { code, stdout, stderr } = await runCommand(['run', 'p.yaml', '--log-level', level], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });
});
