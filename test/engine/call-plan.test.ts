import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, Observable, Subscription, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { CallPlan } from '../../src/engine/call-plan.ts';
import type { Batch } from '../../src/engine/delivery.ts';
import { gatherPlanned } from '../../src/engine/gather-planned.ts';
import type { CollectorState, StateValue } from '../../src/sdk/context.ts';
import { collectedEvent } from '../../src/sdk/events.ts';

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

  /** Nothing is committed any more. */
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

/** Two files through one pipeline, whose process is killed after each life; the sink stores nothing twice under one id. */
function stored(lives: readonly Life[], options: { events: number; seconds: number }): string[] {
  const out: string[] = [];
  const ids = new Set<string>();
  let state = new CrashingState();
  for (const { ms, sizes } of [...lives, { ms: 60_000, sizes: [7] }]) {
    new TestScheduler(() => {}).run(({ flush }) => {
      const plan = new CallPlan(state);
      const life = state;
      asyncScheduler.schedule(() => life.kill(), ms);
      const send = (batches: readonly Batch[], id: string, isDelivered: boolean) => {
        const finish = () => {
          plan.ended(id);
          for (const { events, delivery } of batches) delivery.acknowledge(events.length, 'forwarded');
        };
        if (isDelivered) {
          finish();
          return [];
        }
        plan.commit();
        return new Observable<never>((subscriber) => {
          // It is stored some time before the acknowledgement comes.
          const storing = new Subscription();
          storing.add(
            timer(2).subscribe(() => {
              if (ids.has(id)) return;
              ids.add(id);
              out.push(...batches.flatMap(({ events }) => events.map(({ data }) => String(data.line))));
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

/** Emits what each file has from its acknowledged place on, in batches of these sizes, alternating. */
function collected(state: CollectorState, plan: CallPlan, sizes: readonly number[]): Observable<Batch> {
  return new Observable<Batch>((subscriber) => {
    const queue = plan.queueFor('log', () => {});
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
          else subscriber.next({ events: [event], delivery });
        }
      }
      if ([...next.values()].every((place) => place === LINES)) subscriber.complete();
      else subscriber.add(asyncScheduler.schedule(emit, 3));
    };
    emit();
  });
}

const wanted = ['a.log', 'b.log'].flatMap((path) =>
  Array.from({ length: LINES }, (_, n) => n)
    .filter((n) => n % 5 !== 4)
    .map((n) => `${path} ${n}`),
);

describe('calls that are planned', () => {
  it.each([false, true])('are taken for delivered only if they had ended: %p', (hasEnded) => {
    const state = new CrashingState();
    const plan = new CallPlan(state);
    const queue = plan.queueFor('log', () => {});
    const events = ['one', 'two'].map((line) => collectedEvent({ line }));
    const deliveries = events.map((_, n) => {
      const delivery = queue.open(1);
      delivery.origin = { path: 'a.log', startOffset: n, endOffset: n + 1 };
      return delivery;
    });
    const [source = ''] = deliveries.map((delivery) => plan.arrived(1, delivery));
    const id = plan.begin(source, events, 'a.log');
    if (hasEnded) plan.ended(id);
    deliveries[0]?.acknowledge(1, 'forwarded');
    expect(new CallPlan(state).repeated(source)).toMatchObject({ id, events: 1, isDelivered: hasEnded });
  });

  it('store every line once, whenever the process is killed', () => {
    const life = fc.record({
      ms: fc.integer({ min: 1, max: 120 }),
      sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
    });
    const options = fc.record({ events: fc.integer({ min: 1, max: 12 }), seconds: fc.constantFrom(0, 0.02) });
    fc.assert(
      fc.property(fc.array(life, { maxLength: 6 }), options, (lives, options) => {
        expect(stored(lives, options).toSorted()).toEqual(wanted.toSorted());
      }),
      { numRuns: 150 },
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
    first.begin('log a.log', [collectedEvent({ line: 'one' }), collectedEvent({ line: 'two' })], 'a.log');
    first.commit();
    const second = new CallPlan(state.afterCrash());
    expect(second.repeated('log a.log')).toMatchObject({ events: 2, isDelivered: false });
    expect(
      second.repeat('log a.log', [collectedEvent({ line: 'one' }), collectedEvent({ line: 'x' })], 'a.log'),
    ).toBe(false);
    second.abandon('log a.log');
    expect(second.repeated('log a.log')).toBeUndefined();
  });
});
