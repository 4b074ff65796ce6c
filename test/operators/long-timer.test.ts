import { describe, expect, it } from '@jest/globals';
import { longTimer } from '../../operators/long-timer.ts';
import { marbles } from '../support/marbles.ts';

const LONGEST = 2 ** 31 - 1;

describe('longTimer', () => {
  it.each([
    [0, '(0|)'],
    [3, '---(0|)'],
    [LONGEST - 1, `${LONGEST - 1}ms (0|)`],
    [LONGEST, `${LONGEST}ms (0|)`],
    [LONGEST + 1, `${LONGEST + 1}ms (0|)`],
    [3 * LONGEST, `${3 * LONGEST}ms (0|)`],
  ])('emits once after %d ms', (ms, expected) => {
    marbles(({ expectObservable }) => {
      expectObservable(longTimer(ms)).toBe(expected, { 0: 0 });
    });
  });

  it('never emits after Infinity, and lets virtual time end', () => {
    marbles(({ expectObservable }) => {
      expectObservable(longTimer(Number.POSITIVE_INFINITY)).toBe('-');
    });
  });

  it.each([-1, -1e12])('emits at once if the time is over: %d', (ms) => {
    marbles(({ expectObservable }) => {
      expectObservable(longTimer(ms)).toBe('(0|)', { 0: 0 });
    });
  });

  it('refuses NaN, which no timer would ever reach', () => {
    expect(() => longTimer(Number.NaN)).toThrow('longTimer: ms must be a number of milliseconds, not NaN');
  });

  it('ends at an early unsubscription', () => {
    marbles(({ expectObservable }) => {
      expectObservable(longTimer(2 * LONGEST), '3ms !').toBe('-');
    });
  });
});
