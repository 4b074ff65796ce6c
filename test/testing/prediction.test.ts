import { setTimeout as importedTimeout } from 'node:timers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { asapScheduler, interval, map, Observable, observeOn, of, take, timer } from 'rxjs';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import {
  batching,
  CollectConfigBase,
  type CollectPlugin,
  defineCollector,
  defineForwarder,
  defineProcessor,
  ForwardConfigBase,
  type ProcessPlugin,
} from '../../src/sdk/index.ts';
import { marbles, type TestPipelineOptions, testPipeline } from '../../src/testing/index.ts';
import { allBuiltinPlugins } from '../support/built-in-plugins.ts';

const registered: (() => void)[] = [];
afterEach(() => {
  for (const unregister of registered.splice(0)) unregister();
});

function plugin(kind: 'collect' | 'process' | 'forward', name: string, definition: object): void {
  registerPlugin(kind, name, definition as never);
  registered.push(() => unregisterPlugin(kind, name));
}

const config = (pipeline: object = {}, more: object = {}) => ({
  collectors: {
    web: { plugin: 'file', paths: ['/var/log/web.log'] },
    bus: { plugin: 'beacons', beacons: ['*'] },
    ticks: { plugin: 'test', interval: 1 },
  },
  processors: {},
  forwarders: {
    archive: { plugin: 'disk', path: '/nowhere', filename: 'a.jsonl' },
    single: { plugin: 'test', path: '/nowhere' },
  },
  pipelines: { main: { collect: 'web', forward: 'archive', ...pipeline } },
  host_config: {},
  ...more,
});

const run = (pipeline: object, options: TestPipelineOptions, more: object = {}) =>
  testPipeline(config(pipeline, more), options);

const narrow = { max_in_flight: 1, buffer: { max_events: 2 } };

describe('a stand-in of a collector', () => {
  it.each(['web', 'ticks'])('waits for room if the real one does: %s', async (name) => {
    const { stats } = await run(
      { ...narrow, collect: name },
      { collect: { [name]: { marbles: '(abcdefgh|)' } }, forward: { archive: { takes: '50ms' } } },
    );
    expect(stats).toMatchObject({ collected: 8, dropped: {}, forwarded: { archive: 8 } });
  });

  it('overflows the buffer if the real one cannot wait', async () => {
    const { stats, dropped } = await run(
      { ...narrow, collect: 'bus' },
      { collect: { bus: { marbles: '(abcdefgh|)' } }, forward: { archive: { takes: '50ms' } } },
    );
    expect(stats).toMatchObject({ collected: 8, dropped: { buffer_full: 5 }, forwarded: { archive: 3 } });
    expect(dropped).toHaveLength(5);
  });

  it('waits if the real one is a generator', async () => {
    const schema = CollectConfigBase;
    plugin('collect', 'rows', defineCollector({ schema, *collect() {} }));
    const { stats } = await run(
      { ...narrow, collect: 'rows' },
      { collect: { rows: { marbles: '(abcdefgh|)' } }, forward: { archive: { takes: '50ms' } } },
      { collectors: { rows: { plugin: 'rows' } } },
    );
    expect(stats.dropped).toEqual({});
  });

  const restarted = async (name: string, api: string[]) =>
    (
      await run(
        { collect: [name, 'api'] },
        { collect: { [name]: { marbles: 'a 10m b 10m c|' }, api: { marbles: api } } },
        { collectors: { ...config().collectors, api: { plugin: 'beacons', beacons: ['*'] } } },
      )
    )
      .forwarded('archive')
      .map(({ data }) => data.value)
      .join('');

  it('goes on behind what was acknowledged after a restart, if the real one has checkpoints', async () => {
    expect(await restarted('web', ['15m #', '|'])).toBe('abc');
  });

  it('starts again after a restart, if the real one remembers nothing', async () => {
    expect(await restarted('bus', ['15m #', '|'])).toBe('ababc');
  });

  it('emits again what was not acknowledged', async () => {
    let calls = 0;
    const process: ProcessPlugin['process'] = ({ event }) => (++calls === 2 ? ('no event' as never) : event);
    plugin('process', 'once-wrong', defineProcessor({ process }));
    const { dropped, state, ...made } = await run(
      { process: 'wrong' },
      { collect: { web: { marbles: 'a-b-c' } }, once: false, until: '1m' },
      { processors: { wrong: { plugin: 'once-wrong' } } },
    );
    expect(state).toBe('stopped');
    expect(dropped).toEqual([]);
    expect(made.stats).toMatchObject({ forwarded: { archive: 3 }, given_up: 0, in_flight: 0 });
  });
});

