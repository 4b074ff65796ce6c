import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { applyRulesInOrder } from '../../../../operators/masks/apply-rule.ts';
import type { MaskRule } from '../../../../operators/masks/mask-rule.ts';
import { findValues } from '../../../../operators/masks/redact/find-values.ts';

const rule = (
  name: string,
  expression: RegExp,
  replacement: string,
  fields: Partial<MaskRule> = {},
): MaskRule => ({
  name,
  expression,
  groups: [0],
  replace: () => replacement,
  ...fields,
});

describe('findValues', () => {
  it('gives places in the original string, whatever rules before have changed', () => {
    const rules = [
      rule('A', /a+/, '<long mask>'),
      rule('B', /b(c)/, '-', { groups: [1] }),
      rule('C', /d-?/, ''),
      rule('NONE', /z/, '', { keywords: ['y'] }),
      rule('MASKS', /<long mask>x/, '!'),
    ];
    expect(findValues('1aaa2bc3aaax d z', rules)).toEqual([
      { rule: 'A', start: 1, end: 4 },
      { rule: 'B', start: 6, end: 7 },
      { rule: 'A', start: 8, end: 11 },
      { rule: 'MASKS', start: 8, end: 12 },
      { rule: 'C', start: 13, end: 14 },
    ]);
  });

  it('covers all that masking changes', () => {
    const parts = fc.array(fc.constantFrom('a', 'b', 'c', 'x', ' '), { maxLength: 20 });
    const replacement = fc.constantFrom('', '-', '<mask>', 'ab');
    const rules = fc.array(fc.tuple(fc.constantFrom(/a+/, /b/, /ab?c/, /-x?/, /m.s/), replacement), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(parts, rules, (characters, pairs) => {
        const text = characters.join('');
        const list = pairs.map(([expression, mask], i) => rule(String(i), expression, mask));
        const found = findValues(text, list);
        for (const { start, end } of found) {
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(text.length);
          expect(start).toBeLessThanOrEqual(end);
        }
        // What no rule found is still there, in its order.
        const kept = [...text].filter((_, i) => !found.some(({ start, end }) => start <= i && i < end));
        const masked = applyRulesInOrder(text, list);
        let at = 0;
        for (const character of kept) {
          at = masked.indexOf(character, at) + 1;
          expect(at).toBeGreaterThan(0);
        }
      }),
      { numRuns: 300 },
    );
  });
});
