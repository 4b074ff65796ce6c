import { afterEach, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';

const input = () => ({
  collectors: { ticks: { plugin: 'test', count: 3 } },
  forwarders: { out: { plugin: 'stdout' } },
  pipelines: { main: { collect: 'ticks', forward: ['out'] } },
  host_config: { nested: { list: [1] } } as Record<string, unknown>,
});

describe('parseConfig', () => {
  afterEach(() => {
    unregisterPlugin('process', 'upper_case');
  });

  it('applies defaults, and gives entries their name', async () => {
    const config = await parseConfig(input());
    expect(config.collectors.ticks).toEqual({ plugin: 'test', interval: 0.1, count: 3 });
    expect(config.collectors.ticks?.name).toBe('ticks');
    expect(config.processors).toEqual({});
    expect(config.pipelines.main).toMatchObject({ collect: ['ticks'], enabled: true, restart: true });
  });

  it('leaves the input as it is, and takes its own output', async () => {
    const given = input();
    const config = await parseConfig(given);
    expect(Object.isFrozen(given.host_config)).toBe(false);
    expect(Object.isFrozen(given.host_config.nested)).toBe(false);
    expect(await parseConfig(config)).toEqual(config);
  });

  it('keeps what a host is given: functions, cycles, __proto__', async () => {
    const given = input();
    const cycle: Record<string, unknown> = { run: () => 1 };
    cycle.self = cycle;
    given.host_config = Object.assign(JSON.parse('{"__proto__": {"a": 1}}'), { cycle });
    const { host_config } = await parseConfig(given);
    expect(Object.keys(host_config)).toEqual(['__proto__', 'cycle']);
    expect(Object.getPrototypeOf(host_config)).toBe(Object.prototype);
    expect(host_config.cycle).toHaveProperty('self.self.run');
  });

  it('has 10,000 events in flight where lines are never made into events, else 1,000', async () => {
    const inFlight = async (main: object) => {
      const config = await parseConfig({
        collectors: { log: { plugin: 'file', paths: ['/a.log'] }, ticks: { plugin: 'test' } },
        processors: { mask: { plugin: 'regex_mask', rules: { A: 'a' } }, slow: { plugin: 'test' } },
        forwarders: { out: { plugin: 'disk', path: '/o', filename: 'a.jsonl' }, none: { plugin: 'noop' } },
        pipelines: { main: { collect: 'log', process: 'mask', forward: 'out', ...main } },
        host_config: {},
      });
      return config.pipelines.main?.max_in_flight;
    };
    expect(await inFlight({})).toBe(10_000);
    expect(await inFlight({ max_in_flight: 1000 })).toBe(1000);
    expect(await inFlight({ collect: ['log', 'ticks'] })).toBe(1000);
    expect(await inFlight({ process: ['mask', 'slow'] })).toBe(1000);
    expect(await inFlight({ forward: ['out', 'none'] })).toBe(1000);
    expect(await inFlight({ exactly_once: true })).toBe(1000);
  });

  it('has room for the largest batches where lines are never made into events, up to 200,000 events', async () => {
    const inFlight = async (out: object, main: object = {}) => {
      const config = await parseConfig({
        collectors: { log: { plugin: 'file', paths: ['/a.log'] }, ticks: { plugin: 'test' } },
        forwarders: {
          out: { plugin: 'http', url: 'http://localhost/', ...out },
          more: { plugin: 'http', url: 'http://localhost/', batch: { events: 40_000 } },
          s3: { plugin: 's3', bucket: 'logs', region: 'eu-central-1' },
        },
        pipelines: { main: { collect: 'log', forward: 'out', ...main } },
        host_config: {},
      });
      return config.pipelines.main?.max_in_flight;
    };
    expect(await inFlight({}, { forward: 's3' })).toBe(100_000);
    expect(await inFlight({ batch: { events: 9000 } })).toBe(10_000);
    expect(await inFlight({ batch: { events: 10_001 } })).toBe(10_001);
    expect(await inFlight({ batch: { events: 5000 }, concurrency: 3 })).toBe(15_000);
    expect(await inFlight({}, { forward: ['out', 'more'] })).toBe(40_000);
    expect(await inFlight({ batch: { events: 1e9 }, concurrency: 1e6 })).toBe(200_000);
    expect(await inFlight({ batch: { events: 20_000 } }, { collect: 'ticks' })).toBe(1000);
    expect(await inFlight({ batch: { events: 20_000 } }, { max_in_flight: 500 })).toBe(500);
  });

  it('knows plugins that the program registered', async () => {
    registerPlugin('process', 'upper_case', {
      get_config_schema: () => ProcessConfigBase,
      process: () => [],
    });
    const config = await parseConfig({ ...input(), processors: { up: { plugin: 'upper_case' } } });
    expect(config.processors.up?.name).toBe('up');
  });

  it('tells problems by path, under the name given', async () => {
    const wrong = { ...input(), processors: { m: { plugin: './mask.mjs' } }, collector: {} };
    await expect(parseConfig(wrong, { name: 'app' })).rejects.toThrow(
      'app: collector: unknown key `collector`; did you mean `collectors`?\n' +
        'app: processors.m.plugin: the module `./mask.mjs` cannot be loaded here; use loadConfig, which loads modules, or registerPlugin',
    );
  });

  it.each([
    ['sources', 'collectors'],
    ['transforms', 'processors'],
    ['sinks', 'forwarders'],
    ['outputs', 'forwarders'],
  ])('knows what other programs call %s', async (name, section) => {
    await expect(parseConfig({ ...input(), [name]: {} })).rejects.toThrow(
      `unknown key \`${name}\`; did you mean \`${section}\`?`,
    );
  });

  it.each([
    [undefined, 'a value of type undefined'],
    [null, 'nothing (null)'],
    ['text', 'the string "text"'],
    [[], 'an empty list'],
  ])('refuses %j', async (value, found) => {
    await expect(parseConfig(value)).rejects.toThrow(
      `configuration: found ${found}; expected an object with collectors, forwarders …`,
    );
  });

  it('refuses names that no object can hold safely', async () => {
    const collectors = JSON.parse('{"__proto__": {"plugin": "test"}, "ticks": {"plugin": "test"}}');
    await expect(parseConfig({ ...input(), collectors })).rejects.toThrow(
      'configuration: collectors.__proto__: the name `__proto__` is reserved by JavaScript; choose another',
    );
  });
});