describe('a plugin that does not say how it behaves', () => {
  const assumed = async (definition: object, restarts: boolean) => {
    plugin('collect', 'silent', defineCollector({ collect: () => [], ...definition }));
    const { assumptions } = await run(
      { ...narrow, collect: ['silent', 'bus'], ...(restarts ? { max_in_flight: 100 } : {}) },
      {
        collect: {
          silent: { marbles: '(abcdefgh)' },
          bus: { marbles: restarts ? ['1m #', '|'] : '|' },
        },
        forward: { archive: { takes: '50ms' } },
        until: '10m',
      },
      { collectors: { ...config().collectors, silent: { plugin: 'silent' } } },
    );
    return assumptions.map((text) => text.replace(/, because.*/, ''));
  };
  const resumes = 'collector silent (silent): the test assumes that it goes on behind what was acknowledged';
  const overflows = 'collector silent (silent): the test assumes that it cannot wait for room';

  it.each([
    [{}, [overflows], [resumes]],
    [{ traits: { usesState: false } }, [overflows], []],
    [{ traits: { usesState: true, waits: false } }, [], []],
    [{ traits: { resumes: true, waits: true } }, [], []],
    [{ *collect() {} }, [], [resumes]],
  ])('is named where the result rests on it: %j', async (definition, whereFull, afterRestart) => {
    expect(await assumed(definition, false)).toEqual(whereFull);
    registered.pop()?.();
    expect(await assumed(definition, true)).toEqual(afterRestart);
  });

  it('is none of the built-in ones', async () => {
    const builtin = await allBuiltinPlugins();
    for (const { kind, plugin } of builtin) {
      if (kind !== 'collect') continue;
      const { waits, usesState, resumes } = (plugin as CollectPlugin).traits ?? {};
      expect([waits, usesState ?? resumes]).not.toContain(undefined);
    }
  });
});

describe('a stand-in of `nats`', () => {
  const fleet = (fields: object = {}) => ({
    collectors: {
      fleet: { plugin: 'nats', servers: 'localhost', stream: 'LOGS', durable: 'w', ...fields },
      api: { plugin: 'beacons', beacons: ['*'] },
    },
  });
  const settings = { collect: 'fleet', delivery: { attempts: 1 } };

  it.each([
    [{ max_deliver: 3, nak_delay: 2 }, {}, 3, [0, 2000, 6000]],
    [{ max_deliver: 1 }, {}, 1, [0]],
    [{}, {}, 5, [0, 5000, 15_000, 35_000, 75_000]],
    [{}, { dead_letter: 'archive' }, 0, []],
  ])('delivers what failed again: %j, %j', async (fields, delivery, drops, times) => {
    const made = await run(
      { ...settings, forward: 'single', delivery: { attempts: 1, ...delivery } },
      { collect: { fleet: { marbles: '(a|)' } }, forward: { single: { fails: 'always' } } },
      fleet(fields),
    );
    expect(made.dropped.map(({ at }) => at)).toEqual(times);
    expect(made.stats).toMatchObject({ dropped: drops === 0 ? {} : { forwarder_failed: drops } });
    expect(made.state).toBe('completed');
  });

  it('does not deliver again what would fail again', async () => {
    const made = await run(
      { ...settings, forward: 'single' },
      { collect: { fleet: { marbles: '(a|)' } }, forward: { single: { fails: 'always', permanent: true } } },
      fleet(),
    );
    expect(made.dropped.map(({ at }) => at)).toEqual([0]);
    expect(made.state).toBe('completed');
  });

  it('delivers only what failed again, until it succeeds', async () => {
    const made = await run(
      settings,
      { collect: { fleet: { marbles: 'ab 1s c|' } }, forward: { archive: { fails: 2 } } },
      fleet({ nak_delay: 10 }),
    );
    expect(made.forwarded('archive')).toEqual(marbles('1002ms c 8997ms ab'));
    expect(made.stats).toMatchObject({ dropped: { forwarder_failed: 2 } });
  });

  it.each([
    ['at once', 0, 20_000],
    ['after a time', 7, 20_000],
    ['after longer than the half of `ack_wait`', 11, 30_000],
  ])('delivers what a run that failed had in flight again after `ack_wait`: %s', async (_, seconds, at) => {
    let calls = 0;
    const process: ProcessPlugin['process'] = ({ event }) =>
      ++calls > 1 ? event : timer(seconds * 1000).pipe(map(() => 'no event' as never));
    plugin('process', 'once-wrong', defineProcessor({ process }));
    const made = await run(
      { collect: 'fleet', process: 'wrong' },
      { collect: { fleet: { marbles: 'a' } }, once: false, until: '2m' },
      { ...fleet({ ack_wait: 20 }), processors: { wrong: { plugin: 'once-wrong' } } },
    );
    expect(made.forwarded('archive').map((event) => event.at)).toEqual([at]);
    expect(made.stats).toMatchObject({ collected: 2, dropped: {} });
  });
});

