import { beforeEach, describe, expect, it } from '@jest/globals';
import { asyncScheduler, concat, map, NEVER, of, take, throwError, timer } from 'rxjs';
import type { Manager } from '../../src/engine/manager.ts';
import { ForwardConfigBase } from '../../src/sdk/config.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { serialise } from '../../src/sdk/serialise.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

const HOUR = 3_600_000;
const event = (n: unknown): CollectedEvent => collectedEvent({ n });

const sink = { out: () => undefined };

describe('a collector that returns what holds no events', () => {
  it.each([
    [7, 'a number'],
    ['text', 'a string'],
    [true, 'a boolean'],
    [{ line: 'x' }, 'an object that is not an event'],
    [Promise.resolve, 'a function'],
  ])('fails with what it returned and what it may return: %p', (returned, what) => {
    const { logger } = states({
      collect: { source: () => returned as never },
      forward: { out: () => undefined },
      pipeline: { restart: false },
    });
    expect(logger.lines).toContain(
      `error main: failed: collector source: collect returned ${what}; expected an Observable, an iterable or async iterable ` +
        'of events, a promise of one of these, one event, or nothing',
    );
  });
});

describe('a forwarder that fails', () => {
  const flaky = (failures: number, error: unknown = new PluginError('busy')) => {
    let calls = 0;
    const delivered: unknown[] = [];
    const out = ({ event }: { event: CollectedEvent }) => {
      if (++calls <= failures) throw error;
      delivered.push(event.data.n);
    };
    return { out, delivered, calls: () => calls };
  };

  it('is tried again with backoff and without end, holding back what follows', () => {
    const { out, delivered } = flaky(20);
    const { manager, logger } = states({
      collect: { source: () => of(event(1), event(2)) },
      forward: { out },
    });
    expect(delivered).toEqual([1, 2]);
    expect(manager.stats().main).toMatchObject({ retries: 20, forwarded: { out: 2 }, dropped: {} });
    expect(logger.lines).toContain(
      'warn main: forwarder out: attempt 1 failed, trying again in 250 ms: busy',
    );
  });

  it('holds back neither another forwarder nor another pipeline', () => {
    const times: string[] = [];
    states({
      collect: { source: () => of(event(1), event(2)) },
      forward: {
        bad: () => {
          if (asyncScheduler.now() < HOUR) throw new PluginError('busy');
        },
        good: ({ event }) => void times.push(`${asyncScheduler.now()} ${event.data.n}`),
      },
    });
    expect(times).toEqual(['0 1', '0 2']);
  });

  describe('with an error that is fatal', () => {
    const fatalRun = (error: object, times: number, pipeline: TestPlugins['pipeline'] = {}, once = false) => {
      const acknowledged: string[] = [];
      const { out, delivered, calls } = flaky(
        times,
        Object.assign(new PluginError('no such table'), { fatal: true, ...error }),
      );
      const { manager, seen } = states(
        {
          collect: {
            source: () => {
              const batch = new EventBatch([event(1), event(2)], (outcome) => acknowledged.push(outcome));
              return once ? of(batch) : concat(of(batch), NEVER);
            },
          },
          forward: { out },
          pipeline,
          options: { once },
        },
        (manager) => timer(HOUR).subscribe(() => manager.stop()),
      );
      return { acknowledged, delivered, calls: calls(), seen, stats: manager.stats().main };
    };

    it.each([[{}], [{ ordered: false }], [{ restart: true }], [{ delivery: { attempts: 60 } }]])(
      'waits for as long as the forwarder fails, with %j',
      (pipeline) => {
        const { seen, acknowledged, delivered, stats } = fatalRun({}, 50, { restart: false, ...pipeline });
        expect(seen).not.toContainEqual(expect.stringContaining('failed'));
        expect(delivered).toEqual([1, 2]);
        expect(acknowledged[0]).toBe('forwarded');
        expect(stats).toMatchObject({ dropped: {}, retries: 50 });
      },
    );

    it('does not wait if it is permanent: nothing is dropped, and the pipeline is not started again', () => {
      for (const pipeline of [{}, { delivery: { attempts: 3 } }, { ordered: false }, { restart: true }]) {
        const { seen, acknowledged, delivered, stats } = fatalRun({ permanent: true }, 1, pipeline);
        expect(seen).toContain('0 failed');
        expect({ acknowledged, delivered }).toEqual({ acknowledged: [], delivered: [] });
        expect(stats).toMatchObject({ dropped: {}, given_up: 2, in_flight: 0 });
      }
    });

    it('fails the run with once, at most five times in a row', () => {
      const { seen, acknowledged, stats } = fatalRun({}, 10, { restart: true }, true);
      expect(seen.filter((line) => line.endsWith('running'))).toHaveLength(5);
      expect(seen.at(-1)).toBe('7500 failed');
      expect(acknowledged).toEqual([]);
      expect(stats).toMatchObject({ dropped: {}, in_flight: 0 });
      expect(fatalRun({}, 4, { restart: true }, true).seen.at(-1)).toMatch(/completed$/);
    });

    it.each([true, false])(
      'gives up after delivery.attempts, with once: %s, and bisects no batch',
      (once) => {
        let calls = 0;
        const forward = () => {
          calls++;
          throw Object.assign(new PluginError('no such table'), { fatal: true });
        };
        const plugin = { get_config_schema: () => ForwardConfigBase, forward, forwardBatch: forward };
        const { manager, seen } = states({
          collect: { source: () => of(new EventBatch([1, 2, 3, 4].map(event))) },
          forward: { out: plugin },
          pipeline: { delivery: { attempts: 3 } },
          options: { once },
        });
        expect(calls).toBe(3);
        expect(seen.at(-1)).toMatch(/completed$/);
        expect(manager.stats().main).toMatchObject({ dropped: { forwarder_failed: 4 } });
      },
    );
  });

  it('loses the event after delivery.attempts, and counts it', () => {
    const { out, delivered, calls } = flaky(3);
    const { manager } = states({
      collect: { source: () => of(event(1), event(2)) },
      forward: { out },
      pipeline: { delivery: { attempts: 3 } },
    });
    expect(delivered).toEqual([2]);
    expect(calls()).toBe(4);
    expect(manager.stats().main).toMatchObject({ dropped: { forwarder_failed: 1 }, in_flight: 0 });
  });

  it('is told in the log which of how many attempts failed, one batch or not', () => {
    const { out } = flaky(1);
    const one = states({
      collect: { source: () => of(event(1)) },
      forward: { out },
      pipeline: { delivery: { attempts: 3 } },
    });
    expect(one.logger.lines).toEqual(
      expect.arrayContaining([
        'warn main: forwarder out: attempt 1 of 3 failed, trying again in 250 ms: busy',
        'info main: forwarder out: works again after 1 failed attempt over 0 s',
      ]),
    );
  });

  it('is not tried again after a permanent error', () => {
    const { out, calls } = flaky(1, new PluginError('never', { permanent: true }));
    states({ collect: { source: () => of(event(1)) }, forward: { out } });
    expect(calls()).toBe(1);
  });

  it('has delivery.timeout seconds for an attempt', () => {
    let calls = 0;
    const { manager, logger } = states({
      collect: { source: () => of(event(1)) },
      forward: { out: () => (++calls === 1 ? NEVER : undefined) },
      pipeline: { delivery: { timeout: 30 } },
    });
    expect(manager.stats().main).toMatchObject({ forwarded: { out: 1 }, retries: 1 });
    expect(logger.lines.join()).toContain('did not finish within delivery.timeout (30 s)');
  });

  it('has a timeout of months', () => {
    const { manager } = states({
      collect: { source: () => of(event(1)) },
      forward: { out: () => timer(50) },
      pipeline: { delivery: { timeout: 2_592_000, attempts: 2 } },
    });
    expect(manager.stats().main).toMatchObject({ forwarded: { out: 1 }, retries: 0, dropped: {} });
  });

  it('tries every event once with attempts: 1, batches or not', () => {
    const calls: unknown[] = [];
    const refuse = ({ event }: { event: CollectedEvent }) => {
      calls.push(event.data.n);
      throw new PluginError('busy');
    };
    states({
      collect: { source: () => [event(1), event(2)] },
      forward: {
        out: {
          get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true as const, data }) }),
          forward: refuse,
          forwardBatch: ({ events }) => {
            for (const event of events) refuse({ event });
          },
        },
      },
      pipeline: { delivery: { attempts: 1 } },
    });
    expect(calls).toEqual([1, 2]);
  });

  it('gives the event to the dead letter, with the error, the plugin and the time', () => {
    const letters: unknown[] = [];
    const { out } = flaky(1, new PluginError('never', { permanent: true }));
    const manager = withDeadLetter(
      { collect: { source: () => of(event(1), event(2)) }, forward: { out } },
      letters,
    );
    expect(letters).toEqual([
      {
        error: 'never',
        pipeline: 'main',
        plugin: 'out',
        kind: 'forward',
        time: '1970-01-01T00:00:00.000Z',
        event: { timestamp: '1970-01-01T00:00:00.000Z', data: { n: 1 } },
      },
    ]);
    expect(manager.stats().main).toMatchObject({ dead_lettered: 1, forwarded: { out: 1 }, dropped: {} });
  });

  it('says at growing intervals that it still fails, with count, duration and cause, and when it works again', () => {
    const { logger } = states({
      collect: { source: () => of(event(1), event(2)) },
      forward: {
        out: () => {
          if (asyncScheduler.now() < HOUR / 2) throw Object.assign(new Error('no'), { code: 'EACCES' });
        },
      },
    });
    const told = logger.lines.filter((line) => line.includes('forwarder out:'));
    const cause = 'EACCES: permission denied';
    expect(told).toEqual([
      `warn main: forwarder out: attempt 1 failed, trying again in 250 ms: ${cause}`,
      `warn main: forwarder out: still failing after 7 failed attempts over 16 s, trying again in 16.0 s: ${cause}`,
      `warn main: forwarder out: still failing after 8 failed attempts over 32 s, trying again in 30.0 s: ${cause}`,
      `warn main: forwarder out: still failing after 9 failed attempts over 62 s, trying again in 30.0 s: ${cause}`,
      `warn main: forwarder out: still failing after 17 failed attempts over 5 min, trying again in 30.0 s: ${cause}`,
      `warn main: forwarder out: still failing after 27 failed attempts over 10 min, trying again in 30.0 s: ${cause}`,
      `warn main: forwarder out: still failing after 47 failed attempts over 20 min, trying again in 30.0 s: ${cause}`,
      'info main: forwarder out: works again after 66 failed attempts over 30 min',
    ]);
  });

  it('is still said to fail on one event while others pass it, with ordered: false', () => {
    const { logger } = states({
      collect: {
        source: () =>
          timer(0, 1000).pipe(
            take(60),
            map((i) => event(i)),
          ),
      },
      forward: {
        out: ({ event: { data } }) => {
          if (data.n === 0 && asyncScheduler.now() < 50_000) throw new PluginError('busy');
        },
      },
      pipeline: { ordered: false },
    });
    const told = logger.lines.filter((line) => line.includes('forwarder out:'));
    expect(told.map((line) => line.replace(/, trying.*/, ''))).toEqual([
      'warn main: forwarder out: attempt 1 failed',
      'warn main: forwarder out: still failing after 7 failed attempts over 16 s',
      'warn main: forwarder out: still failing after 8 failed attempts over 32 s',
      'info main: forwarder out: works again after 8 failed attempts over 62 s',
    ]);
  });

  describe('for long, in a run with `once`', () => {
    const down = () => {
      throw Object.assign(new Error('no'), { code: 'ECONNREFUSED', syscall: 'connect' });
    };
    const failingRun = (options: object, forward: TestPlugins['forward'] = { out: down }) => {
      const acknowledged: string[] = [];
      const { seen, manager, logger } = states({
        collect: { source: () => of(new EventBatch([event(1)], (outcome) => acknowledged.push(outcome))) },
        forward,
        pipeline: { restart: true },
        options,
      });
      return { seen, acknowledged, stats: manager.stats().main, logger };
    };

    it.each([
      ['5 min by default', {}, 300_000, '17 times over 5 min'],
      ['giveUpAfter', { giveUpAfter: 20 }, 20_000, '8 times over 20 s'],
      ['giveUpAfter: 0', { giveUpAfter: 0 }, 0, 'once over 0 s'],
    ])('makes the run fail after %s, and nothing is acknowledged', (_, options, at, often) => {
      const { seen, acknowledged, stats, logger } = failingRun({ once: true, ...options });
      expect(seen.at(-1)).toBe(`${at} failed`);
      expect(acknowledged).toEqual([]);
      expect(stats).toMatchObject({ given_up: 1, dropped: {}, in_flight: 0 });
      expect(logger.lines).toContain(
        `error main: failed: forwarder out failed ${often}, and this run gives up: ECONNREFUSED: connection refused, connect`,
      );
    });

    it('is tried for any time with giveUpAfter: Infinity, and without once', () => {
      const recovers = {
        out: () => {
          if (asyncScheduler.now() < HOUR) down();
        },
      };
      const waiting = { once: true, giveUpAfter: Number.POSITIVE_INFINITY };
      expect(failingRun(waiting, recovers).acknowledged).toEqual(['forwarded']);
      const service = states({
        collect: { source: () => of(event(1)) },
        forward: recovers,
        options: { giveUpAfter: 1 },
      });
      expect(service.manager.stats().main).toMatchObject({ forwarded: { out: 1 } });
    });

    it('counts from the first failure behind a success', () => {
      let calls = 0;
      const out = () => {
        if (calls++ % 3 < 2) down();
      };
      const { seen } = states({
        collect: { source: () => Array.from({ length: 30 }, (_, n) => event(n)) },
        forward: { out },
        options: { once: true, giveUpAfter: 2 },
      });
      expect(seen.at(-1)).toBe('22500 completed');
    });
  });
});

