import { describe, expect, it } from '@jest/globals';
import { isObservable, type Observable, take, toArray } from 'rxjs';
import { childEvents, withChildren } from '../../operators/child-events.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const event = deepFreeze({ timestamp: 't', data: { a: 1 } });
const child = (n: number) => ({ timestamp: 't', data: { a: 1, 'x-child-count': n } });
const values = { e: event, '1': child(1), '2': child(2), '3': child(3) };

describe('withChildren', () => {
  it('returns everything at once without a delay', () => {
    expect(withChildren(event, { name: 'x', count: 0 })).toEqual([event]);
    expect(withChildren(event, { name: 'x', count: 2 })).toEqual([event, child(1), child(2)]);
    expect(withChildren(event, { name: 'x', count: 1, delay: 0 })).toEqual([event, child(1)]);
  });

  it('hands on the very event', () => {
    expect((withChildren(event, { name: 'x', count: 1 }) as unknown[])[0]).toBe(event);
  });

  it('builds no array of 2^62 children', () => {
    const many = withChildren(event, { name: 'x', count: 2 ** 62 });
    expect(isObservable(many)).toBe(true);
    const seen: unknown[] = [];
    (many as Observable<unknown>).pipe(take(3), toArray()).subscribe((first) => seen.push(...first));
    expect(seen).toEqual([event, child(1), child(2)]);
  });

  it('keeps __proto__ among the data', () => {
    const odd = { data: JSON.parse('{"__proto__":1}') as object };
    const [, first] = withChildren(odd, { name: 'x', count: 1 }) as object[];
    expect(JSON.stringify(first)).toBe('{"data":{"__proto__":1,"x-child-count":1}}');
  });

  it('waits delay × (count ÷ n) before child n', () => {
    marbles(({ expectObservable }) => {
      const all = withChildren(event, { name: 'x', count: 3, delay: 6 }) as Observable<unknown>;
      expectObservable(all).toBe('6ms e 17ms 1 8ms 2 5ms (3|)', values);
    });
  });
});

testOperator('childEvents', {
  operator: () => childEvents({ name: 'x', count: 2, delay: 3 }),
  throwing: undefined,
  values,
  diagrams: {
    one: `
      source  e|
      result  ---e-----1--(2|)
      subs    ^!`,
    many: `
      source  e--------e|
      result  ---e-----1--(2e)--1--(2|)
      subs    ^---------!`,
    error: `
      source  e---#
      result  ---e#
      subs    ^---!`,
    'never-ending': `
      source  e-
      result  ---e-----1--2
      subs    ^`,
    'early unsubscribe': `
      source  e-----|
      unsub   ----!
      result  ---e
      subs    ^---!`,
  },
});

describe('childEvents', () => {
  it('lets the delays of several events run at a time, and keeps their order', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' e-------e---|', values);
      // The second event is due at 11 ms, and waits for the last child of the first.
      const expected = '    ---e-----1--(2e)-1--(2|)';
      const childrenAfter = childEvents<typeof event>({ name: 'x', count: 2, delay: 3 });
      expectObservable(source.pipe(childrenAfter)).toBe(expected, values);
    });
  });

  it('takes whole numbers of children, and no negative wait', () => {
    for (const count of [-1, 1.5, Number.NaN]) {
      expect(() => childEvents({ name: 'x', count })).toThrow(RangeError);
    }
    for (const delay of [-1, Number.NaN]) {
      expect(() => childEvents({ name: 'x', count: 1, delay })).toThrow(RangeError);
    }
  });

  it('gives children in the same instant without a delay', () => {
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('                                                   -e------|', values);
      expectObservable(e1.pipe(childEvents({ name: 'x', count: 2 }))).toBe('-(e12)--|', values);
    });
  });
});