describe('a stand-in of a forwarder', () => {
  const ten = { collect: { web: { marbles: '(abcdefghij|)' } } };

  it('takes batches if the real one does', async () => {
    const made = await run({}, { ...ten, forward: { archive: { takes: '100ms' } } });
    expect(made.endedAt).toBe(100);
    const single = await run({ forward: 'single' }, { ...ten, forward: { single: { takes: '100ms' } } });
    expect(single.endedAt).toBe(1000);
  });

  it('makes one call at a time if the pipeline delivers exactly once to one that stores nothing twice', async () => {
    const forwarders = {
      fleet: {
        ...{ plugin: 'nats', servers: 'localhost', subject: 'logs' },
        ...{ batch: { events: 5, seconds: 0 }, concurrency: 2 },
      },
    };
    const options = { ...ten, forward: { fleet: { takes: '100ms' } } };
    const both = await run({ forward: 'fleet' }, options, { forwarders });
    const each = await run({ forward: 'fleet', exactly_once: true }, options, { forwarders });
    expect([both.endedAt, each.endedAt]).toEqual([100, 200]);
  });

  it('gathers batches as the fields of `batching` say', async () => {
    const schema = ForwardConfigBase.extend(batching());
    plugin('forward', 'bulk', defineForwarder({ schema, forward: () => {}, forwardBatch: () => {} }));
    const forwarders = {
      bulk: { plugin: 'bulk', batch: { events: 4, seconds: 2 }, concurrency: 2 },
    };
    const sizes: number[] = [];
    const fails = ({ events }: { events: readonly unknown[] }) => sizes.push(events.length) < 0;
    const made = await run(
      { forward: 'bulk' },
      { ...ten, forward: { bulk: { takes: '1s', fails } } },
      { forwarders },
    );
    expect(sizes).toEqual([4, 4, 2]);
    expect(made.forwarded('bulk').map(({ at }) => at)).toEqual([
      1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 2000, 2000,
    ]);
    const slow = await run(
      { forward: 'bulk' },
      { collect: { web: { marbles: 'a 1s b 5s c|' } } },
      { forwarders },
    );
    expect(slow.forwarded('bulk').map(({ at }) => at)).toEqual([2000, 2000, 6003]);
  });
});

describe('every drop is told', () => {
  it('of events that a run left behind when it failed', async () => {
    plugin('process', 'wrong', defineProcessor({ process: () => 'no event' as never }));
    const made = await run(
      { collect: 'bus', process: 'wrong', restart: false },
      { collect: { bus: { marbles: 'ab|' } } },
      { processors: { wrong: { plugin: 'wrong' } } },
    );
    expect(made).toMatchObject({ state: 'failed', stats: { given_up: 1 } });
    expect(made.dropped).toMatchObject([{ by: 'bus', reason: 'given_up' }]);
  });

  it('of entries that the dead letter refuses', async () => {
    const made = await run(
      { forward: 'single', delivery: { attempts: 1, dead_letter: 'archive' } },
      {
        collect: { web: { marbles: 'a|' } },
        forward: { single: { fails: 'always' }, archive: { fails: 'always', permanent: true } },
      },
    );
    expect(made.dropped).toMatchObject([{ by: 'archive', reason: 'forwarder_failed' }]);
  });
});

