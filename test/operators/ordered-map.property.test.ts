import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { map, merge, Observable, Subject, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { mapInOrder } from '../../operators/ordered-map.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** What comes of one value: as many results at once, or an inner source that emits and ends at these times. */
type Inner =
  | number
  | { readonly emits: readonly number[]; readonly end: number; readonly asksForMore: boolean };

const time = fc.integer({ min: 0, max: 5 });
const inner: fc.Arbitrary<Inner> = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.record({ emits: fc.array(time, { maxLength: 3 }), end: time, asksForMore: fc.boolean() }),
);
const scenario = fc.record({
  values: fc.array(fc.record({ at: time, inner }), { maxLength: 6 }),
  /** Comes in from within the operator: when a result is emitted, a value has left, or an inner source is torn down. */
  more: inner,
  asking: fc.record({ results: fc.array(fc.boolean(), { maxLength: 4 }), left: fc.boolean() }),
  end: fc.integer({ min: 0, max: 9 }),
  ordered: fc.boolean(),
  concurrency: fc.constantFrom(1, 2, 3, Number.POSITIVE_INFINITY),
});
const MOST_MORE = 4;

type Scenario = typeof scenario extends fc.Arbitrary<infer S> ? S : never;

function run({ values, more, asking, end, ordered, concurrency }: Scenario) {
  const started: number[] = [];
  const left: number[] = [];
  const results: [value: number, result: number][] = [];
  let [open, mostOpen, ids, due, completions] = [0, 0, 0, 0, 0];
  new TestScheduler(() => {}).run(() => {
    const more$ = new Subject<Inner>();
    let asked = 0;
    const ask = (isAsking: boolean | undefined) => isAsking && asked++ < MOST_MORE && more$.next(more);
    const planned$ = values.map(({ at, inner }) => timer(at).pipe(map(() => inner)));
    const source$ = merge(more$, ...planned$).pipe(takeUntil(timer(end)));
    const innerOf = (id: number, of: Inner) => {
      const emits = typeof of === 'number' ? [] : of.emits.filter((at) => at <= of.end).sort((a, b) => a - b);
      due += typeof of === 'number' ? of : emits.length;
      if (typeof of === 'number') return Array.from({ length: of }, (_, i) => [id, i] as [number, number]);
      return new Observable<[number, number]>((subscriber) => {
        mostOpen = Math.max(mostOpen, ++open);
        subscriber.add(() => {
          open--;
          subscriber.next([id, Number.NaN]);
          ask(of.asksForMore);
        });
        emits.forEach((at, i) => {
          if (at === 0) subscriber.next([id, i]);
          else subscriber.add(timer(at).subscribe(() => subscriber.next([id, i])));
        });
        if (of.end === 0) subscriber.complete();
        else subscriber.add(timer(of.end).subscribe(() => subscriber.complete()));
      });
    };
    const operator = mapInOrder(
      ({ id, inner }: { id: number; inner: Inner }) => {
        started.push(id);
        return innerOf(id, inner);
      },
      { ordered, concurrency },
      ({ id }) => {
        left.push(id);
        ask(asking.left);
      },
    );
    source$
      .pipe(
        map((inner) => ({ id: ids++, inner })),
        operator,
      )
      .subscribe({
        next: (result) => {
          results.push(result);
          ask(asking.results[results.length]);
        },
        complete: () => completions++,
      });
  });
  return { started, left, results, open, mostOpen, ids, due, completions };
}

describe('orderedMap, at whatever times values, results and ends come, also from within it', () => {
  it('starts each value once, in order, and completes once when all have left', () => {
    fc.assert(
      fc.property(scenario, (options) => {
        const { started, left, results, open, mostOpen, ids, due, completions } = run(options);
        const all = Array.from({ length: ids }, (_, id) => id);
        expect(started).toEqual(all);
        expect(options.ordered ? left : [...left].sort((a, b) => a - b)).toEqual(all);
        expect(mostOpen).toBeLessThanOrEqual(options.concurrency);
        expect([open, completions]).toEqual([0, 1]);
        // Each result once, those of a value in their order, and nothing from a teardown.
        const inOrder = [...results].sort(([a, i], [b, j]) => a - b || i - j);
        expect(results).toHaveLength(due);
        for (const id of all) {
          const own = results.filter(([value]) => value === id).map(([, result]) => result);
          expect(own).toEqual(own.map((_, i) => i));
        }
        if (options.ordered) expect(results).toEqual(inOrder);
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
