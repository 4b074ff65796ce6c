import { describe, expect, it } from '@jest/globals';
import {
  asyncScheduler,
  concatMap,
  delay,
  firstValueFrom,
  interval,
  map,
  NEVER,
  Observable,
  of,
  range,
  take,
  throwError,
  timer,
} from 'rxjs';
import { PluginError, safeReason } from '../../src/sdk/errors.ts';
import { EventBatch, type Outcome } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { marbles } from '../support/marbles.ts';
import { type TestPlugins, testManager } from '../support/pipelines.ts';

const event = (n: unknown): CollectedEvent => collectedEvent({ n });
const n = ({ data }: CollectedEvent) => data.n;

/** Runs a pipeline in virtual time, to its end; what its forwarder `out` saw, and when. */
function run(plugins: Omit<TestPlugins, 'forward'> & { forward?: TestPlugins['forward'] }) {
  const seen: unknown[] = [];
  const times: number[] = [];
  let manager: ReturnType<typeof testManager> | undefined;
  let endedAt = -1;
  marbles(({ flush }) => {
    manager = testManager({
      forward: {
        out: ({ event }) => {
          seen.push(n(event));
          times.push(asyncScheduler.now());
        },
      },
      ...plugins,
    });
    manager.start();
    manager.finished$.subscribe(() => {
      endedAt = asyncScheduler.now();
    });
    flush();
  });
  return {
    seen,
    times,
    endedAt,
    state: manager?.states().main?.state,
    stats: manager?.stats().main,
    error: safeReason(manager?.states().main?.error),
  };
}

