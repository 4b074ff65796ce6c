import { describe, expect, it } from '@jest/globals';
import { map, timer } from 'rxjs';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import { defineProcessor } from '../../src/sdk/define-plugin.ts';
import { marbles, stepPipeline, testPipeline } from '../../src/testing/index.ts';

const config = (pipeline: object = {}, processor: object = { plugin: 'test', delay: 2 }) => ({
  collectors: {
    web: { plugin: 'file', paths: ['/var/log/web.log'] },
    bus: { plugin: 'beacons', beacons: ['*'] },
  },
  processors: { step: processor },
  forwarders: { archive: { plugin: 'disk', path: '/nowhere' }, lost: { plugin: 'noop' } },
  pipelines: { main: { collect: 'web', process: 'step', forward: 'archive', ...pipeline } },
  host_config: {},
});

describe('stepPipeline', () => {
  it('tells everything as of now, forwards and backwards', async () => {
    const a = { line: 'one', source: '/var/log/web.log' };
    const run = await stepPipeline(config(), {
      collect: { web: { marbles: 'a 9999ms b|', values: { a: 'one', b: 'two' } } },
    });
    expect({ now: run.now, state: run.state, left: run.left('web') }).toEqual({
      now: 0,
      state: 'running',
      left: marbles('a', { a }),
    });
    expect(run.forwarded('archive')).toEqual([]);
    run.advance('2s');
    expect(run.forwarded('archive')).toEqual(marbles('2s a', { a }));
    run.advance('1h');
    expect({ now: run.now, state: run.state }).toEqual({ now: 12_000, state: 'completed' });
    run.goTo('11s');
    expect(run.forwarded('archive')).toHaveLength(1);
    expect(run.stats).toMatchObject({ collected: 2, in_flight: 1, forwarded: { archive: 1 } });
    expect(run.log.filter((line) => !line.startsWith('debug'))).toEqual(['info main: running']);
  });

  it('goes from instant to instant', async () => {
    const run = await stepPipeline(config(), { collect: { web: { marbles: 'a 9999ms b|' } } });
    const seen = [run.now];
    while (run.next()) seen.push(run.now);
    expect(seen).toEqual([0, 2000, 10_000, 10_001, 12_000]);
    expect(run.instants).toEqual(seen);
    while (run.previous()) seen.pop();
    expect(seen).toEqual([0]);
  });

  it('ends as the run without steps does', async () => {
    const options = {
      collect: { web: { marbles: ['a 1h #', 'b|'] } },
      forward: { archive: { fails: 3 } },
      seed: 7,
      once: false,
      until: '70m',
    };
    const whole = await testPipeline(config({ restart: true }), options);
    const stepped = await stepPipeline(config({ restart: true }), options);
    const { trace, stats, log } = stepped.goTo('9d');
    expect({ trace, stats, log }).toEqual({ trace: whole.trace, stats: whole.stats, log: whole.log });
  });

  it('shows the window, what waits before it, and the next attempts', async () => {
    const run = await stepPipeline(config({ collect: 'bus', max_in_flight: 2, process: [] }), {
      collect: { bus: { marbles: '(abcde|)' } },
      forward: { archive: { takes: '1s', fails: 1 } },
    });
    expect({ inFlight: run.stats.in_flight, waiting: run.waiting }).toEqual({ inFlight: 2, waiting: 3 });
    run.advance('1s');
    expect(run.retries).toEqual([{ forwarder: 'archive', attempt: 2, at: expect.any(Number) }]);
    run.goTo(run.retries[0]?.at ?? 0);
    expect(run.retries).toEqual([]);
    run.goTo('1h');
    expect({ inFlight: run.stats.in_flight, waiting: run.waiting }).toEqual({ inFlight: 0, waiting: 0 });
  });

  it('shows caches as they were', async () => {
    registerPlugin(
      'process',
      'counting',
      defineProcessor({
        schema: ProcessConfigBase,
        process: ({ ctx, event }) => {
          ctx.cache.count = Number(ctx.cache.count ?? 0) + 1;
          ctx.cache.seen = [...((ctx.cache.seen as string[]) ?? []), String(event.data.line)];
          ctx.cache.find = () => 1;
          ctx.shared_cache.last = event.data.line;
          return timer(10).pipe(map(() => event));
        },
      }),
    );
    try {
      const run = await stepPipeline(config({}, { plugin: 'counting' }), {
        collect: { web: { marbles: 'a 1s b|', values: { a: 'one', b: 'two' } } },
      });
      const shown = () => ({ step: run.cache('step'), shared: run.sharedCache });
      const find = expect.stringContaining('[Function');
      expect(shown()).toEqual({ step: { count: 1, seen: ['one'], find }, shared: { last: 'one' } });
      run.goTo('1.005s');
      expect(shown()).toMatchObject({ step: { count: 2, seen: ['one', 'two'] }, shared: { last: 'two' } });
      run.goTo(0);
      expect(shown()).toMatchObject({ step: { count: 1 }, shared: { last: 'one' } });
      expect(run.cache('archive')).toEqual({});
    } finally {
      unregisterPlugin('process', 'counting');
    }
  });

  it('says that it records no more than the first 10,000 instants', async () => {
    const ticking = { ...config(), collectors: { web: { plugin: 'test', interval: 0.001, count: 10_100 } } };
    const long = await stepPipeline(
      { ...ticking, pipelines: { main: { collect: 'web', forward: 'lost' } } },
      { collect: { web: 'keep' } },
    );
    expect(() => long.goTo('11s')).toThrow(/only the first 10000 instants of a run are recorded/);
  });
});
