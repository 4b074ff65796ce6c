import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { type CliOptions, folderWith, startProcess } from '../support/cli.ts';
import { countTo, MODULES, withModules } from './configs.ts';

const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
const onTerminal = hasScript ? describe : describe.skip;

/** Runs a command line of millrace under a pseudo terminal, and gives what the terminal was sent. */
async function terminalRun(args: string, options: CliOptions & { columns: number }): Promise<string> {
  const command = `stty cols ${options.columns}; '${process.execPath}' '${await upToDateBuild()}' ${args}`;
  const env = { TERM: 'xterm', ...options.env };
  return (await startProcess('script', ['-qec', command, '/dev/null'], { ...options, env }).ended()).stdout;
}

const CLEAR = '\r\u001b[2K';
const LIVE = /^in [\d,]+ · out [\d,]+ · in flight [\d,]+ · [\d,.]+ events\/s/;

/** What stood in the live line, each time it was drawn. */
const drawn = (screen: string) =>
  screen
    .replaceAll(CLEAR, '\r\n')
    .split('\r\n')
    .filter((text) => text.startsWith('in '));

onTerminal(`on a terminal${hasScript ? '' : ' (skipped: util-linux `script` is not installed)'}`, () => {
  const chatty = withModules({ forward: './chatty.mjs' }).replace(
    'plugin: test }',
    'plugin: test, interval: 0.05, count: 20 }',
  );
  const plain = { NO_COLOR: '1' };

  it('a run has one live line, which log lines do not garble and which is gone at the end', async () => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': chatty });
    const screen = await terminalRun('run p.yaml', { cwd, columns: 100, env: plain });
    expect(drawn(screen).length).toBeGreaterThan(4);
    for (const text of drawn(screen)) expect(text).toMatch(LIVE);
    // The live line is drawn over: each line of the log begins in a line that was just cleared.
    const logged = screen.split('\r\n').filter((line) => line.includes('one more event'));
    expect(logged).toHaveLength(20);
    for (const line of logged) {
      const visible = line.slice(line.lastIndexOf(CLEAR) + CLEAR.length);
      expect(visible).toMatch(/^\d\d:\d\d:\d\d warn {2}one more event$/);
    }
    const summary = screen.slice(screen.lastIndexOf(CLEAR) + CLEAR.length);
    expect(summary).toMatch(/^(?:[\d:]{8} info {2}web: completed\r\n)?\r\nweb {2}completed after /);
  });

  it('the live line is cut to the width', async () => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': chatty });
    const screen = await terminalRun('run p.yaml', { cwd, columns: 24, env: plain });
    for (const text of drawn(screen)) expect(text.length).toBeLessThan(24);
    expect(drawn(screen)[0]).toMatch(/…$/);
  });

  it('there is none beside events on the same terminal, nor with JSON logs', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(20), 'q.yaml': countTo(20).replace('stdout', 'noop') });
    const events = await terminalRun('run p.yaml', { cwd, columns: 100 });
    expect(events).toContain('"count":20');
    expect(events).not.toContain(CLEAR);
    const json = await terminalRun('run q.yaml --log-format json', { cwd, columns: 100 });
    expect(json).toContain('"message":"counting: running"');
    expect(json).not.toContain(CLEAR);
    const quiet = await terminalRun('run q.yaml 2>&1 >/dev/null', { cwd, columns: 100 });
    expect(drawn(quiet).length).toBeGreaterThan(0);
  });

  it('is coloured, unless NO_COLOR is set or the terminal is dumb', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(1) });
    const run = (env: Record<string, string>) => terminalRun('run p.yaml', { cwd, columns: 100, env });
    expect(await run({})).toContain('\u001b[32minfo \u001b[39m');
    expect(await run({ NO_COLOR: '1' })).not.toContain('\u001b[3');
    expect(await run({ TERM: 'dumb' })).not.toContain('\u001b');
  });
});
