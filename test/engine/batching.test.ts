import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concatMap, filter, from, map, take, timer } from 'rxjs';
import {
  type BatchingDefaults,
  batching,
  type CollectedEvent,
  type ConfigSchema,
  collectedEvent,
  defineForwarder,
  EventBatch,
  type FailedEvent,
  ForwardConfigBase,
  PluginError,
} from '../../src/index.ts';
import type { PartlyFailedCall } from '../../src/sdk/index.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { toJsonLine } from '../../src/sdk/serialise.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

const event = (n: number): CollectedEvent => collectedEvent({ n });
const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => event(from + i));
const numbers = (batch: readonly CollectedEvent[]) => batch.map(({ data }) => data.n as number);
/** One event every `ms` milliseconds, from 1 on. */
const ticks = (count: number, ms: number) =>
  timer(ms, ms).pipe(
    take(count),
    map((n) => event(n + 1)),
  );

interface Run extends Pick<TestPlugins, 'pipeline' | 'options'> {
  readonly batch?: BatchingDefaults;
  readonly source: () => unknown;
  readonly call?: (batch: readonly CollectedEvent[], nth: number) => unknown;
  readonly process?: TestPlugins['process'];
}

/** Runs a pipeline in virtual time; `calls` are the batches as `time: first-last`, or all numbers. */
function run(
  { batch = {}, source, call = () => undefined, process = {}, pipeline = {}, options = {} }: Run,
  during?: Parameters<typeof states>[1],
) {
  const calls: string[] = [];
  const letters: unknown[] = [];
  const take = (batch: readonly CollectedEvent[]) => {
    calls.push(`${asyncScheduler.now()}: ${numbers(batch).join(' ')}`);
    return call(batch, calls.length) as never;
  };
  const out = defineForwarder({
    schema: ForwardConfigBase.extend(batching(batch)),
    forward: ({ event }) => take([event]),
    forwardBatch: ({ events }) => take(events),
  });
  const result = states(
    {
      collect: { source },
      process,
      forward: { out, letters: ({ event: { data } }) => void letters.push(data) },
      pipeline: { forward: ['out'], ...pipeline },
      options,
    },
    during,
  );
  return { ...result, calls, letters, stats: result.manager.stats().main };
}

