import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, of, take } from 'rxjs';
import { poll } from '../../operators/poll.ts';
import { marbles } from '../support/marbles.ts';

describe('poll', () => {
  it('calls at once and then every interval', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const result = cold('  a|');
      const unsubscription = '---------!';
      const expected = '      a---a---a-';
      const subscriptions = [
        '                     ^!        ',
        '                     ----^!    ',
        '                     --------^!',
      ];
      expectObservable(
        poll(() => result, { interval: 4 }),
        unsubscription,
      ).toBe(expected);
      expectSubscriptions(result.subscriptions).toBe(subscriptions);
    });
  });

  it('never overlaps: a slow result costs ticks and leaves the cadence', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const result = cold('  ----a|');
      const unsubscription = '-----------!';
      const expected = '      ----a-----a-';
      const subscriptions = ['                     ^----!       ', '                     ------^----! '];
      expectObservable(
        poll(() => result, { interval: 3 }),
        unsubscription,
      ).toBe(expected);
      expectSubscriptions(result.subscriptions).toBe(subscriptions);
    });
  });

  it('emits all values of a result, and calls again on the tick on which it ends', () => {
    marbles(({ cold, expectObservable }) => {
      const result = cold('  ab-|');
      const unsubscription = '--------!';
      const expected = '      ab-ab-ab-';
      expectObservable(
        poll(() => result, { interval: 3 }),
        unsubscription,
      ).toBe(expected);
    });
  });

  it('never calls again while a result does not end', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const result = cold('  -');
      const unsubscription = '------!';
      const expected = '      -------';
      const subscription = '  ^-----!';
      expectObservable(
        poll(() => result, { interval: 2 }),
        unsubscription,
      ).toBe(expected);
      expectSubscriptions(result.subscriptions).toBe(subscription);
    });
  });

  it('goes on after an empty result', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const result = cold('  |');
      const unsubscription = '---!';
      const expected = '      ----';
      const subscriptions = ['                     (^!)', '                     --(^!)'];
      expectObservable(
        poll(() => result, { interval: 2 }),
        unsubscription,
      ).toBe(expected);
      expectSubscriptions(result.subscriptions).toBe(subscriptions);
    });
  });

  it('fails with the first error of a result', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const results = [cold(' a|'), cold(' -#')];
      const expected = '       a--#';
      let calls = 0;
      const next = () => results[calls++] as (typeof results)[0];
      expectObservable(poll(next, { interval: 2 })).toBe(expected);
      expectSubscriptions((results[0] as (typeof results)[0]).subscriptions).toBe('^!');
      expectSubscriptions((results[1] as (typeof results)[0]).subscriptions).toBe('--^!');
    });
  });

  it('fails when the callback throws', () => {
    marbles(({ expectObservable }) => {
      let calls = 0;
      const throwing = () => {
        if (++calls === 3) throw 'error';
        return of(calls);
      };
      const expected = 'a-b-#';
      expectObservable(poll(throwing, { interval: 2 })).toBe(expected, { a: 1, b: 2 });
    });
  });

  it('stops the call at an early unsubscription, and calls no more', () => {
    let calls = 0;
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const result = cold('  ---a|');
      const unsubscription = '--!';
      const expected = '      ---';
      const subscription = '  ^-!';
      const counted = () => {
        calls++;
        return result;
      };
      expectObservable(poll(counted, { interval: 1 }), unsubscription).toBe(expected);
      expectSubscriptions(result.subscriptions).toBe(subscription);
    });
    expect(calls).toBe(1);
  });

  it.each([0, -5, 0.2])('takes an interval of %d ms as 1 ms', (interval) => {
    marbles(({ expectObservable }) => {
      const unsubscription = '---!';
      const expected = '      aaa-';
      expectObservable(
        poll(() => of('a'), { interval }),
        unsubscription,
      ).toBe(expected);
    });
  });

  it('refuses an interval that is no number', () => {
    expect(() => poll(() => [], { interval: Number.NaN })).toThrow(RangeError);
  });

  it('keeps intervals longer than a timer of Node can be', () => {
    const days = 40 * 24 * 3600 * 1000;
    const times: number[] = [];
    marbles(() => {
      poll(() => of(asyncScheduler.now()), { interval: days })
        .pipe(take(3))
        .subscribe((time) => times.push(time));
    });
    expect(times).toEqual([0, days, 2 * days]);
  });
});
