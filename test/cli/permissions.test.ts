import fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, runCli, startProcess } from '../support/cli.ts';

const CONFIG = `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  secrets: { plugin: redact, audit: { path: audit/deep/found.jsonl } }
  fails: { plugin: ./fails.mjs }
forwarders:
  lines: { plugin: disk, path: out/lines, filename: out.jsonl }
  secret: { plugin: disk, path: out/secret, filename: out.jsonl, file_mode: '0600' }
  files: { plugin: disk, path: out/files, file_mode: '666' }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
  there: { plugin: disk, path: there, filename: out.jsonl, file_mode: '0600' }
  witness: { plugin: test, path: witness, dump_event: true }
pipelines:
  main:
    collect: log
    process: [secrets, fails]
    forward: [lines, secret, files, there, witness]
    delivery: { dead_letter: dead }
host_config: {}
`;
const FAILS = `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export function process({ event }) {
  if (event.data.line === 'bad') throw new Error('bad');
  return event;
}
`;

it.each([
  ['0', 0o750, 0o640, 0o666],
  ['0002', 0o750, 0o640, 0o664],
  ['0077', 0o700, 0o600, 0o600],
])(
  'files that a run creates are closed to others whatever the umask, here %s',
  async (umask, folderMode, lines, files) => {
    const cwd = folderWith({
      'p.yaml': CONFIG,
      'fails.mjs': FAILS,
      'in/a.log': 'good\nbad\n',
      'there/out.jsonl': '',
    });
    const modeOf = (...names: string[]) => fs.statSync(join(cwd, ...names)).mode & 0o777;
    fs.chmodSync(join(cwd, 'there/out.jsonl'), 0o604);
    fs.mkdirSync(join(cwd, 'restored'));
    fs.writeFileSync(join(cwd, 'restored/state.backup'), '');
    fs.chmodSync(join(cwd, 'restored/state.backup'), 0o644);
    for (const state of ['state/deep', 'restored']) {
      const run = [await upToDateBuild(), 'run', 'p.yaml', '--once', '--state-dir', state];
      const args = ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, ...run];
      await startProcess('sh', args, { cwd }).ended();
    }
    const modes = Object.fromEntries(
      [
        'out',
        'out/lines/out.jsonl',
        'out/secret/out.jsonl',
        'out/files/event-dump-1.json',
        'dead',
        'dead/dead.jsonl',
        'there/out.jsonl',
        'witness',
        'audit',
        'audit/deep',
        'audit/deep/found.jsonl',
        'state',
        'state/deep',
      ].map((name) => [name, modeOf(name)]),
    );
    expect(modes).toEqual({
      out: folderMode,
      'out/lines/out.jsonl': lines,
      'out/secret/out.jsonl': 0o600,
      'out/files/event-dump-1.json': files,
      dead: folderMode,
      'dead/dead.jsonl': lines,
      'there/out.jsonl': 0o604,
      witness: lines,
      audit: folderMode,
      'audit/deep': folderMode,
      'audit/deep/found.jsonl': lines,
      state: 0o700,
      'state/deep': 0o700,
    });
    for (const state of ['state/deep', 'restored']) {
      const names = fs.readdirSync(join(cwd, state));
      expect(names).not.toEqual([]);
      expect(names.map((name) => modeOf(state, name))).toEqual(names.map(() => 0o600));
    }
  },
);

const TESTS = `
collectors:
  log: { plugin: file, paths: [app.log] }
forwarders:
  out: { plugin: noop }
pipelines:
  main: { collect: log, forward: out }
host_config: {}
tests:
  one: { pipeline: main, collect: { log: [hello] }, expect: { out: [hello] } }
`;

it('results of tests can be read by all and written by their owner, whatever the umask', async () => {
  const cwd = folderWith({ 'p.yaml': TESTS });
  const run = [await upToDateBuild(), 'test', 'p.yaml', '--svg', 'pictures', '--junit', 'results/junit.xml'];
  const args = ['-c', 'umask 0; exec "$@"', 'sh', process.execPath, ...run];
  const { code } = await startProcess('sh', args, { cwd }).ended();
  expect(code).toBe(0);
  const modeOf = (...names: string[]) => fs.statSync(join(cwd, ...names)).mode & 0o777;
  expect([modeOf('pictures'), modeOf('pictures/p-one.svg')]).toEqual([0o755, 0o644]);
  expect([modeOf('results'), modeOf('results/junit.xml')]).toEqual([0o755, 0o644]);
});

it('pictures of tests do not follow a link of their name, which others can foresee', async () => {
  const cwd = folderWith({ 'p.yaml': TESTS, theirs: 'theirs' });
  fs.mkdirSync(join(cwd, 'pictures'));
  fs.symlinkSync('../theirs', join(cwd, 'pictures/p-one.svg'));
  const { code, stderr } = await runCli(['test', 'p.yaml', '--svg', 'pictures'], { cwd });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--svg: pictures/p-one.svg cannot be written: ELOOP'),
  ]);
  expect(fs.readFileSync(join(cwd, 'theirs'), 'utf8')).toBe('theirs');
});

it('refuses a file_mode without quotes, which YAML takes for a number', async () => {
  const cwd = folderWith({ 'p.yaml': CONFIG.replace("'0600'", '0600'), 'fails.mjs': FAILS });
  const { code, stderr } = await runCli(['validate', 'p.yaml'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('file_mode: found 0600; expected a string')]);
});
