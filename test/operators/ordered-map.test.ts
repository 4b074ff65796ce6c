import { describe, expect, it } from '@jest/globals';
import {
  delay,
  EMPTY,
  finalize,
  ignoreElements,
  mergeMap,
  Observable,
  type OperatorFunction,
  of,
  range,
  Subject,
  take,
  throwError,
  timer,
} from 'rxjs';
import { orderedMap } from '../../operators/ordered-map.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const throwing = (x: string): string[] => {
  if (x === 'b') throw 'mine';
  return [x];
};

testOperator('orderedMap of synchronous results', {
  operator: () => orderedMap((x: string) => [x]),
  throwing: () => orderedMap(throwing),
  diagrams: {
    one: `
      source  -a|
      result  -a|
      subs    ^-!`,
    many: `
      source  -a-bc|
      result  -a-bc|
      subs    ^----!`,
    error: `
      source  -a-#
      result  -a-#
      subs    ^--!`,
    'never-ending': `
      source  -a-b-
      result  -a-b-
      subs    ^`,
    'early unsubscribe': `
      source  -a-b-c-|
      unsub   ----!
      result  -a-b-
      subs    ^---!`,
    'a callback that throws': `
      source  -a-b-|
      result  -a-#
      subs    ^--!`,
  },
});

testOperator('orderedMap of inner sources', {
  operator: () => orderedMap((x: string) => of(x).pipe(delay(x === 'a' ? 3 : 1))),
  throwing: () => orderedMap(throwing),
  diagrams: {
    one: `
      source  -a|
      result  ----(a|)
      subs    ^-!`,
    many: `
      source  -a-b----c|
      result  ----(ab)-(c|)
      subs    ^--------!`,
    error: `
      source  -a--b#
      result  ----a#
      subs    ^----!`,
    'never-ending': `
      source  -a-b-
      result  ----(ab)
      subs    ^`,
    'early unsubscribe': `
      source  -ab----|
      unsub   ---!
      result  ----
      subs    ^--!`,
    'a callback that throws': `
      source  -a-b-|
      result  -a-#
      subs    ^--!`,
  },
});

