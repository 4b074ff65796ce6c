import { describe, expect, it } from '@jest/globals';
import { type MonoTypeOperatorFunction, map, of } from 'rxjs';
import { entropyMask } from '../../operators/entropy-mask.ts';
import { MaskError } from '../../operators/mask-error.ts';
import { regexMask } from '../../operators/regex-mask.ts';
import { marbles } from '../support/marbles.ts';

const KEY = 'qGr4Kd0xT9bLw2Zp5v';

interface Form {
  name: string;
  operator<T extends string | object>(onMask?: () => void): MonoTypeOperatorFunction<T>;
}

const forms: Form[] = [
  { name: 'regexMask', operator: (onMask) => regexMask({ rules: { KEY }, mask_char: '*', onMask }) },
  { name: 'entropyMask', operator: (onMask) => entropyMask({ mask_char: '*', onMask }) },
];

describe.each(forms)('$name', ({ operator }) => {
  const given = { a: 'x', k: `k ${KEY}`, e: { data: { k: [KEY] } } };
  const wanted = { a: 'x', k: `k ${'*'.repeat(18)}`, e: { data: { k: ['*'.repeat(18)] } } };

  it.each([
    ['never', '-', '-', '^'],
    ['empty', '|', '|', '(^!)'],
    ['one', 'a|', 'a|', '^!'],
    ['many', 'a-k-e-|', 'a-k-e-|', '^-----!'],
    ['error', 'a-k-#', 'a-k-#', '^---!'],
    ['never-ending', 'a-k-e-', 'a-k-e-', '^'],
  ])('%s', (_, source, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold<string | object>(source, given);
      expectObservable(e1.pipe(operator())).toBe(expected, wanted);
      expectSubscriptions(e1.subscriptions).toBe(subscription);
    });
  });

  it('early unsubscribe', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const e1 = hot<string | object>('a-k-e-|', given);
      expectObservable(e1.pipe(operator()), '  ^--!').toBe('a-k', wanted);
      expectSubscriptions(e1.subscriptions).toBe('^--!');
    });
  });

  it('passes the error of a callback that throws', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold<string | object>('a-k-e-|', given);
      const failing = operator<string | object>(() => {
        throw 'mine';
      });
      expectObservable(e1.pipe(failing)).toBe('a-#', wanted, 'mine');
      expectSubscriptions(e1.subscriptions).toBe('^-!');
    });
  });

  it('fails closed: what cannot be masked is an error, never a value', () => {
    const seen: unknown[] = [];
    of({ data: { k: Buffer.from(KEY) } }, { data: {} })
      .pipe(operator())
      .subscribe({ next: (value) => seen.push(value), error: (error) => seen.push(error) });
    expect(seen).toEqual([expect.any(MaskError)]);
  });

  it('keeps types through pipe()', () => {
    of('a')
      .pipe(
        operator(),
        map((text: string) => text.length),
      )
      .subscribe();
    of({ data: { n: 1 } })
      .pipe(
        operator(),
        map((event) => event.data.n.toFixed()),
      )
      .subscribe();
  });
});