describe('a pipeline', () => {
  it('merges several collectors, chains processors in order and hands every event to every forwarder', () => {
    const left: unknown[] = [];
    const right: unknown[] = [];
    const { state, stats } = run({
      collect: {
        a: () =>
          interval(10).pipe(
            take(2),
            map((i) => event(`a${i}`)),
          ),
        b: () =>
          interval(15).pipe(
            take(2),
            map((i) => event(`b${i}`)),
          ),
      },
      process: {
        first: ({ event }) => [collectedEvent({ n: `${event.data.n}+` })],
        second: ({ event }) => [collectedEvent({ n: `${event.data.n}*` })],
      },
      forward: {
        left: ({ event }) => void left.push(n(event)),
        right: ({ event }) => void right.push(n(event)),
      },
    });
    expect(left).toEqual(['a0+*', 'b0+*', 'a1+*', 'b1+*']);
    expect(right).toEqual(left);
    expect(state).toBe('completed');
    expect(stats).toMatchObject({ collected: 4, forwarded: { left: 4, right: 4 }, in_flight: 0 });
  });

  it.each<[string, () => unknown]>([
    ['an Observable', () => of(event(1), event(2))],
    ['an iterable', () => [event(1), event(2)]],
    ['a single event', () => event(1)],
    ['a batch', () => of(new EventBatch([event(1), event(2)]))],
    ['nothing', () => undefined],
    [
      'a foreign Observable',
      () => ({
        subscribe: (o: { next: (e: unknown) => void; complete: () => void }) => {
          o.next(event(1));
          o.complete();
        },
      }),
    ],
  ])('takes a collector that returns %s', (what, collect) => {
    const expected =
      what === 'nothing' ? [] : what.includes('single') || what.includes('foreign') ? [1] : [1, 2];
    expect(run({ collect: { source: collect } }).seen).toEqual(expected);
  });

  it.each<[string, (event: CollectedEvent) => unknown]>([
    ['an array', (e) => [e, e]],
    ['an Observable', (e) => of(e, e)],
    [
      'a generator',
      function* (e) {
        yield e;
        yield e;
      },
    ],
  ])('takes a processor that returns %s', (_, process) => {
    const { seen, stats } = run({
      collect: { source: () => [event(1), event(2)] },
      process: { twice: ({ event }) => process(event) },
    });
    expect(seen).toEqual([1, 1, 2, 2]);
    expect(stats).toMatchObject({ collected: 2, forwarded: { out: 4 }, in_flight: 0 });
  });

  it('keeps the order of events whatever time each takes, and with ordered: false does not', () => {
    const plugins = (ordered: boolean) => ({
      collect: { source: () => of(...[30, 10, 20].map(event)) },
      process: { slow: ({ event }: { event: CollectedEvent }) => of(event).pipe(delay(n(event) as number)) },
      pipeline: { ordered },
    });
    expect(run(plugins(true))).toMatchObject({ seen: [30, 10, 20], times: [30, 30, 30] });
    expect(run(plugins(false))).toMatchObject({ seen: [10, 20, 30], times: [10, 20, 30] });
  });

  it('gives several forwarders an event at once: the slowest sets the time, not the sum', () => {
    const { state, endedAt } = run({
      collect: { source: () => of(event(1), event(2)) },
      forward: { slow: () => timer(30), slower: () => timer(50) },
      pipeline: { max_in_flight: 1 },
    });
    expect(state).toBe('completed');
    expect(endedAt).toBe(100);
  });

  it('lets a forwarder have one event at a time, in order; with ordered: false all at once', () => {
    const most = (ordered: boolean) => {
      let open = 0;
      let most = 0;
      run({
        collect: { source: () => of(event(1), event(2), event(3)) },
        forward: {
          out: () => {
            open++;
            most = Math.max(most, open);
            return timer(10).pipe(map(() => open--));
          },
        },
        pipeline: { ordered },
      });
      return most;
    };
    expect(most(true)).toBe(1);
    expect(most(false)).toBe(3);
  });

  it.each([
    ['one by one', () => of(event(1), event(2), event(3))],
    ['in a batch', () => of(new EventBatch([event(1), event(2), event(3)]))],
  ])('calls a forwarder again when the teardown of its last call has run: events %s', (_, source) => {
    const calls: string[] = [];
    run({
      collect: { source },
      forward: {
        out: ({ event }) =>
          new Observable((subscriber) => {
            calls.push(`lock ${n(event)}`);
            subscriber.add(timer(10).subscribe(() => subscriber.complete()));
            return () => calls.push(`free ${n(event)}`);
          }),
      },
    });
    expect(calls).toEqual(['lock 1', 'free 1', 'lock 2', 'free 2', 'lock 3', 'free 3']);
  });

  it('asks an iterable for no more than max_in_flight allows', () => {
    let made = 0;
    let mostOpen = 0;
    let open = 0;
    run({
      collect: {
        *source() {
          for (; made < 20; made++) {
            open++;
            mostOpen = Math.max(mostOpen, open);
            yield event(made);
          }
        },
      },
      forward: {
        out: () => timer(5).pipe(map(() => open--)),
      },
      pipeline: { max_in_flight: 4 },
    });
    expect(made).toBe(20);
    expect(mostOpen).toBeLessThanOrEqual(5);
  });

  it('carries 20,000 events of a synchronous source through without growing the stack', () => {
    const { stats, state } = run({
      collect: { source: () => Array.from({ length: 20_000 }, (_, i) => event(i)) },
      process: { pass: ({ event }) => [event], wait: ({ event }) => of(event) },
      pipeline: { max_in_flight: 3 },
    });
    expect(state).toBe('completed');
    expect(stats).toMatchObject({ collected: 20_000, forwarded: { out: 20_000 } });
  });

  it('counts what a processor filters', () => {
    const { seen, stats } = run({
      collect: { source: () => [1, 2, 3, 4].map(event) },
      process: {
        even: ({ event }) => ((n(event) as number) % 2 === 0 ? [event] : []),
        later: ({ event }) => (n(event) === 2 ? of() : of(event)),
      },
    });
    expect(seen).toEqual([4]);
    expect(stats).toMatchObject({ dropped: { filtered: 3 }, in_flight: 0 });
  });

  it.each([
    ['a number', 'a number', () => [event(1), 7, event(2)]],
    ['null', 'null', () => of(event(1), null, event(2))],
    ['an array', 'an array', () => of(event(1), [event(2)])],
    ['an object without data', 'an object that is not an event', () => of(event(1), { data: [] }, event(2))],
    ['a batch with a number', 'a number', () => of(event(1), new EventBatch([event(2), 7 as never]))],
  ])('fails when a collector emits %s, behind what came before it', (_, what, source) => {
    const { seen, state, error, stats } = run({ collect: { source } });
    expect({ seen, state }).toEqual({ seen: [1], state: 'failed' });
    expect(error).toContain(`collector source emitted ${what}; expected events: objects of the form`);
    expect(stats).toMatchObject({ collected: 1, forwarded: { out: 1 }, dropped: {} });
  });

  it.each([
    ['an array of two', (one: CollectedEvent) => [one, 'text']],
    ['an Observable', () => of({ nope: 1 })],
    ['a generator', () => [1].values()],
    ['a promise', async () => ({ nope: 1 })],
  ])(
    'fails when a processor returns a value that is not an event, and acknowledges nothing: %s',
    async (_, process) => {
      const acknowledged: string[] = [];
      const manager = testManager({
        collect: { source: () => of(new EventBatch([event(1)], (outcome) => acknowledged.push(outcome))) },
        process: { odd: ({ event }) => process(event) },
        forward: { out: () => undefined },
      });
      manager.start();
      const [main] = await firstValueFrom(manager.finished$);
      expect(main?.state).toBe('failed');
      expect(safeReason(main?.error)).toMatch(
        /^processor odd emitted .*; expected events: objects of the form/,
      );
      expect(acknowledged).toEqual([]);
      expect(manager.stats().main).toMatchObject({ dropped: {}, given_up: 1 });
    },
  );
});