describe('a forwarder that takes batches', () => {
  const calls: unknown[][] = [];
  beforeEach(() => void calls.splice(0));
  const numbers = (events: readonly CollectedEvent[]) => events.map(({ data }) => data.n);

  /** The first event is slow, so that all others come in one batch. */
  const taking = (
    take: (events: readonly CollectedEvent[]) => unknown,
    pipeline: object = {},
    events = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(event),
  ) => {
    const call = (events: readonly CollectedEvent[]) => {
      calls.push(numbers(events));
      return take(events);
    };
    const letters: unknown[] = [];
    const { manager, seen } = states({
      collect: { source: () => of(...events) },
      forward: {
        out: {
          get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true as const, data }) }),
          forward: ({ event }) => (event.data.n === 0 ? timer(5) : call([event])) as never,
          forwardBatch: ({ events }) => call(events) as never,
        },
        letters: ({ event: { data } }) => void letters.push((data.event as CollectedEvent).data.n),
      },
      pipeline: { forward: ['out'], ...pipeline },
    });
    return { letters, stats: manager.stats().main, seen };
  };
  const ALL = [1, 2, 3, 4, 5, 6, 7, 8];
  const withLetters = (delivery: object = {}) => ({ delivery: { dead_letter: 'letters', ...delivery } });

  it('gets no event alone of a batch that it refuses for good', () => {
    const never = () => {
      throw new PluginError('no such token', { permanent: true });
    };
    const { letters, stats } = taking(never, withLetters());
    expect(calls).toEqual([ALL]);
    expect(letters).toEqual(ALL);
    expect(stats).toMatchObject({ retries: 0, dead_lettered: 8, forwarded: { out: 1 }, in_flight: 0 });
    calls.splice(0);
    const dropped = taking(never, { delivery: { attempts: 5 } });
    expect(calls).toEqual([ALL]);
    expect(dropped.stats).toMatchObject({ dropped: { forwarder_failed: 8 }, retries: 0 });
  });

  it('gets the halves of a batch that has failed once less than delivery.attempts, until the culprit is found', () => {
    const poison = (events: readonly CollectedEvent[]) => {
      if (numbers(events).includes(3)) throw new PluginError('poison');
    };
    const { letters, stats } = taking(poison, withLetters({ attempts: 3 }));
    expect(calls).toEqual([ALL, ALL, [1, 2, 3, 4], [1, 2], [3, 4], [3], [4], [5, 6, 7, 8]]);
    expect(letters).toEqual([3]);
    expect(stats).toMatchObject({ dead_lettered: 1, forwarded: { out: 8 }, in_flight: 0 });
  });

  it('gets the whole batch again for as long as it fails, without delivery.attempts', () => {
    let left = 12;
    taking(() => {
      if (left-- > 0) throw new PluginError('busy');
    });
    expect(calls).toEqual(Array(13).fill(ALL));
  });

  it('says by failedEvents which of a batch have failed: only those are tried again, or given up', () => {
    const refuses = (permanent: boolean) => (events: readonly CollectedEvent[]) => {
      const failedEvents = numbers(events).flatMap((n, at) => (n === 2 || n === 5 ? [at] : []));
      if (failedEvents.length > 0) throw new PluginError('refused', { failedEvents, permanent });
    };
    expect(taking(refuses(true), withLetters())).toMatchObject({ letters: [2, 5], stats: { retries: 0 } });
    expect(calls).toEqual([ALL]);
    calls.splice(0);
    const { letters, stats } = taking(refuses(false), withLetters({ attempts: 3 }));
    expect(calls).toEqual([ALL, [2, 5], [2, 5]]);
    expect(letters).toEqual([2, 5]);
    expect(stats).toMatchObject({ forwarded: { out: 7 }, in_flight: 0 });
  });

  it.each([[[8]], [[-1]], [['1']], [[]], ['1'], [[0, 1, 2, 3, 4, 5, 6, 7]]])(
    'has failed as a whole if failedEvents is %j',
    (failedEvents) => {
      const { letters } = taking(() => {
        throw Object.assign(new Error('refused'), { failedEvents, permanent: true });
      }, withLetters());
      expect(calls).toEqual([ALL]);
      expect(letters).toEqual(ALL);
    },
  );

  it('loses no event by another that JSON cannot hold', () => {
    const round = event(2);
    round.data.self = round;
    const events = [event(0), event(1), round, event(3)];
    const { stats } = taking((events) => void events.map((event) => serialise(event)), {}, events);
    expect(calls).toEqual([
      [1, 2, 3],
      [1, 3],
    ]);
    expect(stats).toMatchObject({ forwarded: { out: 3 }, dropped: { forwarder_failed: 1 }, retries: 0 });
  });
});

