import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ambiguityOf, costOf } from '../../../../operators/masks/expression/cost.ts';
import { type Pattern, parseExpression } from '../../../../operators/masks/expression/pattern.ts';
import { expressions } from '../../../support/expressions.ts';

function referencesIn(pattern: Pattern): { min: number; max: number }[] {
  if (pattern.kind === 'reference') return [pattern];
  if (pattern.kind === 'look') return referencesIn(pattern.inside);
  if (pattern.kind === 'repetition') return referencesIn(pattern.item);
  if (pattern.kind === 'sequence') return pattern.items.flatMap(referencesIn);
  return pattern.kind === 'choice' ? pattern.branches.flatMap(referencesIn) : [];
}

describe('the cost of an expression', () => {
  it.each([
    [/^(a+)+$/, '(a+)+'],
    [/^(a|aa)+$/, '(a|aa)+'],
    [/^(?:\w|\d)+$/, '(?:\\w|\\d)+'],
    [/^(?:a*)*b/, '(?:a*)*'],
    [/^([a-z]+\d?)+!/, '([a-z]+\\d?)+'],
    [/(?:a|A)+!/i, '(?:a|A)+'],
    [/^(?:(a)\1?)+$/, '(?:(a)\\1?)+'],
    [/^(?:(\w)\1|\w)+$/, '(?:(\\w)\\1|\\w)+'],
    [/x(?=(?:a+)+b)/, '(?:a+)+'],
    [/(?<=(?:a+)+b)x/, '(?:a+)+'],
    [/^(?:ab|a|b)+!/, '(?:ab|a|b)+'],
    [/^(?:(?:ab)+|a|b)+!/, '(?:(?:ab)+|a|b)+'],
    [/(?:[a-z]|[a-z0-9]){28}:/, '(?:[a-z]|[a-z0-9]){28}'],
    [/(?:\w|[A-Z]){26}=/, '(?:\\w|[A-Z]){26}'],
    [/(?=(?:a|a){22}c)a/, '(?:a|a){22}'],
    [/(?:[ab]|a){1,16}c/, '(?:[ab]|a){1,16}'],
  ])('of %p doubles with each text that %p takes in two ways', (expression, part) => {
    const { ambiguity } = costOf(expression);
    expect(ambiguity?.part).toBe(part);
    const rounds = part.replace(/\{[\d,]+\}$/, '+');
    expect(ambiguity?.text).toMatch(new RegExp(`^(?:${rounds})$`, expression.flags));
  });

  it('doubles also where a part may be left out in two ways, each time', () => {
    expect(costOf(/(?:ab?b?){24}c/).ambiguity?.part).toBe('(?:ab?b?){24}');
  });

  it.each([
    [/^abc/, 0],
    [/abc/, 1],
    [/^a*b/, 1],
    [/^(?:a+b)+$/, 1],
    [/[a-z]+@/, 2],
    [/^a*a*b/, 2],
    [/a*a*b/, 3],
    [/a*b*c/, 2],
    [/^(?:a|b)*c/, 1],
    [/\w+@\w+\.\w+/, 2],
    [/x(?=a*a*b)/, 3],
  ])('of %p grows at most with a power of the length: %p', (expression, degree) => {
    expect(costOf(expression)).toMatchObject({ ambiguity: undefined, degree });
  });

  it.each([
    /(\w)\1+/,
    /^(\w)\1{4,}$/,
    /(?:(["'])[a-z]*\1,)+;/,
    /^(?:(\w\w)\1)+$/,
    /(?<year>\d{4})(?:-\k<year>)+/,
    /^(?:((?:a|b))\1)+$/,
  ])('of %p is bounded: a reference of a known length takes its text in one way', (expression) => {
    expect(costOf(expression).ambiguity).toBeUndefined();
    expect(costOf(expression).degree).toBeLessThan(4);
  });

  it.each([
    ['that stands ahead of it', '(?:\\1(a))+$'],
    ['that may be left out', '(?:(a)?\\1b?)+$'],
    ['of another branch', '^(?:(?:(a)|b)\\1*)+$'],
    ['of this branch, from another one', '(?:(a)|\\1b?)+$'],
    ['inside a negative condition', '(?!(a))(?:\\1)+$'],
    ['that is matched later in a look-behind', '(?<=(a)(?:\\1)+)b'],
    ['that it is in itself', '^(?:(a\\1))+$'],
  ])('knows no length of a reference to a group %s: it may be empty', (_, source) => {
    const { pattern } = parseExpression(new RegExp(source)) as { pattern: Pattern };
    expect(referencesIn(pattern).map(({ min }) => min)).toEqual([0]);
  });

  it.each([
    [/(?:[a-z]|[a-z0-9]){4}:/, 2 ** 4],
    [/(?:ab?b?){3}c/, 2 ** 3],
    [/(?:a|b|[ac]){2}d/, 2 ** 2],
    [/(?:a|(?:b|bb)){2}d/, 2 ** 2],
    [/(?:a|(?:b|bc)){2}c/, 2],
    [/(?:base|batch|b64){2}:/, 1],
    [/(?:[a-f]|[0-9]|-){30}:/, 1],
    [/(?:[0-9a-f]{2}:?){16}=/, 1],
    [/(?:\d{4}[ -]?){4}:/, 1],
  ])('of %p has a factor for each way through what is repeated: %p', (expression, factor) => {
    expect(costOf(expression)).toMatchObject({ ambiguity: undefined, factor });
  });

  it.each(['(\\2a)(\\1b)', '(?<a>x\\k<b>)(?<b>y\\k<a>)'])(
    'is known where groups refer to each other: %s',
    (source) => {
      expect(costOf(new RegExp(source)).degree).toBeGreaterThan(0);
    },
  );

  it('is worked out at once for groups that refer to the one before', () => {
    const source = `(a)${Array.from({ length: 60 }, (_, i) => `(\\${i + 1}\\${i + 1})`).join('')}`;
    expect(costOf(new RegExp(source)).degree).toBeGreaterThan(0);
  });

  it('has a factor for what varies a little, which adds up', () => {
    expect(costOf(/^(?:a{1,3}b?){2}/).factor).toBeGreaterThan(1);
    expect(costOf(/abc/).factor).toBe(1);
  });

  it('is without end where the expression is not understood', () => {
    const flags = 'v';
    expect(costOf(new RegExp('[\\p{L}--a]', flags)).degree).toBe(Number.POSITIVE_INFINITY);
  });

  describe('has the ambiguity that is asked for alone', () => {
    const expectSame = (source: string, flags: string) => {
      const expression = new RegExp(source, flags);
      expect(ambiguityOf(expression)).toEqual(costOf(expression).ambiguity);
    };

    it('whatever the expression', () => {
      fc.assert(
        fc.property(expressions(), fc.constantFrom('', '?', '+', '{2,3}'), ({ source, flags }, how) =>
          expectSame(`(?:${source})${how}`, flags),
        ),
      );
    });

    it.each(['a?', 'a*', '(?:a|b|)', '(?:ab?)?', '(?:a?b?)', '(?=a?)a?'])('of many times %p', (part) => {
      for (let times = 1; times <= 20; times++) expectSame(part.repeat(times), '');
    });
  });
});
