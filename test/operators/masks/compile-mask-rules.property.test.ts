import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { applyRulesInOrder } from '../../../operators/masks/apply-rule.ts';
import { compileMaskRules } from '../../../operators/masks/compile-mask-rules.ts';
import { costOf } from '../../../operators/masks/expression/cost.ts';
import { neededPart } from '../../../operators/masks/expression/needed-part.ts';
import type { MaskRule } from '../../../operators/masks/mask-rule.ts';
import { expressions, textsNear } from '../../support/expressions.ts';
import { propertyRuns } from '../../support/property-runs.ts';

jest.setTimeout(propertyRuns(600_000));

const isCheap = (source: string, flags: string): boolean => {
  const { ambiguity, degree, factor } = costOf(new RegExp(source, flags));
  return ambiguity === undefined && degree <= 2 && factor <= 100;
};

const keyword = fc.constantFrom('@', 'key', 'ab', 'sk_', '::', 'k', '%40', 'abkey=', 'a.b', 'tok', 'é', 'aé');

/** Rules with captures, keywords and checks; what some put in is what others look for. */
const ruleOf = (number: number) =>
  expressions()
    .filter(({ source, flags }) => isCheap(source, flags))
    .chain((drawn) =>
      fc.record({
        near: fc.constant(drawn.near),
        rule: fc
          .record({
            wrapping: fc.constantFrom('whole', 'group', 'behind', 'ahead', 'two'),
            keywords: fc.option(fc.array(keyword, { minLength: 1, maxLength: 3 }), { nil: undefined }),
            accepted: fc.constantFrom('all', 'even', 'start', 'behind', 'short'),
            isCostly: fc.boolean(),
            rejection: fc.constantFrom(false as const, 'search-inside' as const),
            inserted: fc.constantFrom('<:A:>', '', 'key', 'abkey=', 'K', 'é', 'length', 'a\nb'),
          })
          .map(({ wrapping, keywords, accepted, isCostly, rejection, inserted }): MaskRule => {
            const source = `(?:${drawn.source})`;
            const groupsBefore =
              (new RegExp(`${source}|`, drawn.flags.replace('g', '')).exec('')?.length ?? 1) - 1;
            const [expression, groups] = {
              whole: [source, [0]],
              group: [`${source}([\\w]*)`, [groupsBefore + 1]],
              behind: [`(?<=(k|@)?)${source}`, [1]],
              ahead: [`${source}(?=(.)?)`, [groupsBefore + 1]],
              two: [`${source}(.)?([^a])`, [groupsBefore + 2, groupsBefore + 1]],
            }[wrapping] as [string, number[]];
            const isReferring = /\\[1-9k]/.test(drawn.source);
            const fixed = inserted === 'length' ? undefined : inserted;
            const compiled = new RegExp(isReferring ? source : expression, drawn.flags.replace('g', ''));
            return {
              name: `R${number}`,
              expression: compiled,
              part: neededPart(compiled, keywords),
              ...(isCostly && { cost: { ambiguity: undefined, degree: 1, factor: 1e9 } }),
              groups: isReferring ? [0] : groups,
              replace: (value) => fixed ?? '*'.repeat(value.length),
              ...(fixed !== undefined && { fixed }),
              ...(keywords && { keywords }),
              ...(accepted === 'even' && { accepts: (value) => value.length % 2 === 0 || rejection }),
              ...(accepted === 'start' && { accepts: (_, __, start) => start < 5 || rejection }),
              ...(accepted === 'behind' && { accepts: (_, __, start) => start % 5 > 2 || rejection }),
              ...(accepted === 'short' && { accepts: (_, text) => text.length < 30 || rejection }),
            };
          }),
      }),
    );

const cases = fc
  .integer({ min: 1, max: 14 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, i) => ruleOf(i))))
  .chain((drawn) =>
    fc.record({
      rules: fc.constant(drawn.map(({ rule }) => rule)),
      texts: fc.array(
        fc.oneof(
          textsNear(drawn),
          textsNear(drawn).map((text) => `key ${text}abkey=`),
        ),
        {
          minLength: 3,
          maxLength: 6,
        },
      ),
    }),
  );

