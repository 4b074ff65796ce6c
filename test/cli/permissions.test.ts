import fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, runCli, startProcess } from '../support/cli.ts';

const CONFIG = `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  fails: { plugin: ./fails.mjs }
forwarders:
  lines: { plugin: disk, path: out/lines, filename: out.jsonl }
  secret: { plugin: disk, path: out/secret, filename: out.jsonl, file_mode: '0600' }
  files: { plugin: disk, path: out/files, file_mode: '666' }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
  there: { plugin: disk, path: there, filename: out.jsonl, file_mode: '0600' }
pipelines:
  main: { collect: log, process: fails, forward: [lines, secret, files, there], delivery: { dead_letter: dead } }
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

it('refuses a file_mode without quotes, which YAML takes for a number', async () => {
  const cwd = folderWith({ 'p.yaml': CONFIG.replace("'0600'", '0600'), 'fails.mjs': FAILS });
  const { code, stderr } = await runCli(['validate', 'p.yaml'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('file_mode: found 0600; expected a string')]);
});
