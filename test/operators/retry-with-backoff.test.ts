import { describe, it } from '@jest/globals';
import { retryWithBackoff } from '../../operators/retry-with-backoff.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const half = { random: () => 0.5 };

testOperator<string, string>('retryWithBackoff', {
  operator: () => retryWithBackoff({ ...half, base: 4, attempts: 2 }),
  throwing: () =>
    retryWithBackoff({
      random: () => {
        throw 'mine';
      },
    }),
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
      source  -a#
      result  -a---a#
      subs    ^-!
      subs    ----^-!`,
    'never-ending': `
      source  -a-b-
      result  -a-b-
      subs    ^`,
    'early unsubscribe': `
      source  -a#
      unsub   ---!
      result  -a--
      subs    ^-!`,
    'a callback that throws': `
      source  -a#
      result  -a#
      subs    ^-!`,
  },
});

describe('retryWithBackoff', () => {
  it('fails with the fifth error, after waits that double', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold('#');
      const expected = '   500ms 1s 2s 4s #';
      expectObservable(source.pipe(retryWithBackoff(half))).toBe(expected);
    });
  });

  it('resets the count after a run of ten seconds', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('   10s #');
      const unsubscription = '25s !';
      const subscriptions = [
        '                     ^ 9999ms !',
        '                     10500ms ^ 9999ms !',
        '                     21000ms ^ 3999ms !',
      ];
      const retried = source.pipe(retryWithBackoff({ ...half, attempts: 2 }));
      expectObservable(retried, unsubscription).toBe('-');
      expectSubscriptions(source.subscriptions).toBe(subscriptions);
    });
  });
});
