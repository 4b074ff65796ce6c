import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { stopSignals } from '../../src/cli/signals.ts';
import { folderWith, runCli, startCli } from '../support/cli.ts';
import { MODULES, THREE, withModules } from './configs.ts';

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s drains, sums up and ends with 0', async (signal) => {
    const cwd = folderWith({ 'p.yaml': THREE });
    const cli = await startCli(['run', 'p.yaml'], { cwd });
    await cli.shows('stderr', /api: running/);
    cli.kill(signal);
    const { code, stderr } = await cli.ended();
    expect(code).toBe(0);
    expect(stderr).toContain(`info  ${signal}: stopping; up to 10 s`);
    expect(stderr).toMatch(/^web {2}stopped after /m);
    expect(stderr).toMatch(/^api {2}stopped after /m);
    expect(stderr).not.toMatch(/^old /m);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('a second one, %s, exits at once with %d', async (second, expected) => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': withModules({ forward: './hanging.mjs' }) });
    const cli = await startCli(['run', 'p.yaml', '--drain-timeout', '600'], { cwd });
    await cli.shows('stderr', /holding an event/);
    cli.kill('SIGTERM');
    await cli.shows('stderr', /SIGTERM: stopping; up to 600 s/);
    // One that comes too soon after the first counts as its echo.
    const { code } = await cli.killUntilEnded(second);
    expect(code).toBe(expected);
  });

  it('SIGUSR1 opens no debugger, and does nothing else', async () => {
    const cwd = folderWith({ 'p.yaml': THREE });
    const cli = await startCli(['run', 'p.yaml'], { cwd });
    await cli.shows('stderr', /api: running/);
    for (let n = 0; n < 3; n++) cli.kill('SIGUSR1');
    cli.kill('SIGTERM');
    const { code, stderr } = await cli.ended();
    expect(code).toBe(0);
    expect(stderr).toContain('SIGTERM: stopping');
    expect(stderr).not.toMatch(/debugger/i);
  });

  it('a forwarder that never returns is given up after --drain-timeout', async () => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': withModules({ forward: './hanging.mjs' }) });
    const cli = await startCli(['run', 'p.yaml', '--drain-timeout', '0.2', '--log-level', 'debug'], { cwd });
    await cli.shows('stderr', /holding an event/);
    cli.kill('SIGTERM');
    const { code, stderr } = await cli.ended();
    expect(code).toBe(0);
    expect(stderr).toMatch(/^web {2}stopped after /m);
  });
});

describe('a promise of a plugin that is never settled', () => {
  it('keeps the process until it is stopped', async () => {
    const cwd = folderWith({
      ...MODULES,
      'p.yaml': withModules({ collect: './one.mjs', forward: './silent.mjs' }),
    });
    const cli = await startCli(['run', 'p.yaml', '--once', '--drain-timeout', '0.2'], { cwd });
    await cli.shows('stderr', /holding an event/);
    cli.kill('SIGTERM');
    const { code, stderr } = await cli.ended();
    expect(stderr).toContain('1 event was not delivered within 0.2 s of the stop and was given up');
    expect(code).toBe(0);
  });

  it('is given up by delivery.timeout', async () => {
    const config = withModules({ collect: './one.mjs', forward: './silent.mjs' });
    const delivery = 'restart: false, delivery: { timeout: 0.05, attempts: 2 }';
    const cwd = folderWith({ ...MODULES, 'p.yaml': config.replace('restart: false', delivery) });
    const { code, stderr } = await runCli(['run', 'p.yaml', '--once'], { cwd });
    expect(stderr).toContain('the forwarder did not finish within delivery.timeout (0.05 s)');
    expect(stderr).toContain('web: 1 event lost');
    expect(code).toBe(1);
  });

  it('ends the process with an explanation where nothing runs yet', async () => {
    const cwd = folderWith({ ...MODULES, 'p.yaml': withModules({ forward: './unloaded.mjs' }) });
    const { code, stderr } = await runCli(['run', 'p.yaml'], { cwd });
    expect(stderr).toBe(
      'millrace: exited early: it waited for a promise that never settles, most likely a top-level `await` in a plugin.\n',
    );
    expect(code).toBe(70);
  });
});

describe('stopSignals', () => {
  it('takes a signal that npm hands on, right after the terminal sent it, for the same one', () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    scheduler.run(({ cold, expectObservable }) => {
      const source = new EventEmitter();
      const signals = cold('-ii 200ms i 50ms i 10ms t', { i: 'SIGINT', t: 'SIGTERM' });
      signals.subscribe((signal) => source.emit(signal));
      expectObservable(stopSignals(source)).toBe('-i- 200ms i 50ms - 10ms t', { i: 'SIGINT', t: 'SIGTERM' });
    });
  });
});