/** As if the first attempt took too long. */
const boundTime = (work: () => string) => [work(), work()][1] as string;

/** As a pipeline does it: where lines cannot be masked together, they are masked one by one. */
function maskTogether(rules: readonly MaskRule[], lines: readonly string[]): string | undefined {
  const { many: manyOf } = compileMaskRules(rules, { boundTime });
  const many = manyOf();
  if (many === undefined) return undefined;
  // The first texts are left to the engine.
  for (let i = 0; i < 12; i++) many.map('');
  const joined = lines.join('\n');
  const into = new Uint8Array(1 << 18);
  const bytes = Buffer.from(joined);
  const length = bytes.length === joined.length ? (many.mapBytes?.(bytes, into) ?? -1) : -1;
  return length === -1 ? many.map(joined) : Buffer.from(into.subarray(0, length)).toString();
}

describe('compileMaskRules', () => {
  it('gives what the rules give one after the other, for strings and for lines', () => {
    fc.assert(
      fc.property(cases, ({ rules, texts }) => {
        const { mask } = compileMaskRules(rules, { boundTime });
        for (let i = 0; i < 12; i++) mask('');
        for (const text of texts) {
          const wanted = applyRulesInOrder(text, rules);
          const found = mask(text);
          if (found !== wanted)
            expect({ rules, text, masked: found }).toEqual({ rules, text, masked: wanted });
        }
        if (rules.some(({ fixed }) => fixed?.includes('\n'))) return;
        const lines = texts.flatMap((text) => text.split('\n'));
        for (const some of [lines, Array.from({ length: 60 }, () => lines).flat()]) {
          const wanted = some.map((line) => applyRulesInOrder(line, rules)).join('\n');
          const found = maskTogether(rules, some) ?? wanted;
          if (found !== wanted)
            expect({ rules, lines: some, found }).toEqual({ rules, lines: some, found: wanted });
        }
      }),
      { numRuns: propertyRuns(16) },
    );
  });

  it('limits the time only of strings that have what a rule needs that could take long', () => {
    const bounded: number[] = [];
    const rule: MaskRule = {
      name: 'PIN',
      expression: /pin=>\[([0-9]+)/,
      part: /=>\[/,
      cost: { ambiguity: undefined, degree: 2, factor: 1e9 },
      groups: [1],
      keywords: ['pin'],
      replace: () => '***',
    };
    const { mask, many } = compileMaskRules([rule], {
      boundTime: (work, length) => {
        bounded.push(length);
        return work();
      },
    });
    expect(mask('the pin is 1234')).toBe('the pin is 1234');
    expect(many()?.map('a pin\nno pin')).toBe('a pin\nno pin');
    expect(bounded).toEqual([]);
    expect(mask('pin=>[1234')).toBe('pin=>[***');
    expect(many()?.map('a pin\npin=>[1')).toBe('a pin\npin=>[***');
    expect(bounded).toEqual([10, 13]);
  });

  it.each([
    [
      'lines, which are searched by backtracking',
      '[a-f0-9]*[0-9a-z]*[0-9]*[XYZ][QRS]',
      'a'.repeat(2000),
      true,
    ],
    ['a string, at each literal anew', '[a-z]+@[a-z@]*[a-z@0-9]*[a-z@]*X', 'a@'.repeat(8000), false],
  ])('limits the time of %s, also where one search could be linear', (_, source, text, areLines) => {
    const late = new Error('late');
    const rule: MaskRule = {
      name: 'R',
      expression: new RegExp(source),
      groups: [],
      fixed: '*',
      replace: () => '*',
    };
    const { mask, many } = compileMaskRules([rule], {
      boundTime: () => {
        throw late;
      },
      linearEngine: { maxLength: () => 26_000, compile: (linear, flags) => new RegExp(linear, flags) },
    });
    // The first texts are left to the engine.
    for (let i = 0; i < 12; i++) mask('');
    expect(() => (areLines ? many()?.map(`${text}\n${text}`) : mask(text))).toThrow(late);
  });
});
