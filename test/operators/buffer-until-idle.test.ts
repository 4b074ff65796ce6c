import { describe, it } from '@jest/globals';
import { bufferUntilIdle } from '../../operators/buffer-until-idle.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const results = { a: ['a'], b: ['b'], x: ['a', 'b'], y: ['c'] };

testOperator<string, string[]>('bufferUntilIdle', {
  operator: () => bufferUntilIdle({ idle: 3 }),
  throwing: undefined,
  results,
  diagrams: {
    one: `
      source  -a-----|
      result  ----a--|
      subs    ^------!`,
    many: `
      source  -a-b----c-|
      result  ------x---(y|)
      subs    ^---------!`,
    error: `
      source  -a-b#
      result  ----(x#)
      subs    ^---!`,
    'never-ending': `
      source  -a-
      result  ----a--
      subs    ^`,
    'early unsubscribe': `
      source  -a-b----|
      unsub   ----!
      result  -----
      subs    ^---!`,
  },
});

describe('bufferUntilIdle', () => {
  it('emits a full buffer at once, however little the source pauses', () => {
    marbles(({ cold, expectObservable }) => {
      const buffers = cold('ababab|').pipe(bufferUntilIdle({ idle: 3, count: 2 }));
      expectObservable(buffers).toBe('-x-x-x|', results);
    });
  });
});
