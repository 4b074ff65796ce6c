import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, map, type Observable, of, range, Subject, take, timer, toArray } from 'rxjs';
import { inFlight } from '../../operators/in-flight.ts';
import { InFlightWindow } from '../../operators/in-flight-window.ts';
import { pullFrom } from '../../operators/pull-from.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const later = (value: string) => timer(3).pipe(map(() => value));

testOperator('inFlight', {
  operator: () => inFlight(new InFlightWindow(2), later),
  throwing: () =>
    inFlight(new InFlightWindow(2), () => {
      throw 'mine';
    }),
  diagrams: {
    one: `
      source  -a-|
      result  ----(a|)
      subs    ^--!`,
    many: `
      source  -abc-|
      result  ----ab-(c|)
      subs    ^----!`,
    error: `
      source  -ab-#
      result  ----#
      subs    ^---!`,
    'never-ending': `
      source  -ab-
      result  ----ab-
      subs    ^`,
    'early unsubscribe': `
      source  -a-b--|
      unsub   -----!
      result  ----a-
      subs    ^----!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

describe('inFlight', () => {
  it('pulls no more than the window has room for, and as much', () => {
    const window = new InFlightWindow(3);
    let pulled = 0;
    let most = 0;
    function* rows() {
      for (let n = 0; n < 100; n++) {
        pulled++;
        yield n;
      }
    }
    const seen: number[] = [];
    marbles(() => {
      pullFrom(rows(), window)
        .pipe(
          inFlight(window, (n) => {
            most = Math.max(most, window.open);
            return timer(1 + (n % 7)).pipe(map(() => n));
          }),
        )
        .subscribe((n) => {
          seen.push(n);
          expect(pulled - seen.length).toBeLessThan(3);
        });
    });
    expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(most).toBe(3);
    expect(window.open).toBe(0);
  });

  it('pulls an async generator by demand', async () => {
    const window = new InFlightWindow(2);
    async function* rows() {
      for (let n = 0; n < 5; n++) yield n;
    }
    const seen = pullFrom(rows(), window).pipe(
      inFlight(window, (n) => Promise.resolve(n * 2)),
      toArray(),
    );
    expect(await firstValueFrom(seen)).toEqual([0, 2, 4, 6, 8]);
    expect(window.open).toBe(0);
  });

  it('keeps results that wait for their turn open', () => {
    const window = new InFlightWindow(2);
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const inner: Record<string, ReturnType<typeof cold>> = {
        a: cold('              ----a|'),
        b: cold('              b|'),
        c: cold('                   --c|'),
      };
      const rows = pullFrom(['a', 'b', 'c'], window);
      const expected = '       ----ab-c|';
      const third = '          -----^--!';
      expectObservable(rows.pipe(inFlight(window, (row) => inner[row] as Observable<string>))).toBe(expected);
      expectSubscriptions((inner.c as ReturnType<typeof cold>).subscriptions).toBe(third);
    });
  });

  it('without order, closes what has ended', () => {
    const window = new InFlightWindow(2);
    marbles(({ cold, expectObservable }) => {
      const inner: Record<string, Observable<string>> = {
        a: cold('         ----a|'),
        b: cold('         -b|'),
        c: cold('           c|'),
      };
      const expected = '  -bc-a|';
      const mapped = inFlight(window, (row: string) => inner[row] as Observable<string>, { ordered: false });
      expectObservable(pullFrom(['a', 'b', 'c'], window).pipe(mapped)).toBe(expected);
    });
  });

  it('weighs values', () => {
    const window = new InFlightWindow(10);
    const started: number[] = [];
    const source = new Subject<number[]>();
    source
      .pipe(
        inFlight(
          window,
          (lines) => {
            started.push(window.open);
            return [lines.length];
          },
          { weigh: (lines) => lines.length },
        ),
      )
      .subscribe();
    source.next([1, 2, 3]);
    expect(started).toEqual([3]);
    expect(window.open).toBe(0);
  });

  it('takes fractional weights, whose sums are not exact', () => {
    const window = new InFlightWindow(10);
    const inner: Subject<number>[] = [];
    const project = () => {
      const result = new Subject<number>();
      inner.push(result);
      return result;
    };
    const source = new Subject<number>();
    const subscription = source.pipe(inFlight(window, project, { weigh: (weight) => weight })).subscribe();
    for (const weight of [0.1, 0.1, 1]) source.next(weight);
    for (const result of inner) result.complete();
    expect(() => subscription.unsubscribe()).not.toThrow();
    expect(window.open).toBe(0);
  });

  it('loses nothing of a source that does not wait', () => {
    const window = new InFlightWindow(2);
    let active = 0;
    let most = 0;
    const seen: number[] = [];
    marbles(() => {
      range(0, 20)
        .pipe(
          inFlight(window, (n) => {
            most = Math.max(most, ++active);
            return timer(2).pipe(
              map(() => {
                active--;
                return n;
              }),
            );
          }),
        )
        .subscribe((n) => seen.push(n));
    });
    expect(seen).toHaveLength(20);
    expect(most).toBe(2);
  });

  it('closes what is open when it is unsubscribed from, and pulls no more', () => {
    const window = new InFlightWindow(2);
    const pulled: string[] = [];
    function* rows() {
      for (const row of ['a', 'b', 'c', 'd']) {
        pulled.push(row);
        yield row;
      }
    }
    const subscription = pullFrom(rows(), window)
      .pipe(inFlight(window, () => timer(10)))
      .subscribe();
    expect(window.open).toBe(2);
    subscription.unsubscribe();
    expect(window.open).toBe(0);
    expect(pulled).toEqual(['a', 'b']);
  });

  it.each([
    [
      'project throws',
      () => {
        throw 'error';
      },
    ],
    ['a result fails', () => new Subject<never>()],
  ])('closes what is open when %s', (_, project) => {
    const window = new InFlightWindow(5);
    const source = new Subject<string>();
    const failed: unknown[] = [];
    source.pipe(inFlight(window, project)).subscribe({ error: (error) => failed.push(error) });
    source.next('a');
    source.error('error');
    expect(failed).toEqual(['error']);
    expect(window.open).toBe(0);
  });

  it('does not nest: 100,000 values that acknowledge at once, through a window of 1', () => {
    const window = new InFlightWindow(1);
    let seen = 0;
    marbles(() => {
      pullFrom(Array(100_000).fill('a'), window)
        .pipe(inFlight(window, (row) => of(row)))
        .subscribe(() => seen++);
    });
    expect(seen).toBe(100_000);
  });

  it('leaves the window to others when the consumer has enough', () => {
    const window = new InFlightWindow(4);
    pullFrom(['a', 'b', 'c'], window)
      .pipe(
        inFlight(window, (row) => [row]),
        take(1),
      )
      .subscribe();
    expect(window.open).toBe(0);
  });
});
