import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, Observable, Subscription, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { AckOwner } from '../../src/engine/ack-queue.ts';
import { type Batch, Batches, batchOf } from '../../src/engine/batches.ts';
import { CallPlan } from '../../src/engine/call-plan.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { gatherPlanned } from '../../src/engine/gather-planned.ts';
import type { CollectorState, StateValue } from '../../src/sdk/context.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** A state of which a crash leaves what was committed: at once by `commit`, else 5 ms after a change. */
class CrashingState implements CollectorState {
  readonly isPending = false;
  readonly #values: Map<string, StateValue>;
  #committed: Map<string, StateValue>;
  #isKilled = false;

  constructor(values: ReadonlyMap<string, StateValue> = new Map()) {
    this.#values = new Map(values);
    this.#committed = new Map(values);
  }

  /** The state that the next life finds. */
  afterCrash(): CrashingState {
    return new CrashingState(this.#committed);
  }

  get = (key: string) => this.#values.get(key);
  entries = () => this.#values.entries();

  set(key: string, value: StateValue): void {
    this.#values.set(key, structuredClone(value) as StateValue);
    asyncScheduler.schedule(() => this.commit(), 5);
  }

  delete(key: string): void {
    this.#values.delete(key);
    asyncScheduler.schedule(() => this.commit(), 5);
  }

  /** Nothing is committed from now on. */
  kill(): void {
    this.#isKilled = true;
  }

  commit(): void {
    if (this.#isKilled) return;
    this.#committed = new Map(this.#values);
  }
}

interface Life {
  /** Milliseconds after which the process is killed. */
  readonly ms: number;
  /** Sizes of the batches that the collector emits, again and again. */
  readonly sizes: readonly number[];
}

const LINES = 60;

/**
 * Two files through one pipeline, whose process is killed after each life; the sink stores nothing twice under one id. If it
 * `forgets`, it no longer knows a call that ended when the next one is made.
 */
function stored(
  lives: readonly Life[],
  { forgets = false, ...options }: { events: number; seconds: number; forgets?: boolean },
): string[] {
  const out: string[] = [];
  const ids = new Set<string>();
  let state = new CrashingState();
  for (const { ms, sizes } of [...lives, { ms: 60_000, sizes: [7] }]) {
    new TestScheduler(() => {}).run(({ flush }) => {
      const plan = new CallPlan(state);
      const life = state;
      let ended: string | undefined;
      asyncScheduler.schedule(() => life.kill(), ms);
      const send = (batches: Batches, id: string, isDelivered: boolean) => {
        const finish = () => {
          ended = id;
          plan.ended(id, true);
          for (const { rows, delivery } of batches.list) delivery.acknowledge(rows.size, 'forwarded');
        };
        if (isDelivered) {
          finish();
          return [];
        }
        plan.commit();
        if (forgets && ended !== undefined) ids.delete(ended);
        return new Observable<never>((subscriber) => {
          // It is stored some time before the acknowledgement comes.
          const storing = new Subscription();
          storing.add(
            timer(2).subscribe(() => {
              if (ids.has(id)) return;
              ids.add(id);
              out.push(...batches.events.map(({ data }) => String(data.line)));
            }),
          );
          storing.add(
            timer(9).subscribe(() => {
              finish();
              subscriber.complete();
            }),
          );
          return storing;
        });
      };
      collected(state, plan, sizes)
        .pipe(
          gatherPlanned(send, { ...options, plan, isWindowFull: () => false, onChanged: () => {} }),
          takeUntil(timer(ms)),
        )
        .subscribe();
      flush();
    });
    state = state.afterCrash();
  }
  return out;
}

function owner(release: AckOwner['release'] = () => {}): AckOwner {
  return {
    release,
    failed: (error) => {
      throw error;
    },
  };
}

/** Emits what each file has from its acknowledged place on, in batches of these sizes, alternating. */
function collected(state: CollectorState, plan: CallPlan, sizes: readonly number[]): Observable<Batch> {
  return new Observable<Batch>((subscriber) => {
    const queue = plan.queueFor('log', owner());
    const next = new Map(['a.log', 'b.log'].map((path) => [path, Number(state.get(path) ?? 0)]));
    let turn = 0;
    const emit = () => {
      const path = turn % 2 === 0 ? 'a.log' : 'b.log';
      const start = next.get(path) as number;
      const end = Math.min(LINES, start + (sizes[turn % sizes.length] as number));
      turn++;
      if (start < end) {
        next.set(path, end);
        const events = Array.from({ length: end - start }, (_, i) =>
          collectedEvent({ line: `${path} ${start + i}` }),
        );
        const delivery = queue.open(events.length, () => state.set(path, end));
        delivery.origin = { path, startOffset: start, endOffset: end };
        // A processor that drops every fifth line, and one that passes each of the others on alone.
        for (const [i, event] of events.entries()) {
          if ((start + i) % 5 === 4) delivery.acknowledge(1, 'dropped');
          else subscriber.next(batchOf([event], delivery));
        }
      }
      if ([...next.values()].every((place) => place === LINES)) subscriber.complete();
      else subscriber.add(asyncScheduler.schedule(emit, 3));
    };
    emit();
  });
}

/**
 * Two files through a window of 20 events, which is full most of the time, to a sink that takes `callMs` for a call. The
 * process is killed during the second call. The collector then reads in batches of 17 lines instead of 3.
 */
function storedWithWindow(callMs: number): { readonly lines: readonly string[]; readonly changes: number } {
  const room = 20;
  const lengths = { 'a.log': 17, 'b.log': LINES };
  const ids = new Set<string>();
  const lines: string[] = [];
  let changes = 0;
  let state = new CrashingState();
  for (const { ms, size } of [
    { ms: callMs + 40, size: 3 },
    { ms: 600_000, size: 17 },
  ]) {
    new TestScheduler(() => {}).run(({ flush }) => {
      const life = state;
      const plan = new CallPlan(life);
      asyncScheduler.schedule(() => life.kill(), ms);
      let inFlight = 0;
      const send = (batches: Batches, id: string) => {
        plan.commit();
        return new Observable<never>((subscriber) => {
          const storing = new Subscription();
          storing.add(
            timer(2).subscribe(() => {
              if (ids.has(id)) return;
              ids.add(id);
              lines.push(...batches.events.map(({ data }) => String(data.line)));
            }),
          );
          storing.add(
            timer(callMs).subscribe(() => {
              plan.ended(id, true);
              for (const { rows, delivery } of batches.list) delivery.acknowledge(rows.size, 'forwarded');
              subscriber.complete();
            }),
          );
          return storing;
        });
      };
      const emitted$ = new Observable<Batch>((subscriber) => {
        const next = new Map(Object.keys(lengths).map((path) => [path, Number(life.get(path) ?? 0)]));
        const emit = () => {
          for (const [path, length] of [...Object.entries(lengths), ...Object.entries(lengths)]) {
            const start = next.get(path) as number;
            const end = Math.min(length, start + Math.min(size, room - inFlight));
            if (start >= end) continue;
            next.set(path, end);
            inFlight += end - start;
            const delivery = queue.open(end - start, () => life.set(path, end));
            delivery.origin = { path, startOffset: start, endOffset: end };
            const all = Array.from({ length: end - start }, (_, n) => `${path} ${start + n}`);
            subscriber.next(
              batchOf(
                all.map((line) => collectedEvent({ line })),
                delivery,
              ),
            );
          }
          if (Object.entries(lengths).every(([path, length]) => next.get(path) === length))
            subscriber.complete();
        };
        const queue = plan.queueFor(
          'log',
          owner((events) => {
            inFlight -= events;
            asyncScheduler.schedule(emit);
          }),
        );
        emit();
        emit();
      });
      emitted$
        .pipe(
          gatherPlanned(send, {
            events: 12,
            seconds: 0.02,
            plan,
            isWindowFull: () => inFlight >= room,
            onChanged: () => changes++,
          }),
          takeUntil(timer(ms)),
        )
        .subscribe();
      flush();
    });
    state = state.afterCrash();
  }
  return { lines, changes };
}

const wanted = ['a.log', 'b.log'].flatMap((path) =>
  Array.from({ length: LINES }, (_, n) => n)
    .filter((n) => n % 5 !== 4)
    .map((n) => `${path} ${n}`),
);

/** Each array of lines is a batch of its own. */
const batchesOf = (...batches: readonly (readonly string[])[]): Batches =>
  new Batches(
    batches.map((lines) =>
      batchOf(
        lines.map((line) => collectedEvent({ line })),
        new Delivery(lines.length, () => {}),
      ),
    ),
  );

describe('calls that are planned', () => {
  it('are made again if the collector fails as it is told that they were acknowledged', () => {
    const state = new CrashingState();
    const plan = new CallPlan(state);
    const failures: unknown[] = [];
    const queue = plan.queueFor('log', { release: () => {}, failed: (error) => void failures.push(error) });
    const failure = new Error('the state cannot take it');
    const told: number[] = [];
    const deliveries = [0, 1, 2].map((n) => {
      const delivery = queue.open(1, () => {
        told.push(n);
        if (n === 1) throw failure;
      });
      delivery.origin = { path: 'a.log', startOffset: n, endOffset: n + 1 };
      return delivery;
    });
    const [source = ''] = deliveries.map((delivery) => plan.arrived(1, delivery));
    const ids = deliveries.map((delivery) => {
      const batches = new Batches([batchOf([collectedEvent({ line: 'x' })], delivery)]);
      return plan.begin(source, batches, 'a.log');
    });
    for (const id of ids) plan.ended(id, true);
    for (const delivery of deliveries) delivery.acknowledge(1, 'forwarded');
    expect(failures).toEqual([failure]);
    expect(told).toEqual([0, 1]);
    expect(new CallPlan(state).repeated(source)).toMatchObject({ id: ids[1], events: 1 });
  });

  it.each([false, true])('are taken for delivered only if they had ended: %p', (hasEnded) => {
    const state = new CrashingState();
    const plan = new CallPlan(state);
    const queue = plan.queueFor('log', owner());
    const events = ['one', 'two'].map((line) => collectedEvent({ line }));
    const deliveries = events.map((_, n) => {
      const delivery = queue.open(1, () => {});
      delivery.origin = { path: 'a.log', startOffset: n, endOffset: n + 1 };
      return delivery;
    });
    const [source = ''] = deliveries.map((delivery) => plan.arrived(1, delivery));
    const batches = new Batches(events.map((event, n) => batchOf([event], deliveries[n] as Delivery)));
    const id = plan.begin(source, batches, 'a.log');
    if (hasEnded) plan.ended(id, true);
    deliveries[0]?.acknowledge(1, 'forwarded');
    expect(new CallPlan(state).repeated(source)).toMatchObject({ id, events: 1, isDelivered: hasEnded });
  });

  it.each([
    ['the same lines', ['three', 'four', 'five'], true],
    ['other lines, as of a file that was truncated', ['new 1', 'new 2', 'new 3'], false],
    ['fewer lines, as behind another filter', ['three', 'five', 'six'], false],
  ])('count the rest of a delivered call as delivered only if it is %s', (_, lines, isSame) => {
    const state = new CrashingState();
    const plan = new CallPlan(state);
    const queue = plan.queueFor('log', owner());
    const batches = [
      ['one', 'two'],
      ['three', 'four', 'five'],
    ].map((each) => {
      const delivery = queue.open(each.length, () => {});
      delivery.origin = { path: 'a.log', startOffset: 0, endOffset: 1 };
      plan.arrived(each.length, delivery);
      return batchOf(
        each.map((line) => collectedEvent({ line })),
        delivery,
      );
    });
    const id = plan.begin('log a.log', new Batches(batches), 'a.log');
    plan.ended(id, true);
    batches[0]?.delivery.acknowledge(2, 'forwarded');
    plan.commit();

    const next = new CallPlan(state.afterCrash());
    expect(next.repeated('log a.log')).toEqual({ id, events: 3, isDelivered: true });
    expect(next.repeat('log a.log', batchesOf(lines.slice(0, 1), lines.slice(1)), 'a.log')).toBe(isSame);
  });

  it.each([150, 15_000])('are repeated although a full window waits for calls of %d ms', (callMs) => {
    const { lines, changes } = storedWithWindow(callMs);
    expect(changes).toBe(0);
    expect(lines.toSorted()).toEqual(
      [
        ...Array.from({ length: 17 }, (_, n) => `a.log ${n}`),
        ...Array.from({ length: LINES }, (_, n) => `b.log ${n}`),
      ].toSorted(),
    );
  });

  it.each([false, true])('store every line once, whenever the process is killed; forgets: %p', (forgets) => {
    const life = fc.record({
      ms: fc.integer({ min: 1, max: 120 }),
      sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
    });
    const options = fc.record({ events: fc.integer({ min: 1, max: 12 }), seconds: fc.constantFrom(0, 0.02) });
    fc.assert(
      fc.property(fc.array(life, { maxLength: 6 }), options, (lives, options) => {
        expect(stored(lives, { ...options, forgets }).toSorted()).toEqual(wanted.toSorted());
      }),
      { numRuns: propertyRuns(30) },
    );
  });

  it('keep the order of each file', () => {
    const lines = stored(
      [
        { ms: 40, sizes: [3, 8] },
        { ms: 25, sizes: [11] },
      ],
      { events: 5, seconds: 0 },
    );
    for (const path of ['a.log', 'b.log']) {
      const of = (list: readonly string[]) => list.filter((line) => line.startsWith(path));
      expect(of(lines)).toEqual(of(wanted));
    }
  });

  it('are not repeated with other events, which would be lost', () => {
    const state = new CrashingState();
    const first = new CallPlan(state);
    first.begin('log a.log', batchesOf(['one', 'two']), 'a.log');
    first.commit();
    const second = new CallPlan(state.afterCrash());
    expect(second.repeated('log a.log')).toMatchObject({ events: 2, isDelivered: false });
    expect(second.repeat('log a.log', batchesOf(['one', 'x']), 'a.log')).toBe(false);
    second.abandon('log a.log');
    expect(second.repeated('log a.log')).toBeUndefined();
  });
});