describe('a batch', () => {
  it('leaves when it has `events` events, whatever came together, in order', () => {
    const sizes = [3, 1, 7, 2];
    let n = 0;
    const { calls, stats } = run({
      batch: { events: 4, seconds: 9 },
      source: () => sizes.map((size) => new EventBatch(Array.from({ length: size }, () => event(++n)))),
    });
    expect(calls).toEqual(['0: 1 2 3 4', '0: 5 6 7 8', '0: 9 10 11 12', '0: 13']);
    expect(stats).toMatchObject({ forwarded: { out: 13 }, in_flight: 0 });
  });

  it('leaves when it has `bytes` bytes of JSON lines; a larger event leaves alone', () => {
    const bytes = Buffer.byteLength(`${JSON.stringify(event(1))}\n`);
    const large = collectedEvent({ n: 5, text: 'x'.repeat(1000) });
    const source = () => [...events(1, 4), large, ...events(6, 7)];
    const { calls } = run({ batch: { bytes: 3 * bytes, seconds: 9 }, source });
    expect(calls.map((call) => call.split(': ')[1])).toEqual(['1 2 3', '4', '5', '6 7']);
  });

  it('leaves `seconds` after its first event', () => {
    const source = () => ticks(8, 400).pipe(filter(({ data }) => data.n !== 5));
    const { calls } = run({ batch: { seconds: 1 }, source });
    expect(calls).toEqual(['1400: 1 2 3', '2600: 4 6', '3200: 7 8']);
  });

  it('leaves as soon as a call is free without `seconds`, and grows until then', () => {
    const { calls } = run({ batch: { events: 3 }, source: () => ticks(7, 10), call: () => timer(35) });
    expect(calls).toEqual(['10: 1', '45: 2 3 4', '80: 5 6 7']);
  });

  it('grows until a call is free after its time', () => {
    const { calls } = run({ batch: { seconds: 0.02 }, source: () => ticks(9, 10), call: () => timer(45) });
    expect(calls).toEqual(['30: 1 2 3', '75: 4 5 6 7', '120: 8 9']);
  });

  it('leaves at once at a stop', () => {
    const source = () => ticks(9, 1000);
    const { calls, seen } = run({ batch: { seconds: 60 }, source }, (manager) => {
      timer(2500).subscribe(() => void manager.stop());
    });
    expect(calls).toEqual(['2500: 1 2']);
    expect(seen.at(-1)).toBe('2500 stopped');
  });

  it('leaves when the window is full, also of events that were filtered out or wait elsewhere', () => {
    const filled = run({
      batch: { events: 10, seconds: 60 },
      source: () => events(1, 7),
      pipeline: { max_in_flight: 3 },
    });
    expect(filled.calls).toEqual(['0: 1 2 3', '0: 4 5 6', '0: 7']);
    const { calls } = run({
      batch: { events: 10, seconds: 60 },
      source: () => events(1, 4),
      process: { third: ({ event }) => ((event.data.n as number) % 3 === 1 ? [event] : []) },
      pipeline: { max_in_flight: 3 },
    });
    expect(calls).toEqual(['100: 1', '100: 4']);
  });

  it('is read from the entry: the engine gathers nothing for a field of the same name', () => {
    const batches: number[][] = [];
    const schema: ConfigSchema = {
      safeParse: (entry) => ({ success: true, data: { ...(entry as object), batch: { events: 2 } } }),
    };
    const out = defineForwarder({
      schema,
      forward: () => undefined,
      forwardBatch: ({ events }) => void batches.push(numbers(events)),
    });
    states({ collect: { source: () => new EventBatch(events(1, 5)) }, forward: { out } });
    expect(batches).toEqual([[1, 2, 3, 4, 5]]);
  });
});

