import { describe, expect, it } from '@jest/globals';
import { sampleFirst } from '../../operators/sample-first.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

testOperator('sampleFirst', {
  operator: () => sampleFirst<string>({ first: 2, every: 3 }),
  throwing: () =>
    sampleFirst<string>({
      key: () => {
        throw 'mine';
      },
    }),
  diagrams: {
    one: `
      source  -a-|
      result  -a-|
      subs    ^--!`,
    many: `
      source  -abcdefghi-|
      result  -ab--e--h--|
      subs    ^----------!`,
    error: `
      source  -abc#
      result  -ab-#
      subs    ^---!`,
    'never-ending': `
      source  -abc-
      result  -ab--
      subs    ^`,
    'early unsubscribe': `
      source  -a-b-c-|
      unsub   --!
      result  -a-
      subs    ^-!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

describe('sampleFirst', () => {
  it('begins a new window with the first value after the last one', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abcd---efgh|');
      const expected = '    a------e---|';
      expectObservable(source.pipe(sampleFirst({ first: 1, per: 4 }))).toBe(expected);
    });
  });

  it('counts on for as long as a window lasts', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abcdefghij|');
      const expected = '    a-c-ef-h-j|';
      expectObservable(source.pipe(sampleFirst({ first: 1, every: 2, per: 5 }))).toBe(expected);
    });
  });

  it('takes every n-th value alone', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abcdefg|');
      const expected = '    a--d--g|';
      expectObservable(source.pipe(sampleFirst({ every: 3 }))).toBe(expected);
    });
  });

  it('counts every key apart', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' aabAbaB|');
      const expected = '    a-bA--B|';
      expectObservable(source.pipe(sampleFirst({ key: (x) => x }))).toBe(expected);
    });
  });

  it('forgets the key unused for longest when there are more than maxKeys', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abacab|');
      // c pushes out b, which came before the second a.
      const expected = '    ab-c-b|';
      expectObservable(source.pipe(sampleFirst({ key: (x) => x, maxKeys: 2 }))).toBe(expected);
    });
  });

  it('counts for each subscription apart', () => {
    marbles(({ cold, expectObservable }) => {
      const sampled = cold('ab|').pipe(sampleFirst({ first: 1 }));
      expectObservable(sampled).toBe('a-|');
      expectObservable(sampled, '---^').toBe('---a-|');
    });
  });

  it.each([
    [{ first: 0 }, 'sampleFirst: first must be an integer of at least 1, not 0'],
    [{ every: 1.5 }, 'sampleFirst: every must be an integer of at least 1, not 1.5'],
    [{ per: 0 }, 'sampleFirst: per must be a finite number above 0, not 0'],
    [{ maxKeys: -1 }, 'sampleFirst: maxKeys must be an integer of at least 1, not -1'],
  ])('refuses %p', (options, message) => {
    expect(() => sampleFirst(options)).toThrow(new RangeError(message));
  });
});