describe('the window and its buffer', () => {
  const flood = (count: number) => () => range(1, count).pipe(map(event));
  const slow = { out: () => timer(10) };

  it('drops the oldest of what a source that cannot wait emits beyond the buffer', () => {
    const forwarded: unknown[] = [];
    const { stats } = run({
      collect: { source: flood(10) },
      forward: { out: ({ event }) => timer(10).pipe(map(() => forwarded.push(n(event)))) },
      pipeline: { max_in_flight: 2, buffer: { max_events: 3 } },
    });
    expect(forwarded).toEqual([1, 2, 8, 9, 10]);
    expect(stats).toMatchObject({ collected: 10, dropped: { buffer_full: 5 }, in_flight: 0 });
  });

  it('drops the newest if told so', () => {
    const forwarded: unknown[] = [];
    run({
      collect: { source: flood(10) },
      forward: { out: ({ event }) => timer(10).pipe(map(() => forwarded.push(n(event)))) },
      pipeline: { max_in_flight: 2, buffer: { max_events: 3, when_full: 'drop_newest' } },
    });
    expect(forwarded).toEqual([1, 2, 3, 4, 5]);
  });

  it('drops nothing of a batch collector that heeds its demand', () => {
    const { stats } = run({
      collect: {
        source: ({ ctx }) =>
          new Observable<EventBatch>((subscriber) => {
            let next = 1;
            let emitting = false;
            return ctx.demand.room$.subscribe(() => {
              if (emitting) return;
              emitting = true;
              while (ctx.demand.room > 0 && next <= 100) {
                subscriber.next(new EventBatch([event(next++)]));
              }
              emitting = false;
              if (next > 100) subscriber.complete();
            });
          }),
      },
      forward: slow,
      pipeline: { max_in_flight: 5, buffer: { max_events: 1 } },
    });
    expect(stats).toMatchObject({ collected: 100, forwarded: { out: 100 }, dropped: {} });
  });
});

