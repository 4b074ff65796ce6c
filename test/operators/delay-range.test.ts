import { describe, expect, it } from '@jest/globals';
import { delayRange, drawDelay } from '../../operators/delay-range.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const half = { random: () => 0.5 };

testOperator('delayRange', {
  operator: () => delayRange<string>({ minimum: 1, maximum: 3 }, half),
  throwing: () =>
    delayRange<string>(
      { minimum: 0, maximum: 1 },
      {
        random: () => {
          throw 'mine';
        },
      },
    ),
  diagrams: {
    one: `
      source  a|
      result  --(a|)
      subs    ^!`,
    many: `
      source  abc|
      result  --ab(c|)
      subs    ^--!`,
    error: `
      source  a--#
      result  --a#
      subs    ^--!`,
    'never-ending': `
      source  a-b-
      result  --a-b-
      subs    ^`,
    'early unsubscribe': `
      source  abc--|
      unsub   ---!
      result  --a
      subs    ^--!`,
    'a callback that throws': `
      source  -a|
      result  -#
      subs    ^!`,
  },
});

describe('delayRange', () => {
  it('keeps the order of values of which one is due before another', () => {
    marbles(({ cold, expectObservable }) => {
      const draws = [1, 0];
      const random = () => draws.shift() as number;
      const source = cold(' ab------|');
      const expected = '    ----(ab)|';
      expectObservable(source.pipe(delayRange({ minimum: 1, maximum: 4 }, { random }))).toBe(expected);
    });
  });

  it('lets one value overtake another with ordered: false', () => {
    marbles(({ cold, expectObservable }) => {
      const draws = [1, 0];
      const random = () => draws.shift() as number;
      const source = cold(' ab----|');
      const expected = '    --b-a-|';
      const delayed = delayRange<string>({ minimum: 1, maximum: 4 }, { random, ordered: false });
      expectObservable(source.pipe(delayed)).toBe(expected);
    });
  });

  it('waits for 60 days, which is more than one timer can', () => {
    const ms = 60 * 24 * 3_600_000;
    marbles(({ cold, expectObservable }) => {
      const delayed = cold('a|').pipe(delayRange({ minimum: ms, maximum: ms }));
      expectObservable(delayed).toBe(`${ms}ms (a|)`);
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
