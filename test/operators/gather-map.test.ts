import { describe, expect, it } from '@jest/globals';
import { concatWith, delay, of, range, timer } from 'rxjs';
import { gatherMap } from '../../operators/gather-map.ts';
import { marbles } from '../support/marbles.ts';

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

  it.each([
    ['never', '-', '-', '^'],
    ['empty', '|', '|', '(^!)'],
    ['one, then never ending', '-a-', '-a-', '^'],
    ['error', '-a-#', '-a-#', '^--!'],
  ])('handles a source that is %s', (_, marble, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold(marble);
      expectObservable(source.pipe(gatherMap((values) => of(...values)))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscription);
    });
  });

  it('errors when the work fails or project throws', () => {
    marbles(({ cold, expectObservable }) => {
      const failing = cold('  --#');
      const source = cold('   -a-b-|');
      expectObservable(source.pipe(gatherMap(() => failing))).toBe('---#');
      const throwing = gatherMap(() => {
        throw 'error';
      });
      expectObservable(source.pipe(throwing)).toBe('-#');
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
});
