import { describe, expect, it } from '@jest/globals';
import { type OperatorFunction, of } from 'rxjs';
import { entropyMask } from '../../operators/entropy-mask.ts';
import { MaskError } from '../../operators/mask-error.ts';
import type { Masked } from '../../operators/masked.ts';
import { regexMask } from '../../operators/regex-mask.ts';
import { testOperator } from './operator-matrix.ts';

const KEY = 'qGr4Kd0xT9bLw2Zp5v';

interface Form {
  name: string;
  operator<T extends string | object>(onMask?: () => void): OperatorFunction<T, Masked<T>>;
}

const forms: Form[] = [
  { name: 'regexMask', operator: (onMask) => regexMask({ rules: { KEY }, mask_char: '*', onMask }) },
  { name: 'entropyMask', operator: (onMask) => entropyMask({ mask_char: '*', onMask }) },
];

const throwIt = () => {
  throw 'mine';
};

for (const { name, operator } of forms) {
  testOperator<string | object, string | object>(name, {
    operator: () => operator(),
    throwing: () => operator(throwIt),
    values: { a: 'x', k: `k ${KEY}`, e: { data: { k: [KEY] } } },
    results: { a: 'x', k: `k ${'*'.repeat(18)}`, e: { data: { k: ['*'.repeat(18)] } } },
    diagrams: {
      one: `
        source  a|
        result  a|
        subs    ^!`,
      many: `
        source  a-k-e-|
        result  a-k-e-|
        subs    ^-----!`,
      error: `
        source  a-k-#
        result  a-k-#
        subs    ^---!`,
      'never-ending': `
        source  a-k-e-
        result  a-k-e-
        subs    ^`,
      'early unsubscribe': `
        source  a-k-e-|
        unsub   ---!
        result  a-k
        subs    ^--!`,
      'a callback that throws': `
        source  a-k-e-|
        result  a-#
        subs    ^-!`,
    },
  });
}

describe.each(forms)('$name', ({ operator }) => {
  it('fails closed: what cannot be masked is an error, never a value', () => {
    const seen: unknown[] = [];
    of({ data: { k: Buffer.from(KEY) } }, { data: {} })
      .pipe(operator())
      .subscribe({ next: (value) => seen.push(value), error: (error) => seen.push(error) });
    expect(seen).toEqual([expect.any(MaskError)]);
  });
});