/** The pipeline with a dead letter beside its forwarders. */
function withDeadLetter(plugins: TestPlugins, letters: unknown[]): Manager {
  return states({
    ...plugins,
    forward: { ...plugins.forward, letters: ({ event }) => void letters.push(event.data) },
    pipeline: { forward: Object.keys(plugins.forward), delivery: { dead_letter: 'letters' } },
  }).manager;
}

describe('a processor that fails', () => {
  const secret = 'hunter2-the-secret';

  it('drops the event alone, and logs it without its content', () => {
    const seen: unknown[] = [];
    const { manager, logger } = states({
      collect: { source: () => of(event(1), event(secret), event(3)) },
      process: {
        picky: ({ event }) => {
          if (event.data.n === secret) JSON.parse(secret);
          return [event];
        },
      },
      forward: { out: ({ event }) => void seen.push(event.data.n) },
    });
    expect(seen).toEqual([1, 3]);
    expect(manager.stats().main).toMatchObject({ dropped: { processor_failed: 1 }, in_flight: 0 });
    expect(manager.states().main?.state).toBe('completed');
    expect(logger.lines.join()).toMatch(/error main: processor picky failed on an event: SyntaxError/);
    expect(logger.lines.join()).not.toContain('hunter2');
  });

  it('says in the log where the event comes from, and not in the dead letter', () => {
    const origin = { path: '/var/log/a.log', startOffset: 10, endOffset: 70 };
    const letters: unknown[] = [];
    const { logger } = states({
      collect: { source: () => of(new EventBatch([event(1)], () => {}, origin)) },
      process: {
        picky: () => {
          throw new PluginError('no');
        },
      },
      forward: { out: () => undefined, letters: ({ event }) => void letters.push(event.data) },
      pipeline: { forward: ['out'], delivery: { dead_letter: 'letters' } },
    });
    expect(logger.lines.join()).toContain(
      'error main: processor picky failed on an event of /var/log/a.log (bytes 10 to 70): no',
    );
    expect(letters).toHaveLength(1);
    expect(JSON.stringify(letters)).not.toContain('a.log');
  });

  it.each([
    ['rejects', () => throwError(() => new Error('no'))],
    [
      'fails after a first result',
      ({ event }: { event: CollectedEvent }) =>
        concat(
          of(event),
          throwError(() => 'no'),
        ),
    ],
  ])('acknowledges an event on which it %s', (_, process) => {
    const { manager } = states({
      collect: { source: () => of(event(1)) },
      process: { bad: process },
      forward: sink,
    });
    expect(manager.stats().main).toMatchObject({ dropped: { processor_failed: 1 }, in_flight: 0 });
    expect(manager.states().main?.state).toBe('completed');
  });

  it('never puts an event into the dead letter that has not passed every mask', () => {
    const letters: unknown[] = [];
    const mask = {
      get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true as const, data }) }),
      process: () => {
        throw new TypeError(`cannot mask ${secret}`);
      },
      traits: { masks: true },
    };
    withDeadLetter(
      {
        collect: { source: () => of(event(secret)) },
        process: { first: ({ event }) => [event], mask },
        forward: sink,
      },
      letters,
    );
    withDeadLetter(
      {
        collect: { source: () => of(event(secret)) },
        process: { early: () => throwError(() => new Error(secret)), mask },
        forward: sink,
      },
      letters,
    );
    expect(letters).toMatchObject([
      { plugin: 'mask', withheld: 'the event had not passed the mask mask' },
      { plugin: 'early', withheld: 'the event had not passed the mask mask' },
    ]);
    expect(JSON.stringify(letters)).not.toContain('hunter2');
  });

  it('does not flood the log when it fails on every event', () => {
    const { logger } = states({
      collect: { source: () => Array.from({ length: 1000 }, (_, i) => event(i)) },
      process: { bad: () => throwError(() => new PluginError('no')) },
      forward: sink,
    });
    expect(logger.lines.filter((line) => line.startsWith('error'))).toHaveLength(3);
  });
});