describe('acknowledging', () => {
  const acknowledgedBy = (plugins: Partial<TestPlugins>) => {
    const acknowledged: [number, Outcome][] = [];
    run({
      collect: {
        source: () =>
          of(1, 2, 3).pipe(
            map(
              (i) => new EventBatch([event(i), event(i * 10)], (outcome) => acknowledged.push([i, outcome])),
            ),
          ),
      },
      ...plugins,
    } as never);
    return acknowledged;
  };

  it('tells a collector in the order of emission, whatever order deliveries end in', () => {
    const acknowledged = acknowledgedBy({
      forward: { out: ({ event }) => timer(100 - (n(event) as number)) },
      pipeline: { ordered: false },
    });
    expect(acknowledged).toEqual([
      [1, 'forwarded'],
      [2, 'forwarded'],
      [3, 'forwarded'],
    ]);
  });

  it('waits for children and for every forwarder, and the worst outcome wins', () => {
    const acknowledged = acknowledgedBy({
      process: {
        children: ({ event }) =>
          n(event) === 1 ? [event, event, event] : n(event) === 2 ? [] : of(event).pipe(delay(5)),
      },
      forward: {
        good: () => timer(1),
        bad: ({ event }) =>
          n(event) === 30 ? throwError(() => new PluginError('refused', { permanent: true })) : timer(7),
      },
    });
    expect(acknowledged).toEqual([
      [1, 'forwarded'],
      [2, 'dropped'],
      [3, 'refused'],
    ]);
  });

  it('tells what can never be delivered from what has used up its attempts', () => {
    const named = (permanent: boolean) =>
      Object.assign(new PluginError('one of them'), {
        failedEvents: [{ event: 0, permanent, error: new PluginError('not this one') }],
      });
    const outcomesOf = (error: unknown, attempts: number) =>
      new Set(
        acknowledgedBy({
          forward: { bad: () => throwError(() => error) },
          pipeline: { delivery: { attempts } },
        }).map(([, outcome]) => outcome),
      );
    const permanent = new PluginError('refused', { permanent: true });
    for (const attempts of [1, 3]) {
      expect(outcomesOf(permanent, attempts)).toEqual(new Set(['refused']));
      expect(outcomesOf(new PluginError('503'), attempts)).toEqual(new Set(['failed']));
      expect(outcomesOf(named(false), attempts)).toEqual(new Set(['failed']));
    }
    const process = {
      bad: () => {
        throw new Error('it fails');
      },
    };
    expect(acknowledgedBy({ process, forward: { good: () => {} } })).toEqual([
      [1, 'refused'],
      [2, 'refused'],
      [3, 'refused'],
    ]);
    // A forwarder that has not answered in time may do so later.
    const timedOut = acknowledgedBy({
      forward: { never: () => NEVER },
      pipeline: { delivery: { attempts: 1, timeout: 1 } },
    });
    expect(timedOut.map(([, outcome]) => outcome)).toEqual(['failed', 'failed', 'failed']);
  });

  it.each([
    ['drop_oldest', ['1 forwarded', '2 dropped', '3 dropped', '4 forwarded']],
    ['drop_newest', ['1 forwarded', '2 forwarded', '3 dropped', '4 dropped']],
  ])('tells of a batch that had no room after all that came before it: %s', (when_full, expected) => {
    const acknowledged: string[] = [];
    const { stats } = run({
      collect: {
        source: () =>
          of(1, 2, 3, 4).pipe(
            map((i) => new EventBatch([event(i)], (outcome) => acknowledged.push(`${i} ${outcome}`))),
          ),
      },
      forward: { out: () => timer(10) },
      pipeline: { max_in_flight: 1, buffer: { max_events: 1, when_full } },
    });
    expect(acknowledged).toEqual(expected);
    expect(stats).toMatchObject({ collected: 4, dropped: { buffer_full: 2 }, in_flight: 0 });
  });

  it.each([10, 1])('tells of an empty batch after all that came before it: window of %i', (max_in_flight) => {
    const acknowledged: number[] = [];
    const batch = (i: number, ...events: readonly CollectedEvent[]) =>
      new EventBatch(events, () => acknowledged.push(i));
    run({
      collect: {
        source: () => of(batch(1, event(1)), batch(2, event(2)), batch(3), batch(4, event(4)), batch(5)),
      },
      forward: { out: () => timer(10) },
      pipeline: { max_in_flight },
    });
    expect(acknowledged).toEqual([1, 2, 3, 4, 5]);
  });

  it('keeps what a collector refuses apart from the events that wait with it', () => {
    const seen: unknown[] = [];
    const dead: unknown[] = [];
    const { stats } = run({
      collect: {
        source: () =>
          of(
            new EventBatch([event(1), event(2), event(3)]),
            event(4),
            EventBatch.refused(event('odd'), new PluginError('not JSON')),
            event(5),
          ),
      },
      forward: {
        out: ({ event }) => timer(10).pipe(map(() => seen.push(n(event)))),
        dead: ({ event }) => void dead.push(event.data.error),
      },
      pipeline: { forward: ['out'], max_in_flight: 3, delivery: { dead_letter: 'dead' } },
    });
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(dead).toEqual(['not JSON']);
    expect(stats).toMatchObject({ collected: 6, dead_lettered: 1, in_flight: 0 });
  });

  it('does not acknowledge what was cancelled', () => {
    const acknowledged: Outcome[] = [];
    marbles(({ flush }) => {
      const manager = testManager({
        collect: { source: () => of(new EventBatch([event(1)], (outcome) => acknowledged.push(outcome))) },
        forward: { out: () => NEVER },
        options: { drainTimeout: 1 },
      });
      manager.start();
      timer(10)
        .pipe(concatMap(() => manager.stop()))
        .subscribe();
      flush();
      expect(manager.states().main?.state).toBe('stopped');
    });
    expect(acknowledged).toEqual([]);
  });
});