describe('the id of a call', () => {
  function ids(fail: (nth: number) => unknown, pipeline: TestPlugins['pipeline'] = {}) {
    const calls: [id: string, events: number[]][] = [];
    const note = (id: string, batch: readonly CollectedEvent[]) => {
      calls.push([id, numbers(batch)]);
      const error = fail(calls.length);
      if (error !== undefined) throw error;
    };
    const out = defineForwarder({
      schema: ForwardConfigBase.extend(batching({ events: 3 })),
      forward: ({ event, id }) => note(id, [event]),
      forwardBatch: ({ events, id }) => note(id, events),
    });
    states({ collect: { source: () => new EventBatch(events(1, 6)) }, forward: { out }, pipeline });
    return calls;
  }

  it('is the same in every attempt, and another one for other events', () => {
    const calls = ids((nth) => (nth < 3 ? new Error('busy') : undefined));
    const [first, second, third, last] = calls;
    expect(calls.map(([, batch]) => batch)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(new Set([first?.[0], second?.[0], third?.[0]]).size).toBe(1);
    expect(last?.[0]).not.toBe(first?.[0]);
  });

  it('is another one for what is left after a partial failure, and for halves', () => {
    const rest = ids((nth) => (nth === 1 ? new PluginError('busy', { failedEvents: [1] }) : undefined));
    expect(rest.map(([, batch]) => batch)).toEqual([[1, 2, 3], [2], [4, 5, 6]]);
    expect(new Set(rest.map(([id]) => id)).size).toBe(3);
    const halves = ids((nth) => (nth <= 1 ? new Error('busy') : undefined), { delivery: { attempts: 2 } });
    expect(halves.map(([, batch]) => batch)).toEqual([[1, 2, 3], [1, 2], [3], [4, 5, 6]]);
    expect(new Set(halves.map(([id]) => id)).size).toBe(4);
  });

  it('comes as `restOf` with what is left of a call, however often it fails in part', () => {
    const calls: { id: string; restOf: PartlyFailedCall | undefined }[] = [];
    const note = (id: string, restOf: PartlyFailedCall | undefined) => {
      calls.push({ id, restOf });
      const failedEvents = [
        [1, 2, 3],
        [0, 2],
        [0, 1],
      ][calls.length - 1];
      if (failedEvents !== undefined) throw new PluginError('busy', { failedEvents });
    };
    const out = defineForwarder({
      schema: ForwardConfigBase.extend(batching({ events: 4 })),
      forward: ({ id, restOf }) => note(id, restOf),
      forwardBatch: ({ id, restOf }) => note(id, restOf),
    });
    const all = events(1, 5);
    states({ collect: { source: () => new EventBatch(all) }, forward: { out } });
    const call = { id: calls[0]?.id, events: all.slice(0, 4) };
    expect(calls.map(({ restOf }) => restOf)).toEqual([
      undefined,
      { ...call, left: [1, 2, 3] },
      { ...call, left: [1, 3] },
      { ...call, left: [1, 3] },
      undefined,
    ]);
  });
});

describe('a forwarder of JSON lines', () => {
  it.each([
    ['as many as come together', { events: 2 }, ['12', '34']],
    ['as many bytes as come together', { bytes: 200, events: 9 }, ['12', '34']],
    ['all of them', { events: 4 }, ['1234']],
    ['split by events', { events: 3 }, ['123', '4']],
    ['split by bytes', { bytes: 280, events: 9 }, ['123', '4']],
    ['each alone', { bytes: 1, events: 9 }, ['1', '2', '3', '4']],
  ])('gets lines in batches, of which no event is created: %s', (_, limits, calls) => {
    const documents: string[] = [];
    const envelope = {
      timestamp: '2026-01-01T00:00:00.000Z',
      source: 'a',
      backfill: false,
      isTruncated: false,
    };
    const lines = [LineEvents.of(['1', '2'], envelope), LineEvents.of(['3', '4'], envelope)];
    const created = lines.map((each) => jest.spyOn(each, 'events', 'get'));
    const out = defineForwarder({
      schema: ForwardConfigBase.extend(batching({ seconds: 9, ...limits })),
      forward: ({ event }) => void documents.push(toJsonLine(event)),
      forwardJsonLines: () => (bytes) => void documents.push(bytes.toString()),
    });
    states({ collect: { source: () => lines.map((each) => new EventBatch(each)) }, forward: { out } });
    expect(documents.map((text) => text.match(/(?<="line":")\d/g)?.join(''))).toEqual(calls);
    for (const spy of created) expect(spy).not.toHaveBeenCalled();
  });
});

describe('concurrency', () => {
  it('is how many calls are under way, in ordered and unordered pipelines', () => {
    for (const ordered of [true, false]) {
      const { calls } = run({
        batch: { events: 2, concurrency: 3 },
        source: () => events(1, 10),
        call: () => timer(10),
        pipeline: { ordered },
      });
      expect(calls).toEqual(['0: 1', '0: 2', '0: 3', '10: 4 5', '10: 6 7', '10: 8 9', '20: 10']);
    }
  });

  it('is 1 by default, also without order', () => {
    const { calls } = run({
      batch: { events: 2 },
      source: () => new EventBatch(events(1, 4)),
      call: () => timer(10),
      pipeline: { ordered: false },
    });
    expect(calls).toEqual(['0: 1 2', '10: 3 4']);
  });
});

describe('a partial failure', () => {
  it('gives what failed for good to the dead letter with its own reason, and tries the rest again together', () => {
    const acknowledged: string[] = [];
    const { calls, letters, stats, logger } = run({
      source: () => new EventBatch(events(1, 6), (outcome) => acknowledged.push(outcome)),
      call: (batch) => {
        const failedEvents = numbers(batch).flatMap((n, index): FailedEvent[] => {
          if (n === 2) return [{ index, reason: 'no field `user`', permanent: true }];
          if (n === 3) return [{ index, permanent: true }];
          return asyncScheduler.now() < 100 && n > 4 ? [{ index, reason: 'shard busy' }] : [];
        });
        if (failedEvents.length > 0) throw new PluginError('some were refused', { failedEvents });
      },
      pipeline: { delivery: { dead_letter: 'letters', attempts: 5 } },
    });
    expect(calls).toEqual(['0: 1 2 3 4 5 6', '250: 5 6']);
    expect(letters).toMatchObject([
      { error: 'no field `user`', event: { data: { n: 2 } } },
      { error: 'some were refused', event: { data: { n: 3 } } },
    ]);
    expect(stats).toMatchObject({ forwarded: { out: 4 }, dead_lettered: 2, retries: 1, in_flight: 0 });
    expect(acknowledged).toEqual(['dead_lettered']);
    expect(logger.lines).toContain(
      'warn main: forwarder out: attempt 1 of 5 failed, trying again in 250 ms: some were refused',
    );
  });

  it('acknowledges at once what was delivered', () => {
    const acknowledged: number[] = [];
    const source = () =>
      from([1, 2]).pipe(
        map((n) => new EventBatch([event(n)], () => acknowledged.push(asyncScheduler.now()))),
      );
    const call = (batch: readonly CollectedEvent[], nth: number) => {
      if (nth === 1) throw new PluginError('busy', { failedEvents: [batch.length - 1] });
    };
    run({ batch: { events: 2, seconds: 1 }, source, call });
    expect(acknowledged).toEqual([0, 250]);
  });

  it('with `unfinished` is no failed attempt: the rest is sent at once, unless nothing was done', () => {
    const rest = (sent: readonly CollectedEvent[], from: number) =>
      new PluginError('later', {
        failedEvents: sent.slice(from).map((_, i) => i + from),
        unfinished: true,
      });
    const { calls, letters, stats } = run({
      source: () => new EventBatch(events(1, 4)),
      call: (sent, nth) => {
        if (nth < 3) throw rest(sent, 1);
      },
      pipeline: { delivery: { dead_letter: 'letters', attempts: 2 } },
    });
    expect(calls).toEqual(['0: 1 2 3 4', '0: 2 3 4', '0: 3 4']);
    expect(letters).toEqual([]);
    expect(stats).toMatchObject({ forwarded: { out: 4 }, retries: 0, in_flight: 0 });
    const idle = run({
      source: () => new EventBatch(events(1, 4)),
      call: (sent, nth) => {
        if (nth < 3) throw rest(sent, 0);
      },
    });
    expect(idle.calls).toEqual(['0: 1 2 3 4', '250: 1 2 3 4', '750: 1 2 3 4']);
  });

  it('is of a single event too', () => {
    const call = () => {
      throw new PluginError('refused', {
        failedEvents: [{ index: 0, reason: 'too large', permanent: true }],
      });
    };
    const { calls, letters } = run({
      source: () => [event(1)],
      call,
      pipeline: { delivery: { dead_letter: 'letters' } },
    });
    expect(calls).toEqual(['0: 1']);
    expect(letters).toMatchObject([{ error: 'too large' }]);
  });

  it('shows no reason of a foreign error, which may quote the event', () => {
    const call = () => {
      throw Object.assign(new Error('hunter2'), {
        failedEvents: [{ index: 0, reason: 'hunter2', permanent: true }],
      });
    };
    const { letters, logger } = run({
      source: () => new EventBatch(events(1, 2)),
      call,
      pipeline: { delivery: { dead_letter: 'letters' } },
    });
    expect(letters).toHaveLength(1);
    expect(JSON.stringify([letters, logger.lines])).not.toContain('hunter2');
  });

  it('is tried again at growing intervals, and gives up in a run with `once` as any other', () => {
    const call = () => {
      throw new PluginError('busy', { failedEvents: [0] });
    };
    const { calls, seen, logger } = run({
      source: () => new EventBatch(events(1, 2)),
      call,
      options: { once: true, giveUpAfter: 3 },
    });
    expect(calls).toEqual(['0: 1 2', '250: 1', '750: 1', '1750: 1', '3000: 1']);
    expect(seen.at(-1)).toBe('3000 failed');
    expect(logger.lines.join()).toContain(
      'forwarder out failed 5 times over 3 s, and this run gives up: busy',
    );
  });

  it('keeps its growing waits and its limit when fewer events fail with each attempt', () => {
    const { calls, seen } = run({
      source: () => new EventBatch(events(1, 9)),
      call: (sent) => {
        throw new PluginError('busy', { failedEvents: sent.slice(1).map((_, i) => i + 1) });
      },
      options: { once: true, giveUpAfter: 3 },
    });
    expect(calls).toEqual([
      '0: 1 2 3 4 5 6 7 8 9',
      '250: 2 3 4 5 6 7 8 9',
      '750: 3 4 5 6 7 8 9',
      '1750: 4 5 6 7 8 9',
      '3000: 5 6 7 8 9',
    ]);
    expect(seen.at(-1)).toBe('3000 failed');
  });
});

describe('retryAfter', () => {
  const busy = (retryAfter: number) => new PluginError('too many requests', { retryAfter });

  it('takes the place of the next wait, and the log says so', () => {
    const { calls, logger } = run({
      source: () => [event(1)],
      call: (_, nth) => {
        if (nth === 1) throw busy(30);
        if (nth === 2) throw new PluginError('down');
      },
    });
    expect(calls).toEqual(['0: 1', '30000: 1', '30500: 1']);
    expect(logger.lines).toContain(
      'warn main: forwarder out: attempt 1 failed, trying again in 30.0 s as asked: too many requests',
    );
  });

  it.each([
    [86_400, 3_600_000],
    [Number.POSITIVE_INFINITY, 3_600_000],
    [0, 250],
    [-1, 250],
    [Number.NaN, 250],
  ])('of %d s is a wait of %d ms', (retryAfter, wait) => {
    const { calls } = run({
      source: () => [event(1)],
      call: (_, nth) => {
        if (nth === 1) throw busy(retryAfter);
      },
    });
    expect(calls).toEqual(['0: 1', `${wait}: 1`]);
  });

  it('holds back every call of the forwarder', () => {
    const { calls } = run({
      batch: { events: 1, concurrency: 2 },
      source: () => events(1, 4),
      call: (_, nth) =>
        timer(nth * 10).pipe(
          concatMap(() => {
            if (nth === 1) throw busy(5);
            return [];
          }),
        ),
    });
    // The first fails at 10 ms; the second, under way since 0 ms, completes.
    expect(calls).toEqual(['0: 1', '0: 2', '5010: 1', '5010: 3', '5040: 4']);
  });

  it('is no longer than a run with `once` may wait', () => {
    const { calls, seen } = run({
      source: () => [event(1)],
      call: () => {
        throw busy(600);
      },
      options: { once: true, giveUpAfter: 5 },
    });
    expect(calls).toEqual(['0: 1', '5000: 1']);
    expect(seen.at(-1)).toBe('5000 failed');
  });
});

describe('delivery.attempts: 1', () => {
  it('sends a batch once', () => {
    const { calls, letters } = run({
      source: () => new EventBatch(events(1, 3)),
      call: () => {
        throw new PluginError('busy');
      },
      pipeline: { delivery: { attempts: 1, dead_letter: 'letters' } },
    });
    expect(calls).toEqual(['0: 1 2 3']);
    expect(letters).toHaveLength(3);
  });
});
