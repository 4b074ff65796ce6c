import { describe, expect, it } from '@jest/globals';
import { delayRange, drawDelay } from '../../operators/delay-range.ts';
import { marbles } from '../support/marbles.ts';

const half = { random: () => 0.5 };

describe('delayRange', () => {
  it.each([
    ['never', '          -', '          -', '             ^'],
    ['empty', '          |', '          |', '             (^!)'],
    ['one', '            a|', '         --(a|)', '          ^!'],
    ['many', '           abc|', '       --ab(c|)', '        ^--!'],
    ['error', '          a--#', '       --a#', '            ^--!'],
    ['error at once', '  a#', '         -#', '              ^!'],
    ['never-ending', '   a-b-', '       --a-b-', '          ^'],
  ])('%s', (_, source, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold(source);
      expectObservable(e1.pipe(delayRange({ minimum: 0.001, maximum: 0.003 }, half))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subscription);
    });
  });

  it('early unsubscribe', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const e1 = hot('                                                       abc--|');
      expectObservable(e1.pipe(delayRange({ minimum: 0.002, maximum: 0.002 })), '^--!').toBe('--a');
      expectSubscriptions(e1.subscriptions).toBe('                           ^--!');
    });
  });

  it('passes the error of a random function that throws', () => {
    marbles(({ cold, expectObservable }) => {
      const random = () => {
        throw 'mine';
      };
      expectObservable(cold('-a|').pipe(delayRange({ minimum: 0, maximum: 1 }, { random }))).toBe(
        '-#',
        {},
        'mine',
      );
    });
  });

  it('draws a wait of its own for each value, so that one may overtake another', () => {
    marbles(({ cold, expectObservable }) => {
      const draws = [1, 0];
      const random = () => draws.shift() as number;
      const e1 = cold('                                                               ab----|');
      expectObservable(e1.pipe(delayRange({ minimum: 0.001, maximum: 0.004 }, { random }))).toBe('--b-a-|');
    });
  });

  it('waits for 60 days, which is more than one timer can', () => {
    const seconds = 60 * 24 * 3600;
    marbles(({ cold, expectObservable }) => {
      const delayed = cold('a|').pipe(delayRange({ minimum: seconds, maximum: seconds }));
      expectObservable(delayed).toBe(`${seconds}s (a|)`);
    });
  });

  it('takes its bounds in order, and from 0', () => {
    expect(() => delayRange({ minimum: 2, maximum: 1 })).toThrow(RangeError);
    expect(() => delayRange({ minimum: -1, maximum: 1 })).toThrow(RangeError);
    expect(() => delayRange({ minimum: Number.NaN, maximum: 1 })).toThrow(RangeError);
  });

  it('draws within the bounds', () => {
    expect(drawDelay({ minimum: 2, maximum: 6 }, () => 0)).toBe(2);
    expect(drawDelay({ minimum: 2, maximum: 6 }, () => 0.75)).toBe(5);
  });
});
