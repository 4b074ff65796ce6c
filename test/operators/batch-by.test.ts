import { describe, expect, it } from '@jest/globals';
import { map, type Observable, Subject } from 'rxjs';
import { batchBy } from '../../operators/batch-by.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

const joined = (source: Observable<string[]>) => source.pipe(map((batch) => batch.join('')));
const results = { x: 'ab', y: 'cd', a: 'a', c: 'c', e: 'e' };

testOperator<string, string>('batchBy', {
  operator: () => (source) => joined(source.pipe(batchBy({ count: 2, within: 5 }))),
  throwing: () => (source) =>
    joined(
      source.pipe(
        batchBy({
          bytes: 2,
          sizeOf: (value) => {
            if (value === 'c') throw 'mine';
            return 0.5;
          },
        }),
      ),
    ),
  results,
  diagrams: {
    one: `
      source  -a-|
      result  ---(a|)
      subs    ^--!`,
    many: `
      source  -a-bc-d---e-|
      result  ---x--y-----(e|)
      subs    ^-----------!`,
    error: `
      source  -abc#
      result  --x-(c#)
      subs    ^---!`,
    'never-ending': `
      source  -ab-c-
      result  --x------c-
      subs    ^`,
    'early unsubscribe': `
      source  -ab-c---|
      unsub   ------!
      result  --x----
      subs    ^-----!`,
    'a callback that throws': `
      source  -a-b-c-d|
      result  -----(x#)
      subs    ^----!`,
  },
});

describe('batchBy', () => {
  it('lets a batch leave so many milliseconds after its first value', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' a-b-----cd-----|');
      const expected = '    ----x-------y--|';
      expectObservable(joined(source.pipe(batchBy({ within: 4 })))).toBe(expected, results);
    });
  });

  it('restarts the time with each batch', () => {
    marbles(({ cold, expectObservable }) => {
      const source = cold(' a-bc----------|');
      const expected = '    --x----c------|';
      expectObservable(joined(source.pipe(batchBy({ count: 2, within: 4 })))).toBe(expected, results);
    });
  });

  function batches<T>(values: readonly T[], options: Parameters<typeof batchBy<T>>[0]): T[][] {
    const source = new Subject<T>();
    const seen: T[][] = [];
    source.pipe(batchBy(options)).subscribe((batch) => seen.push(batch));
    for (const value of values) source.next(value);
    source.complete();
    return seen;
  }

  it('keeps within the bytes, and lets a larger value leave alone', () => {
    expect(batches(['aa', 'b', 'cc', 'dddd', 'e', 'f'], { bytes: 3 })).toEqual([
      ['aa', 'b'],
      ['cc'],
      ['dddd'],
      ['e', 'f'],
    ]);
  });

  it('leaves by whichever bound is reached first', () => {
    expect(batches(['a', 'b', 'cccc', 'd', 'e'], { count: 2, bytes: 4 })).toEqual([
      ['a', 'b'],
      ['cccc'],
      ['d', 'e'],
    ]);
  });

  it('weighs as it is told to', () => {
    expect(batches([1, 2, 3, 4], { bytes: 3, sizeOf: (n) => n })).toEqual([[1, 2], [3], [4]]);
  });

  it('counts bytes of UTF-8, and of JSON', () => {
    for (const text of ['a', 'é', '€', '😀', '\ud800', '\udc00x', 'a😀é€']) {
      const bytes = Buffer.byteLength(text);
      expect(batches([text, text], { bytes: 2 * bytes })).toEqual([[text, text]]);
      expect(batches([text, text, text], { bytes: 3 * bytes - 0.5 })).toEqual([[text, text], [text]]);
    }
    const event = { data: { é: 1 } };
    const bytes = Buffer.byteLength(JSON.stringify(event));
    expect(batches([event, event, event], { bytes: 3 * bytes - 1 })).toEqual([[event, event], [event]]);
    expect(batches([undefined, undefined], { bytes: 1 })).toEqual([[undefined, undefined]]);
  });

  it('loses nothing when the consumer makes the source emit again', () => {
    const source = new Subject<number>();
    const seen: number[][] = [];
    source.pipe(batchBy({ count: 2 })).subscribe((batch) => {
      seen.push(batch);
      if (seen.length === 1) for (const n of [3, 4, 5]) source.next(n);
    });
    source.next(1);
    source.next(2);
    source.complete();
    expect(seen).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('keeps its bounds and the order when the consumer makes the source emit again', () => {
    const source = new Subject<string>();
    const seen: string[][] = [];
    source.pipe(batchBy({ bytes: 3 })).subscribe((batch) => {
      seen.push(batch);
      if (seen.length === 1) for (const text of ['ef', 'ghi', 'j']) source.next(text);
    });
    for (const text of ['ab', 'cd', 'k']) source.next(text);
    source.complete();
    expect(seen).toEqual([['ab'], ['cd'], ['ef'], ['ghi'], ['j', 'k']]);
  });

  it('keeps the order when the consumer makes the source end', () => {
    const source = new Subject<string>();
    const seen: (string | string[])[] = [];
    source.pipe(batchBy({ bytes: 3 })).subscribe({
      next: (batch) => {
        seen.push(batch);
        source.complete();
      },
      complete: () => seen.push('completed'),
    });
    source.next('ab');
    source.next('cd');
    expect(seen).toEqual([['ab'], ['cd'], 'completed']);
  });

  it.each([
    [{ count: 0 }, 'batchBy: count must be an integer of at least 1, not 0'],
    [{ bytes: 0 }, 'batchBy: bytes must be a finite number above 0, not 0'],
    [{ within: -1 }, 'batchBy: within must be a finite number above 0, not -1'],
  ])('refuses %p', (options, message) => {
    expect(() => batchBy(options)).toThrow(new RangeError(message));
  });

  it('needs a bound', () => {
    expect(() => batchBy({})).toThrow(new TypeError('batchBy: it needs a bound: count, bytes or within'));
  });
});
