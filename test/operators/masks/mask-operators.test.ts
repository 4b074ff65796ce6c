import { describe, expect, it } from '@jest/globals';
import { type OperatorFunction, of } from 'rxjs';
import { entropyMask, entropyMasker } from '../../../operators/masks/entropy-mask.ts';
import { MaskError } from '../../../operators/masks/mask-error.ts';
import type { Masked } from '../../../operators/masks/masked.ts';
import { redact } from '../../../operators/masks/redact/redact.ts';
import { regexMask, regexMasker } from '../../../operators/masks/regex-mask.ts';
import { ONE_FOR_EACH, testOperator } from '../operator-matrix.ts';

const KEY = 'qGr4Kd0xT9bLw2Zp5v';

interface Form {
  name: string;
  operator<T extends string | object>(onMask?: () => void): OperatorFunction<T, Masked<T>>;
}

const forms: Form[] = [
  { name: 'regexMask', operator: (onMask) => regexMask({ rules: { KEY }, mask_char: '*', onMask }) },
  {
    name: 'redact',
    operator: (onMask) =>
      redact({
        rules: { KEY: { match: `(${KEY})`, mask: 1 } },
        onMask,
        replace: (v) => '*'.repeat(v.length),
      }),
  },
  { name: 'entropyMask', operator: (onMask) => entropyMask({ mask_char: '*', onMask }) },
];

const throwIt = () => {
  throw 'mine';
};

for (const { name, operator } of forms) {
  testOperator<string | object, string | object>(name, {
    operator: () => operator(),
    throwing: () => operator(throwIt),
    values: { x: 'x', y: `k ${KEY}`, z: { data: { k: [KEY] } } },
    results: { x: 'x', y: `k ${'*'.repeat(18)}`, z: { data: { k: ['*'.repeat(18)] } } },
    diagrams: ONE_FOR_EACH,
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

describe('options in camelCase', () => {
  const text = `pin 1234, ${KEY}`;

  it('are the same as those of the specification', () => {
    const rules = { PIN: '[0-9]{4}' };
    expect(regexMasker({ rules, maskChar: '*' })(text)).toBe(regexMasker({ rules, mask_char: '*' })(text));
    expect(regexMasker({ rules, maskPrefix: '<', maskSuffix: '>' })('1234')).toBe('<PIN>');
    const entropy = { hThreshold: 0.8, lengthThreshold: 17, delimiter: ',', maskStr: 'X' };
    const specified = { h_threshold: 0.8, length_threshold: 17, delimeter: ',', mask_str: 'X' };
    expect(entropyMasker(entropy)(text)).toBe(entropyMasker(specified)(text));
    expect(entropyMasker(entropy)(text)).toContain('<:X:>');
  });

  it('count only where that of the specification is not given', () => {
    const rules = { PIN: '[0-9]{4}' };
    expect(regexMasker({ rules, mask_char: '*', maskChar: '#' })('1234')).toBe('****');
  });
});
