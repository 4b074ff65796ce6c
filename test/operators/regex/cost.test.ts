import { describe, expect, it } from '@jest/globals';
import { costOf } from '../../../operators/regex/cost.ts';
import { type Pattern, parseExpression } from '../../../operators/regex/pattern.ts';

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
  ])('of %p doubles with each text that %p takes in two ways', (expression, part) => {
    const { ambiguity } = costOf(expression);
    expect(ambiguity?.part).toBe(part);
    expect(ambiguity?.text).toMatch(new RegExp(`^(?:${part})$`, expression.flags));
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

  it('has a factor for what varies a little, which adds up', () => {
    expect(costOf(/^(?:a{1,3}b?){2}/).factor).toBeGreaterThan(1);
    expect(costOf(/abc/).factor).toBe(1);
  });

  it('is without end where the expression is not understood', () => {
    const flags = 'v';
    expect(costOf(new RegExp('[\\p{L}--a]', flags)).degree).toBe(Number.POSITIVE_INFINITY);
  });
});