describe('a pipeline that delivers exactly once', () => {
  it('cuts its output back to the last commit, and goes on from there', async () => {
    let calls = 0;
    const process: ProcessPlugin['process'] = ({ event }) => (++calls === 4 ? ('no event' as never) : event);
    plugin('process', 'once-wrong', defineProcessor({ process }));
    const outcome = async (exactly_once: boolean) => {
      calls = 0;
      const made = await run(
        { process: 'wrong', exactly_once },
        { collect: { web: { marbles: 'a 1s b-c-d' } }, once: false, until: '1m' },
        { processors: { wrong: { plugin: 'once-wrong' } } },
      );
      const written = made.forwarded('archive').map(({ data }) => data.value);
      const handed = made.trace.rows.find(({ place }) => place.name === 'archive')?.handed;
      return { written: written.join(''), writes: handed?.length };
    };
    // b and c were written and not committed when d failed the run.
    expect(await outcome(true)).toEqual({ written: 'abcd', writes: 6 });
    expect(await outcome(false)).toEqual({ written: 'abcd', writes: 4 });
  });
});

describe('a pipeline with workers', () => {
  it('has a window as large as with them', async () => {
    const processors = { secrets: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } } };
    const inFlight = async (workers: number) =>
      (
        await run(
          { process: 'secrets', workers, max_in_flight: 10 },
          {
            collect: { web: { marbles: `(${'a'.repeat(200)}|)` } },
            forward: { archive: { takes: '1h' } },
            until: '1m',
          },
          { processors },
        )
      ).left('web').length;
    expect(await inFlight(1)).toBe(10);
    expect(await inFlight(2)).toBe(20);
  });
});

describe('time', () => {
  const within = (process: ProcessPlugin['process'], options: Partial<TestPipelineOptions> = {}) => {
    plugin('process', 'timed', defineProcessor({ process }));
    return run(
      { process: 'timed' },
      { collect: { web: { marbles: 'a 1h b 23h c|' } }, ...options },
      { processors: { timed: { plugin: 'timed' } } },
    );
  };

  it('is virtual for Date and performance.now', async () => {
    let last = Number.NEGATIVE_INFINITY;
    const made = await within(({ event }) => {
      const isNew = Date.now() - last >= 86_400_000;
      if (isNew) last = new Date(Date.now()).getTime();
      expect(performance.now()).toBe(Date.now());
      expect(new Date(5).getTime()).toBe(5);
      expect(Date()).toContain('1970');
      return isNew ? event : [];
    });
    expect(made.forwarded('archive')).toEqual(marbles('a 1d -c'));
    expect(Date.now()).toBeGreaterThan(1e12);
  });

  it('is virtual for the timers of Node', async () => {
    const made = await within(
      ({ event }) =>
        new Observable((subscriber) => {
          const never = setInterval(() => subscriber.error(new Error('cleared')), 10);
          const repeated = setInterval(() => {
            clearInterval(repeated);
            setImmediate(() => {
              subscriber.next(event);
              subscriber.complete();
            });
          }, 2000);
          clearTimeout(never);
        }),
    );
    expect(made.forwarded('archive')).toEqual(marbles('2s a 1h b 82800000ms c'));
  });

  it('is virtual for the other schedulers of RxJS', async () => {
    const made = await within(({ event }) =>
      interval(1000, asapScheduler).pipe(
        take(1),
        map(() => event),
        observeOn(asapScheduler),
      ),
    );
    expect(made.forwarded('archive').map(({ at }) => at)).toEqual([
      1000,
      3_602_001 - 1000,
      86_402_002 - 1000,
    ]);
  });

  it('cannot be waited for with a timer that was imported', async () => {
    const timed = () =>
      within(({ event }) => {
        importedTimeout(() => {}, 1).unref();
        return of(event);
      });
    await expect(timed()).rejects.toThrow(
      /^a timer of node:timers was set by .*prediction\.test\.ts:\d+:\d+\)?, which virtual time/,
    );
  });
});
