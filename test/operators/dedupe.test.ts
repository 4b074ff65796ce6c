import { describe, expect, it } from '@jest/globals';
import { dedupe } from '../../operators/dedupe.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

testOperator('dedupe', {
  operator: () => dedupe<string>({ within: 5 }),
  throwing: () =>
    dedupe<string>({
      within: 5,
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
      source  -a-ab-aab--|
      result  -a--b-a----|
      subs    ^----------!`,
    error: `
      source  -aa#
      result  -a-#
      subs    ^--!`,
    'never-ending': `
      source  -a-a-
      result  -a---
      subs    ^`,
    'early unsubscribe': `
      source  -a-a-b-|
      unsub   ----!
      result  -a---
      subs    ^---!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

describe('dedupe', () => {
  it('lets a key pass once per window: its time runs from the value that passed', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' aaaaaaaaaaaaa|');
      const expected = '    a---a---a---a|';
      expectObservable(source.pipe(dedupe({ within: 4 }))).toBe(expected);
    });
  });

  it('with sliding windows, lets a key pass when it has paused', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' aaa-a--aa---a|');
      const expected = '    a-----------a|';
      expectObservable(source.pipe(dedupe({ within: 4, sliding: true }))).toBe(expected);
    });
  });

  it('compares by key', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' aAbB|');
      const expected = '    a-b-|';
      expectObservable(source.pipe(dedupe({ key: (x) => x.toLowerCase(), within: 9 }))).toBe(expected);
    });
  });

  it('forgets the key whose time ends first when there are more than maxKeys', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abacabc|');
      const two = '         ab-cabc|';
      const three = '       ab-c---|';
      expectObservable(source.pipe(dedupe({ within: 99, maxKeys: 2 }))).toBe(two);
      expectObservable(source.pipe(dedupe({ within: 99, maxKeys: 3 }))).toBe(three);
    });
  });

  it('tells of duplicates', () => {
    const duplicates: string[] = [];
    marbles(({ cold }) => {
      cold('aab|')
        .pipe(dedupe({ within: 9, onDuplicate: (value) => duplicates.push(value) }))
        .subscribe();
    });
    expect(duplicates).toEqual(['a']);
  });

  it('remembers for each subscription apart', () => {
    marbles(({ cold, expectObservable }) => {
      const deduped = cold('aa|').pipe(dedupe({ within: 9 }));
      expectObservable(deduped).toBe('a-|');
      expectObservable(deduped, '---^').toBe('---a-|');
    });
  });

  it.each([
    [{ within: 0 }, 'dedupe: within must be a finite number above 0, not 0'],
    [{ within: Number.NaN }, 'dedupe: within must be a finite number above 0, not NaN'],
    [{ within: 1, maxKeys: 0 }, 'dedupe: maxKeys must be an integer of at least 1, not 0'],
  ])('refuses %p', (options, message) => {
    expect(() => dedupe(options)).toThrow(new RangeError(message));
  });
});
