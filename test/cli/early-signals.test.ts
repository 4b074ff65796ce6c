import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, startCli } from '../support/cli.ts';
import { THREE, withModules } from './configs.ts';

/** Sends the process a signal right after the command line has looked at its arguments, which comes first. */
const atArguments = (signal: string) => `
process.argv.slice = (...range) => {
  setImmediate(() => {
    process.stderr.write('sent\\n');
    process.kill(process.pid, '${signal}');
  });
  delete process.argv.slice;
  return process.argv.slice(...range);
};
`;

/** A plugin whose module takes until there is a file \`go\`. */
const SLOW = `
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
console.error('loading');
while (!existsSync('go')) await delay(5);
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = () => {};
`;

const slowly = () => folderWith({ 'p.yaml': withModules({ forward: './slow.mjs' }), 'slow.mjs': SLOW });

describe('a signal that comes as the first code is loaded', () => {
  const started = (signal: string) => {
    const cwd = folderWith({ 'p.yaml': THREE, 'preload.cjs': atArguments(signal) });
    const env = { NODE_OPTIONS: `--require ${join(cwd, 'preload.cjs')}` };
    return startCli(['run', 'p.yaml', '--no-state'], { cwd, env });
  };

  it.each(['SIGTERM', 'SIGINT'])('%s ends a run before it starts anything', async (signal) => {
    const { code, stderr } = await (await started(signal)).ended();
    expect(stderr).toMatch(
      new RegExp(`^sent\n\\S+ info  ${signal}: stopping; nothing has been started yet\n$`),
    );
    expect(code).toBe(0);
  });

  it('SIGHUP reloads when the run has started', async () => {
    const cli = await started('SIGHUP');
    await cli.shows(
      'stderr',
      /^sent\n[\s\S]*web: running[\s\S]*configuration reloaded: no pipeline has changed/,
    );
    cli.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(0);
  });
});

describe('a signal that comes while a configuration is loaded', () => {
  it('SIGTERM ends a run at once', async () => {
    const cli = await startCli(['run', 'p.yaml', '--no-state'], { cwd: slowly() });
    await cli.shows('stderr', /loading/);
    cli.kill('SIGTERM');
    const { code, stderr } = await cli.ended();
    expect(stderr).toContain('SIGTERM: stopping; nothing has been started yet');
    expect(stderr).not.toContain('running');
    expect(code).toBe(0);
  });

  it('SIGHUP reloads when the run has started', async () => {
    const cwd = slowly();
    const cli = await startCli(['run', 'p.yaml', '--no-state'], { cwd });
    await cli.shows('stderr', /loading/);
    cli.kill('SIGHUP');
    writeFileSync(join(cwd, 'go'), '');
    await cli.shows('stderr', /web: running[\s\S]*configuration reloaded/);
    cli.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(0);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('%s ends another command as ever', async (signal, expected) => {
    const cli = await startCli(['validate', 'p.yaml'], { cwd: slowly() });
    await cli.shows('stderr', /loading/);
    cli.kill(signal as NodeJS.Signals);
    await cli.ended();
    expect(128 + Number({ SIGTERM: 15, SIGHUP: 1 }[cli.child.signalCode as 'SIGTERM'])).toBe(expected);
  });
});
