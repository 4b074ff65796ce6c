import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, ignoreElements, NEVER, of, timer } from 'rxjs';
import type { Manager } from '../../src/engine/manager.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { marbles } from '../support/marbles.ts';
import { type TestPlugins, testManager } from '../support/pipelines.ts';

type Process = (args: { event: CollectedEvent }) => unknown;

const event = (n: unknown): CollectedEvent => collectedEvent({ n });

interface Flood {
  readonly process: Process;
  readonly events?: number;
  readonly pipeline?: TestPlugins['pipeline'];
  /** Milliseconds of virtual time. */
  readonly perEvent?: number;
  readonly until?: number;
}

/** Runs a pipeline with one processor in virtual time, and stops it. What came out, in its order. */
function run({ process, events = 1, pipeline = {}, perEvent = 1, until = 10_000 }: Flood) {
  const seen: unknown[] = [];
  const out: Process = ({ event }) => {
    seen.push(event.data.n);
    return timer(perEvent);
  };
  let manager: Manager | undefined;
  marbles(({ flush }) => {
    manager = testManager({
      collect: { source: () => Array.from({ length: events }, (_, n) => event(n)) },
      process: { pass: ({ event }) => [event], many: process },
      forward: { out },
      pipeline,
      options: { drainTimeout: 0 },
    });
    manager.start();
    timer(until).subscribe(() => manager?.stop());
    flush();
  });
  return { seen, stats: manager?.stats().main, state: manager?.states().main?.state };
}

/** `length` results of each event, and how many were asked for. */
function counting(length: number) {
  const made = { count: 0 };
  function* results({ event: { data } }: { event: CollectedEvent }) {
    for (let i = 0; i < length; i++) {
      made.count++;
      yield event(`${data.n}.${i}`);
    }
  }
  return { made, results };
}

describe('the results of a processor', () => {
  it('are pulled as they are delivered: an endless generator stays within twice max_in_flight and 16', () => {
    const { made, results } = counting(Number.POSITIVE_INFINITY);
    const { seen } = run({ process: results, pipeline: { max_in_flight: 10 }, until: 1000 });
    expect(seen.length).toBeGreaterThan(900);
    expect(made.count - seen.length).toBeLessThanOrEqual(20 + 16);
  });

  it('are bounded over all events together', () => {
    const { made, results } = counting(1000);
    const { seen } = run({
      process: results,
      events: 1000,
      pipeline: { max_in_flight: 10 },
      until: 100,
    });
    expect(made.count - seen.length).toBeLessThanOrEqual(20 + 16 * 10);
  });

  it('of an async generator are bounded likewise', async () => {
    let made = 0;
    const manager = testManager({
      collect: { source: () => Array.from({ length: 1000 }, (_, n) => event(n)) },
      process: {
        async *many() {
          for (;;) {
            made++;
            yield event(0);
          }
        },
      },
      forward: { out: () => NEVER },
      pipeline: { max_in_flight: 10 },
      options: { drainTimeout: 0.05 },
    });
    manager.start();
    await firstValueFrom(manager.stop());
    expect(made).toBeGreaterThanOrEqual(20);
    expect(made).toBeLessThanOrEqual(30);
  });

  it.each([1, 3, 1000])('all leave, in order, with max_in_flight: %d', (max_in_flight) => {
    const { results } = counting(70);
    const { seen, stats, state } = run({ process: results, events: 20, pipeline: { max_in_flight } });
    expect(state).toBe('completed');
    expect(seen).toEqual(
      Array.from({ length: 20 }, (_, n) => Array.from({ length: 70 }, (_, i) => `${n}.${i}`)).flat(),
    );
    expect(stats).toMatchObject({ collected: 20, forwarded: { out: 1400 }, in_flight: 0 });
  });

  it.each([true, false])(
    'of the oldest event are not kept by those of later ones; ordered: %p',
    (ordered) => {
      const process: Process = ({ event: { data } }) =>
        data.n === 0
          ? timer(500).pipe(ignoreElements())
          : Array.from({ length: 50 }, (_, i) => event(`${data.n}.${i}`)).values();
      const { seen, state, stats } = run({ process, events: 8, pipeline: { ordered, max_in_flight: 4 } });
      expect(state).toBe('completed');
      expect(seen).toHaveLength(7 * 50);
      expect(stats).toMatchObject({ dropped: { filtered: 1 }, in_flight: 0 });
    },
  );

  it('may be a promise of an iterable', async () => {
    const seen: unknown[] = [];
    const { made, results } = counting(300);
    const manager = testManager({
      collect: { source: () => of(event(1)) },
      process: { many: async ({ event }) => results({ event }) },
      forward: { out: ({ event }) => void seen.push(event.data.n) },
      pipeline: { max_in_flight: 2 },
    });
    manager.start();
    await firstValueFrom(manager.finished$);
    expect([made.count, seen.length]).toEqual([300, 300]);
  });

  it.each([
    [3, 0],
    [50, 50],
  ])(
    'are taken at once up to 16: of an iterable that fails after %d, %d are delivered',
    (made, delivered) => {
      const { seen, stats } = run({
        *process() {
          for (let i = 0; i < made; i++) yield event(i);
          throw new PluginError('no more');
        },
      });
      expect(seen).toHaveLength(delivered);
      expect(stats).toMatchObject({ dropped: { processor_failed: 1 }, in_flight: 0 });
    },
  );

  it.each<[string, Process]>([
    [
      'generator',
      function* () {
        for (;;) yield event(0);
      },
    ],
    [
      'async generator',
      async function* () {
        for (;;) yield event(0);
      },
    ],
    [
      'generator, for each of many events,',
      function* () {
        for (let i = 0; i < 5000; i++) yield event(0);
      },
    ],
  ])(
    'of an endless %s leave the process its turns: a stop ends it within its deadline',
    async (_, process) => {
      const manager = testManager({
        collect: {
          *source() {
            for (;;) yield event(0);
          },
        },
        process: { endless: process },
        forward: { out: () => {} },
        options: { drainTimeout: 0.05 },
      });
      manager.start();
      await firstValueFrom(timer(20));
      await firstValueFrom(manager.stop());
      expect(manager.states().main?.state).toBe('stopped');
    },
  );

  it('of a generator that is cut off by a stop let it clean up', async () => {
    let cleanedUp = false;
    const manager = testManager({
      collect: { source: () => of(event(0)) },
      process: {
        *endless() {
          try {
            for (;;) yield event(0);
          } finally {
            cleanedUp = true;
          }
        },
      },
      forward: { out: () => timer(1000) },
      options: { drainTimeout: 0.01 },
    });
    manager.start();
    await firstValueFrom(manager.stop());
    expect(cleanedUp).toBe(true);
  });
});
