import { describe, expect, it } from '@jest/globals';
import { concatWith, delay, EMPTY, ignoreElements, Observable, of, range, take, timer } from 'rxjs';
import { gatherMap } from '../../operators/gather-map.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

testOperator<string, string>('gatherMap', {
  operator: () => gatherMap((values) => of(values[0] as string).pipe(delay(2))),
  throwing: () =>
    gatherMap(() => {
      throw 'mine';
    }),
  diagrams: {
    one: `
      source  -a|
      result  ---(a|)
      subs    ^-!`,
    many: `
      source  -a-bc--|
      result  ---a-b-(c|)
      subs    ^------!`,
    error: `
      source  -a-b#
      result  ---a#
      subs    ^---!`,
    'never-ending': `
      source  -a-b-
      result  ---a-b-
      subs    ^`,
    'early unsubscribe': `
      source  -a-b-|
      unsub   ----!
      result  ---a
      subs    ^---!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

describe('gatherMap', () => {
  it('hands over what waits together, when the work before it is done', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' ab-c---d--|');
      const expected = '    ---x--y---(z|)';
      const work = (values: readonly string[]) => of(values.join('')).pipe(delay(3));
      // a alone from 0 to 3; b and c from 3 to 6; d from 7 to 10.
      expectObservable(source.pipe(gatherMap(work))).toBe(expected, { x: 'a', y: 'bc', z: 'd' });
    });
  });

  it('holds nothing back while idle', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' -a-b-|');
      const expected = '    -a-b-|';
      expectObservable(source.pipe(gatherMap((values) => values))).toBe(expected);
    });
  });

  it('gathers up to maxWeight, and a heavier value alone', () => {
    const gathered: number[][] = [];
    marbles(() => {
      of(1, 2, 3, 9, 1, 1)
        .pipe(
          gatherMap(
            (values) => {
              gathered.push([...values]);
              return timer(1);
            },
            { weigh: (value) => value, maxWeight: 5 },
          ),
        )
        .subscribe();
    });
    expect(gathered).toEqual([[1], [2, 3], [9], [1, 1]]);
  });

  it('does not nest: 200,000 pieces of work that complete at once', () => {
    let pieces = 0;
    marbles(() => {
      timer(1)
        .pipe(concatWith(range(0, 200_000)))
        .pipe(gatherMap(() => of(++pieces), { maxWeight: 1 }))
        .subscribe();
    });
    expect(pieces).toBe(200_001);
  });

  it('errors when weigh throws', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' -a-b-|');
      const expected = '    -#';
      const weigh = () => {
        throw 'error';
      };
      expectObservable(source.pipe(gatherMap((values) => values, { weigh }))).toBe(expected);
    });
  });

  it('errors when the work fails', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = cold('     --#');
      const source = cold('  -a-b-|');
      const subscription = ' ^--!';
      const expected = '     ---#';
      expectObservable(source.pipe(gatherMap(() => work))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscription);
    });
  });

  it('stops the work at an early unsubscription', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inner = cold('     ---x|');
      const source = cold('    -a-b-|');
      const unsubscription = ' ---!';
      const subscription = '   -^-!';
      const expected = '       ----';
      expectObservable(source.pipe(gatherMap(() => inner)), unsubscription).toBe(expected);
      expectSubscriptions(inner.subscriptions).toBe(subscription);
    });
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
            gatherMap(([value]) => locking(value, end$), { maxWeight: 1 }),
          )
          .subscribe({ complete: () => log.push('completed') });
      });
    }
    const once = ['lock 0', 'free 0', 'lock 1', 'free 1', 'lock 2', 'free 2', 'completed'];
    expect(log).toEqual([...once, ...once]);
  });
});
