import { describe, expect, it } from '@jest/globals';
import { folderWith, runCli, runCommand } from '../support/cli.ts';
import { countTo, MODULES, withModules } from './configs.ts';

/** The lines of standard error, each of which must be a JSON object with what every log line has. */
function entriesOf(stderr: string): Record<string, unknown>[] {
  const entries = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const entry of entries) {
    expect(entry).toMatchObject({
      timestamp: expect.stringMatching(/Z$/),
      level: expect.stringMatching(/^(?:error|warn|info|debug)$/),
      message: expect.any(String),
    });
  }
  return entries;
}

describe('--log-format json: standard error holds JSON lines alone', () => {
  const files = {
    'good.yaml': countTo(2),
    'bad.yaml': countTo(0).replace('stdout', 'stdoot'),
    'unused.yaml': countTo(2).replace('forwarders:', '  more: { plugin: test }\nforwarders:'),
    'crashing.yaml': withModules({ collect: './crashing.mjs' }),
    ...MODULES,
  };

  it('of a run, with its summary', async () => {
    const { stderr } = await runCommand(['run', 'good.yaml', '--log-format', 'json'], {
      cwd: folderWith(files),
    });
    expect(entriesOf(stderr).at(-1)).toMatchObject({ pipeline: 'counting', collected: 2 });
  });

  it('of a configuration with problems, each with its place', async () => {
    const cwd = folderWith(files);
    for (const command of ['run', 'validate', 'graph']) {
      const { code, stderr } = await runCommand(['--log-format=json', command, 'bad.yaml'], { cwd });
      expect(code).toBe(2);
      const entries = entriesOf(stderr);
      expect(entries.map(({ line, column, path }) => [line, column, path])).toEqual([
        [3, 52, 'collectors.numbers.count'],
        [5, 21, 'forwarders.screen.plugin'],
        [undefined, undefined, undefined],
      ]);
      expect(entries[1]).toMatchObject({
        level: 'error',
        code: 'MILLRACE_CONFIG',
        file: 'bad.yaml',
        message: expect.stringMatching(/^bad\.yaml:5:21: .*did you mean `stdout`\?$/),
      });
      expect(entries[2]?.message).toBe('2 errors. Nothing was started.');
    }
  });

  it('of warnings', async () => {
    const { stderr } = await runCommand(['validate', 'unused.yaml', '--log-format', 'json'], {
      cwd: folderWith(files),
    });
    expect(entriesOf(stderr)).toMatchObject([
      {
        level: 'warn',
        path: 'collectors.more',
        message: 'unused.yaml:4:3: collectors.more: no pipeline uses it',
      },
    ]);
  });

  it.each([
    [['run']],
    [['rnu', 'good.yaml']],
    [['run', 'good.yaml', '--onse']],
    [['run', 'good.yaml', '--pipeline', 'no']],
    [['help', 'tset']],
    [[]],
  ])('of a wrong command line: %j', async (args) => {
    const { code, stderr } = await runCommand([...args, '--log-format', 'json'], { cwd: folderWith(files) });
    expect(code).toBe(2);
    expect(entriesOf(stderr)[0]).toMatchObject({ level: 'error' });
  });

  it('of an unexpected error', async () => {
    const { code, stderr } = await runCli(['run', 'crashing.yaml', '--log-format', 'json'], {
      cwd: folderWith(files),
    });
    expect(code).toBe(70);
    expect(entriesOf(stderr).at(-1)?.message).toContain('unexpected error');
  });

  it('of an empty state folder', async () => {
    const cwd = folderWith(files);
    const { stderr } = await runCommand(['state', '--log-format', 'json'], {
      cwd,
      env: { XDG_STATE_HOME: cwd },
    });
    expect(entriesOf(stderr)).toMatchObject([{ level: 'info' }]);
  });
});
