import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, range, Subject } from 'rxjs';
import { type RateLimitOptions, rateLimit } from '../../operators/rate-limit.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const throwing = {
  key: () => {
    throw 'mine';
  },
};
const limit: RateLimitOptions<string> = { count: 1, per: 3 };

testOperator('rateLimit', {
  operator: () => rateLimit(limit),
  throwing: () => rateLimit({ ...limit, ...throwing }),
  diagrams: {
    one: `
      source  -a-|
      result  -a-|
      subs    ^--!`,
    many: `
      source  -abc-de-f-|
      result  -a---d--f-|
      subs    ^---------!`,
    error: `
      source  -ab#
      result  -a-#
      subs    ^--!`,
    'never-ending': `
      source  -ab-
      result  -a--
      subs    ^`,
    'early unsubscribe': `
      source  -a----b-|
      unsub   ----!
      result  -a---
      subs    ^---!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

testOperator('rateLimit with delay', {
  operator: () => rateLimit({ ...limit, onExceeded: 'delay' }),
  throwing: () => rateLimit({ ...limit, ...throwing, onExceeded: 'delay' }),
  diagrams: {
    one: `
      source  -a-|
      result  -a-|
      subs    ^--!`,
    many: `
      source  -abc-|
      result  -a--b--(c|)
      subs    ^----!`,
    error: `
      source  -abc-#
      result  -a--b#
      subs    ^----!`,
    'never-ending': `
      source  -abc-
      result  -a--b--c
      subs    ^`,
    'early unsubscribe': `
      source  -abc|
      unsub   -----!
      result  -a--b-
      subs    ^---!`,
    'a callback that throws': `
      source  -a-b-|
      result  -#
      subs    ^!`,
  },
});

describe('rateLimit', () => {
  it('lets a burst pass at once, and saves no more than that in a pause', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' (abcd)--------------(efgh)|');
      const expected = '    (ab)----------------(ef)--|';
      expectObservable(source.pipe(rateLimit({ count: 2, per: 10 }))).toBe(expected);
    });
  });

  it('gives one token every per ÷ count ms', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abcdefghijklm|');
      const expected = '    ab---f----k--|';
      expectObservable(source.pipe(rateLimit({ count: 2, per: 10 }))).toBe(expected);
    });
  });

  it('lets pass exactly what it should, whatever the numbers', () => {
    for (const [count, per] of [
      [3, 1000],
      [7, 100],
      [1, 10],
      [33, 999],
    ] as const) {
      const times: number[] = [];
      marbles(() => {
        range(0, count * 4)
          .pipe(rateLimit({ count, per, burst: 1, onExceeded: 'delay' }))
          .subscribe(() => times.push(asyncScheduler.now()));
      });
      expect(times).toEqual(times.map((_, n) => Math.ceil((n * per) / count)));
    }
  });

  it('limits every key apart, and a key that waits holds up no other', () => {
    const byKey = { ...limit, key: (x: string) => x.toLowerCase() };
    marbles(({ cold, expectObservable }) => {
      const source = cold('                                                   aAbB---|');
      expectObservable(source.pipe(rateLimit(byKey))).toBe('                  a-b----|');
      expectObservable(source.pipe(rateLimit({ ...byKey, onExceeded: 'delay' }))).toBe('a-bA-B-|');
    });
  });

  it('passes several in one millisecond when the rate is that high', () => {
    const times: number[] = [];
    marbles(() => {
      range(0, 9)
        .pipe(rateLimit({ count: 4, per: 1, burst: 1, onExceeded: 'delay' }))
        .subscribe(() => times.push(asyncScheduler.now()));
    });
    expect(times).toEqual([0, 1, 1, 1, 1, 2, 2, 2, 2]);
  });

  it('drops what comes beyond maxWaiting, and tells of it', () => {
    const dropped: string[] = [];
    marbles(({ cold, expectObservable }) => {
      const limited = rateLimit({
        ...limit,
        onExceeded: 'delay',
        maxWaiting: 2,
        onDrop: (value) => dropped.push(value),
      });
      const source = cold(' (abcde)-|');
      const expected = '    a--b--c-|';
      expectObservable(source.pipe(limited)).toBe(expected);
    });
    expect(dropped).toEqual(['d', 'e']);
  });

  it('forgets the key unused for longest when there are more than maxKeys', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' abacab|');
      const expected = '    ab-c-b|';
      expectObservable(source.pipe(rateLimit({ count: 1, per: 99, key: (x) => x, maxKeys: 2 }))).toBe(
        expected,
      );
    });
  });

  it('forgets no key whose values wait', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' aabca---|');
      const expected = '    a-bc-a----(a|)';
      const limited = rateLimit({
        count: 1,
        per: 5,
        key: (x: string) => x,
        maxKeys: 1,
        onExceeded: 'delay',
      });
      expectObservable(source.pipe(limited)).toBe(expected);
    });
  });

  it('keeps the order when the consumer makes the source emit again', () => {
    const seen: number[] = [];
    marbles(() => {
      const source = new Subject<number>();
      source.pipe(rateLimit({ count: 1, per: 3, onExceeded: 'delay' })).subscribe((n) => {
        seen.push(n);
        if (n < 6) source.next(n + 2);
      });
      source.next(1);
      source.next(2);
    });
    expect(seen).toEqual([1, 3, 2, 5, 4, 7, 6]);
  });

  it.each([
    [{ count: 0, per: 1 }, 'rateLimit: count must be an integer of at least 1, not 0'],
    [{ count: 1, per: 0 }, 'rateLimit: per must be a finite number above 0, not 0'],
    [{ count: 1, per: 1, burst: 0 }, 'rateLimit: burst must be an integer of at least 1, not 0'],
    [{ count: 1, per: 1, maxKeys: 0 }, 'rateLimit: maxKeys must be an integer of at least 1, not 0'],
    [{ count: 1, per: 1, maxWaiting: 0 }, 'rateLimit: maxWaiting must be an integer of at least 1, not 0'],
  ])('refuses %p', (options, message) => {
    expect(() => rateLimit(options)).toThrow(new RangeError(message));
  });
});
