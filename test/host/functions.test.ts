import { homedir, hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { from, lastValueFrom, type ObservableInput } from 'rxjs';
import { defaultHost } from '../../src/host/standalone-host.ts';
import { MillraceError } from '../../src/sdk/errors.ts';

const host = defaultHost({});

function call(fn: string, args: readonly unknown[] = [], kwargs: Record<string, unknown> = {}) {
  return lastValueFrom(from(host.call(fn, args, kwargs) as ObservableInput<unknown>));
}

/** A machine that has been up for a while has these. */
const positive = expect.any(Number) as unknown as number;

describe('the built-in host functions', () => {
  it('are these', () => {
    expect(host.functions()).toEqual([
      'test.ping',
      'test.echo',
      'status.loadavg',
      'status.meminfo',
      'status.cpu',
      'status.uptime',
      'disk.usage',
      'network.interfaces',
      'process.list',
    ]);
  });

  it('test.ping returns true', async () => {
    expect(await call('test.ping')).toBe(true);
  });

  it.each([['text'], [42], [null], [['a', 'list']], [{ a: 'mapping' }]])(
    'test.echo returns its argument: %j',
    async (value) => {
      expect(await call('test.echo', [value])).toEqual(value);
      expect(await call('test.echo', [], { text: value })).toEqual(value);
    },
  );

  it('status.loadavg returns loads and the number of processors', async () => {
    const load = (await call('status.loadavg')) as Record<string, number>;
    expect(Object.keys(load)).toEqual(['load1', 'load5', 'load15', 'cpus']);
    expect(load.load1).toBeGreaterThanOrEqual(0);
    expect(load.cpus).toBeGreaterThan(0);
  });

  it('status.meminfo returns bytes that add up', async () => {
    const memory = (await call('status.meminfo')) as Record<string, number>;
    expect(memory).toEqual({
      total: positive,
      available: positive,
      used: positive,
      free: positive,
      swap_total: positive,
      swap_used: positive,
    });
    expect(memory.total).toBeGreaterThan(process.memoryUsage().rss);
    expect((memory.used as number) + (memory.available as number)).toBe(memory.total);
    expect(memory.available).toBeLessThanOrEqual(memory.total as number);
  });

  it('status.cpu returns percentages', async () => {
    const { per_cpu, ...total } = (await call('status.cpu')) as Record<string, number> & {
      per_cpu: number[];
    };
    expect(Object.keys(total)).toEqual(['load', 'user', 'system', 'idle']);
    for (const percent of [...Object.values(total), ...per_cpu]) {
      expect(percent).toBeGreaterThanOrEqual(0);
      expect(percent).toBeLessThanOrEqual(100);
    }
    expect((total.load as number) + (total.idle as number)).toBeCloseTo(100);
  });

  it('status.uptime returns seconds, more than this process has been up', async () => {
    const { seconds } = (await call('status.uptime')) as { seconds: number };
    expect(seconds).toBeGreaterThan(process.uptime());
  });

  it('disk.usage returns the file system of a path, or all that are mounted', async () => {
    const usage = (await call('disk.usage', [homedir()])) as Record<string, unknown>[];
    expect(usage).toEqual([
      {
        path: homedir(),
        size: positive,
        used: positive,
        available: positive,
        used_percent: positive,
      },
    ]);
    const { size, used, used_percent } = usage[0] as Record<string, number>;
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThanOrEqual(size as number);
    expect(used_percent).toBeLessThanOrEqual(100);
    const mounted = (await call('disk.usage')) as Record<string, unknown>[];
    expect(Object.keys(mounted[0] ?? {})).toEqual(Object.keys(usage[0] ?? {}));
  });

  it('disk.usage fails on a path that does not exist', async () => {
    await expect(call('disk.usage', ['/no/such/place'])).rejects.toThrow(/ENOENT.*\/no\/such\/place/);
  });

  it('network.interfaces returns interfaces with their addresses', async () => {
    const interfaces = (await call('network.interfaces')) as Record<string, unknown>[];
    expect(interfaces.find(({ internal }) => internal)).toEqual({
      name: expect.any(String),
      mac: expect.stringMatching(/^[\da-f:]{17}$/),
      internal: true,
      addresses: expect.arrayContaining([{ family: 'IPv4', address: '127.0.0.1', netmask: '255.0.0.0' }]),
    });
  });

  it('process.list has this very process, without its command line', async () => {
    const list = (await call('process.list')) as Record<string, unknown>[];
    const own = list.find(({ pid }) => pid === process.pid);
    expect(own).toEqual({
      pid: process.pid,
      parent_pid: process.ppid,
      name: expect.any(String),
      user: expect.any(String),
      state: expect.any(String),
      cpu_percent: positive,
      memory_percent: positive,
      memory_rss: positive,
    });
    expect(own?.memory_rss).toBeGreaterThan(1_000_000);
  });

  it.each<[string, unknown[], Record<string, unknown>, string]>([
    ['test.ping', ['hunter2'], {}, 'test.ping(): found 1 positional ones; expected at most 0'],
    ['test.echo', [], {}, 'test.echo(text): `text`: missing; expected a value'],
    ['test.echo', [], { txt: 'hunter2' }, 'unknown `txt`'],
    ['test.echo', ['hunter2'], { text: 'hunter2' }, '`text` is given by position and by name; give it once'],
    ['disk.usage', [7], {}, 'disk.usage(path): `path`: Invalid input: expected string, received number'],
  ])('%s refuses the wrong arguments %j %j, without quoting them', async (fn, args, kwargs, message) => {
    const error = await call(fn, args, kwargs).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MillraceError);
    expect(error).toMatchObject({
      code: 'MILLRACE_HOST_ARGUMENTS',
      message: expect.stringContaining(message),
    });
    expect(String(error)).not.toContain('hunter2');
  });

  it('an unknown one is an error, with the nearest name', async () => {
    await expect(call('status.meminfoo')).rejects.toThrow(
      'there is no host function status.meminfoo; did you mean status.meminfo?',
    );
    await expect(call('x')).rejects.toThrow('there is no host function x; known: test.ping, ');
  });
});

describe('defaultHost', () => {
  it('is named after the machine', () => {
    expect(host).toMatchObject({ id: hostname(), role: 'standalone' });
    expect(defaultHost({ id: 'web-1', role: 'web' })).toMatchObject({ id: 'web-1', role: 'web' });
  });

  it('refuses modules, which it cannot load', () => {
    expect(() => defaultHost({ functions: { mine: './mine.mjs' } })).toThrow(
      'host_config.functions names modules (mine), which are loaded by loadConfig only',
    );
  });

  it('throws all problems at once', () => {
    expect(() => defaultHost({ id: 7, beacons: { loadavgg: {}, memusage: { interval: 0 } } })).toThrow(
      [
        "host_config.id: found 7; expected a string; write it in quotes: '7'",
        'host_config.beacons.loadavgg: unknown beacon `loadavgg`; there are `loadavg`, `memusage`, `diskusage`, `network`, `process`, `file_watch`; did you mean `loadavg`?',
        'host_config.beacons.memusage.interval: found 0; expected a number greater than 0',
      ].join('\n'),
    );
  });
});
