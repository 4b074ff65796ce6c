import { describe, expect, it } from '@jest/globals';
import { concat, delay, EMPTY, ignoreElements, of, timer } from 'rxjs';
import type { EntryCounters } from '../../src/engine/counters.ts';
import type { Manager } from '../../src/engine/manager.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

const n = ({ data }: CollectedEvent) => Number(data.n ?? (data.event as CollectedEvent | undefined)?.data.n);
const after = (ms: number) => timer(ms).pipe(ignoreElements());
const permanent = (message: string) => new PluginError(message, { permanent: true });

/** 40 events in batches, some of which the collector cannot read. */
const source = () =>
  concat(
    ...Array.from({ length: 8 }, (_, batch) => {
      const events = [0, 1, 2, 3, 4].map((i) => collectedEvent({ n: batch * 5 + i }));
      const refused = EventBatch.refused(
        events[0] as CollectedEvent,
        new PluginError('cannot be read'),
        () => {},
      );
      return of(batch % 3 === 2 ? refused : new EventBatch(events)).pipe(delay(3));
    }),
  );

/** Routes, dead letters and forwarders that fail, each in its own way. */
const plugins = (pipeline: object = {}): TestPlugins => ({
  collect: { source },
  process: {
    sort: ({ event }) => {
      if (n(event) % 7 === 3) throw new PluginError('no');
      return n(event) % 7 === 4 ? undefined : event;
    },
    slow: ({ event }) => of(event).pipe(delay(n(event) % 4)),
  },
  forward: {
    good: () => after(2),
    refusing: ({ event }) => {
      if (n(event) % 2 === 1) throw permanent('odd');
      return EMPTY;
    },
    flaky: (() => {
      let calls = 0;
      return () => {
        if (calls++ % 3 === 0) throw new Error('try again');
        return after(1);
      };
    })(),
    dead: ({ event }) => {
      if (n(event) % 5 === 0) throw permanent('not this one');
      return after(4);
    },
  },
  pipeline: {
    forward: [
      'good',
      // This condition fails on the events whose n is odd, because they have no such field.
      { to: 'refusing', when: 'data.n < 30' },
      { to: 'flaky', when: 'data.n % 2 == 0 || data.missing' },
    ],
    delivery: { attempts: 3, dead_letter: 'dead' },
    max_in_flight: 20,
    ...pipeline,
  },
});

function checkSums(entries: readonly EntryCounters[]): void {
  for (const entry of entries) {
    const { kind, name, received, sent, failed, waiting, abandoned, inFlight, acknowledged, dropped } = entry;
    const found = { kind, name, waiting, inFlight };
    expect(found).toEqual({
      ...found,
      // Not negative, and not more than there are.
      waiting: Math.min(Math.max(waiting, 0), received),
      inFlight: Math.min(Math.max(inFlight, 0), received),
    });
    if (kind === 'forward' || kind === 'dead_letter') {
      expect([name, received]).toEqual([name, sent + failed + waiting + abandoned]);
    }
    if (kind === 'collect') {
      // The others wait in its buffer.
      expect(received - (dropped.get('buffer_full') ?? 0)).toBeGreaterThanOrEqual(sent + failed);
      const done = Object.values(acknowledged).reduce((sum, count) => sum + count, 0);
      expect([name, sent + failed]).toEqual([name, done + inFlight]);
    }
  }
}

function run(pipeline: object = {}, during: (manager: Manager) => void = () => {}) {
  const { manager } = states(plugins(pipeline), (running) => {
    for (let ms = 0; ms < 60; ms++) {
      timer(ms).subscribe(() => checkSums(running.counters('main')?.entries ?? []));
    }
    during(running);
  });
  const entries = manager.counters('main')?.entries ?? [];
  checkSums(entries);
  return { manager, of: (name: string) => entries.find((entry) => entry.name === name) as EntryCounters };
}

describe('the counters of a pipeline with routes, dead letters and forwarders that fail', () => {
  it.each([{}, { ordered: false }, { delivery: { attempts: 1 } }])('add up at each entry: %j', (pipeline) => {
    const { manager, of: entry } = run(pipeline);
    const hasDeadLetter = !('delivery' in pipeline);
    const [all, sort, slow] = ['source', 'sort', 'slow'].map(entry) as EntryCounters[];
    // Two batches of eight are refused.
    expect(all).toMatchObject({ received: 32, sent: 30, failed: 2, inFlight: 0 });
    expect(sort?.received).toBe(30);
    expect(sort?.received).toBe(
      (sort?.sent ?? 0) + (sort?.failed ?? 0) + (sort?.dropped.get('filtered') ?? 0),
    );
    expect(slow).toMatchObject({ received: sort?.sent, sent: sort?.sent });
    // Nothing is left, and nothing was given up.
    for (const name of ['good', 'refusing', 'flaky', ...(hasDeadLetter ? ['dead'] : [])]) {
      expect(entry(name)).toMatchObject({ waiting: 0, abandoned: 0 });
    }
    expect(entry('good')).toMatchObject({ received: slow?.sent, sent: slow?.sent, failed: 0 });
    const flaky = entry('flaky');
    const failedRoutes = (hasDeadLetter ? flaky.deadLettered : flaky.dropped.get('route_failed')) ?? 0;
    expect(failedRoutes).toBeGreaterThan(5);
    if (hasDeadLetter) {
      expect(flaky.received + failedRoutes).toBe(slow?.sent);
      const toDead = [all, sort, slow, entry('refusing'), flaky].reduce(
        (sum, one) => sum + (one?.deadLettered ?? 0),
        0,
      );
      expect(entry('dead')).toMatchObject({ received: toDead, sent: expect.any(Number) });
      expect(entry('dead').failed).toBeGreaterThan(0);
    }
    expect(manager.stats().main).toMatchObject({ in_flight: 0, given_up: 0 });
  });

  it('add up when a stop gives up on what is in flight', () => {
    const { manager, of: entry } = run({}, (running) => {
      timer(12).subscribe(() => running.stop());
    });
    expect(entry('good').waiting).toBe(0);
    expect(manager.stats().main?.in_flight).toBe(0);
  });
});
