import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { tap } from 'rxjs';
import { untilAborted } from '../../operators/until-aborted.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

testOperator<string, string>('untilAborted', {
  operator: () => untilAborted(new AbortController().signal),
  throwing: undefined,
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
  },
});

describe('untilAborted', () => {
  it('completes when the signal is aborted, and unsubscribes from the source', () => {
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const source = cold('  -a-b-c-|');
      const abort = hot('    ----x');
      const subscription = ' ^---!';
      const expected = '     -a-b|';
      const stop = new AbortController();
      abort.pipe(tap(() => stop.abort())).subscribe();
      expectObservable(source.pipe(untilAborted(stop.signal))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscription);
    });
  });

  it('never subscribes when the signal is aborted already', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a|');
      expectObservable(source.pipe(untilAborted(AbortSignal.abort()))).toBe('|');
      expectSubscriptions(source.subscriptions).toBe([]);
    });
  });

  it('leaves no listener behind', () => {
    const { signal } = new AbortController();
    marbles(({ cold }) => {
      cold('a|').pipe(untilAborted(signal)).subscribe();
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