describe('orderedMap', () => {
  it('maps to synchronous results', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  -a-b-c-|');
      const subscription = ' ^------!';
      const expected = '     -a-b-c-|';
      expectObservable(source.pipe(orderedMap((x) => [x]))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscription);
    });
  });

  it('maps one value to none, one or many', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' -a-b-c-----|');
      const expected = '    -a---(cd)--|';
      const results: Record<string, string[]> = { a: ['a'], b: [], c: ['c', 'd'] };
      expectObservable(source.pipe(orderedMap((x) => results[x] as string[]))).toBe(expected);
    });
  });

  it('works on several values at a time, and results leave in the order of the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     -----a|');
      const b = cold('      -b-c|');
      const source = cold('ab---------|');
      const first = '      ^-----!';
      const second = '     -^---!';
      const expected = '   -----a(bc)-|';
      expectObservable(source.pipe(orderedMap((x) => (x === 'a' ? a : b)))).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe(first);
      expectSubscriptions(b.subscriptions).toBe(second);
    });
  });

  it('keeps synchronous results behind those that are awaited', () => {
    marbles(({ cold, expectObservable }) => {
      const a = cold('     -----a|');
      const source = cold('ab-c-------|');
      const expected = '   -----a(bc)-|';
      expectObservable(source.pipe(orderedMap((x) => (x === 'a' ? a : [x])))).toBe(expected);
    });
  });

  it('lets results leave as they come with ordered: false', () => {
    marbles(({ cold, expectObservable }) => {
      const inner: Record<string, Observable<string>> = { a: cold('-----a|'), b: cold('-b|') };
      const source = cold('ab---------|');
      const expected = '   --b--a-----|';
      const mapped = source.pipe(orderedMap((x) => inner[x] as Observable<string>, { ordered: false }));
      expectObservable(mapped).toBe(expected);
    });
  });

  it('starts no more than `concurrency` at a time', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inner = cold('   ---x|');
      const source = cold('  (abc|)');
      const subscriptions = ['^---!', '^---!', '----^---!'];
      const expected = '     ---xx--x|';
      expectObservable(source.pipe(orderedMap(() => inner, { concurrency: 2 }))).toBe(expected);
      expectSubscriptions(inner.subscriptions).toBe(subscriptions);
    });
  });

  it('loses nothing where mergeMap with a limit does: 5,000 values, limit 8, first inners asynchronous', () => {
    for (const ordered of [true, false]) {
      const results: number[] = [];
      let completed = false;
      marbles(() => {
        range(0, 5000)
          .pipe(
            orderedMap((i) => (i < 8 ? timer(1).pipe(() => of(i).pipe(delay(1))) : of(i)), {
              concurrency: 8,
              ordered,
            }),
          )
          .subscribe({
            next: (i) => results.push(i),
            complete: () => {
              completed = true;
            },
          });
      });
      expect(completed).toBe(true);
      expect(results.sort((x, y) => x - y)).toEqual(Array.from({ length: 5000 }, (_, i) => i));
    }
  });

  it('keeps the order of 5,000 values of which some are awaited', () => {
    const results: number[] = [];
    marbles(() => {
      range(0, 5000)
        .pipe(
          orderedMap((i) => (i % 7 === 0 ? of(i).pipe(delay(i % 50)) : i % 3 === 0 ? of(i) : [i]), {
            concurrency: 16,
          }),
        )
        .subscribe((i) => results.push(i));
    });
    expect(results).toEqual(Array.from({ length: 5000 }, (_, i) => i));
  });

  it('does not nest: 200,000 inner sources that complete at once behind one that does not', () => {
    let results = 0;
    marbles(() => {
      range(0, 200_000)
        .pipe(orderedMap((i) => (i === 0 ? timer(1) : of(i)), { concurrency: 1 }))
        .subscribe(() => results++);
    });
    expect(results).toBe(200_000);
  });

  it('keeps the order when the consumer makes the source emit again', () => {
    marbles(({ hot }) => {
      const source = hot<number>('-');
      const seen: number[] = [];
      source.pipe(orderedMap((x) => [x, x + 0.5])).subscribe((x) => {
        seen.push(x);
        if (x === 1) source.next(2);
      });
      source.next(1);
      expect(seen).toEqual([1, 1.5, 2, 2.5]);
    });
  });

  it('waits for inner sources after the source has completed', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' a|');
      const expected = '    ---(a|)';
      expectObservable(source.pipe(orderedMap((x) => of(x).pipe(delay(3))))).toBe(expected);
    });
  });

  it('never completes behind an inner source that never does', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inner = cold('       -');
      const source = cold('      ab|');
      const unsubscription = '   ----!';
      const innerSubscription = '^---!';
      const expected = '         -----';
      expectObservable(source.pipe(orderedMap((x) => (x === 'a' ? inner : [x]))), unsubscription).toBe(
        expected,
      );
      expectSubscriptions(inner.subscriptions).toBe(innerSubscription);
    });
  });

  it('errors when an inner source does, and leaves the others', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('        ------a|');
      const b = cold('         --#');
      const source = cold('   ab---c--|');
      const subscription = '  ^--!';
      const expected = '      ---#';
      expectObservable(source.pipe(orderedMap((x) => (x === 'a' ? a : b)))).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe(subscription);
      expectSubscriptions(source.subscriptions).toBe(subscription);
    });
  });

  it('errors when an inner source fails at once', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold('-a-|');
      const expected = '   -#';
      expectObservable(source.pipe(orderedMap(() => throwError(() => 'error')))).toBe(expected);
    });
  });

  it('refuses a concurrency below 1', () => {
    expect(() => orderedMap(() => [], { concurrency: 0 })).toThrow(
      'orderedMap: concurrency must be an integer of at least 1, or Infinity, not 0',
    );
  });

  it('starts the next inner source when the teardown of the one before has run', () => {
    const log: string[] = [];
    const locking = (value: unknown, end$: Observable<never>) =>
      new Observable<never>((subscriber) => {
        log.push(`lock ${value}`);
        // Subscribed to later, so that its teardown is not among those which the operator finds at first.
        subscriber.add(
          timer(0).subscribe(() => {
            subscriber.add(() => log.push(`free ${value}`));
            end$.subscribe(subscriber);
          }),
        );
      });
    for (const end$ of [EMPTY, timer(5).pipe(ignoreElements())]) {
      marbles(() => {
        timer(0, 1)
          .pipe(
            take(3),
            orderedMap((value) => locking(value, end$), { concurrency: 1 }),
          )
          .subscribe({ complete: () => log.push('completed') });
      });
    }
    const once = ['lock 0', 'free 0', 'lock 1', 'free 1', 'lock 2', 'free 2', 'completed'];
    expect(log).toEqual([...once, ...once]);
  });

  it('keeps the order of results that come while earlier ones are emitted', () => {
    const [a, b] = [new Subject<string>(), new Subject<string>()];
    const results: string[] = [];
    of(a, b)
      .pipe(orderedMap((inner) => inner))
      .subscribe((result) => {
        results.push(result);
        if (result === 'b1') b.next('b3');
      });
    b.next('b1');
    b.next('b2');
    a.complete();
    expect(results).toEqual(['b1', 'b2', 'b3']);
  });

  it('emits no result while it emits another one', () => {
    const [a, b] = [new Subject<string>(), new Subject<string>()];
    const log: string[] = [];
    of(a, b)
      .pipe(orderedMap((inner) => inner))
      .subscribe((result) => {
        log.push(result);
        if (result === 'a1') a.complete();
        log.push(`${result} taken`);
      });
    b.next('b1');
    a.next('a1');
    expect(log).toEqual(['a1', 'a1 taken', 'b1', 'b1 taken']);
  });

  it('completes before the teardown of its source, as mergeMap does', () => {
    const logOf = (operator: OperatorFunction<string, string>) => {
      const log: string[] = [];
      const source = new Subject<string>();
      source
        .pipe(
          finalize(() => log.push('torn down')),
          operator,
        )
        .subscribe({ next: (value) => log.push(value), complete: () => log.push('completed') });
      source.next('a');
      source.complete();
      return log;
    };
    expect(logOf(orderedMap((value) => [value]))).toEqual(['a', 'completed', 'torn down']);
    expect(logOf(mergeMap((value) => [value]))).toEqual(['a', 'completed', 'torn down']);
  });
});
