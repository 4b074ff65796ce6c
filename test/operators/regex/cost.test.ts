import { describe, expect, it } from '@jest/globals';
import { costOf } from '../../../operators/regex/cost.ts';

describe('the cost of an expression', () => {
  it.each([
    [/^(a+)+$/, '(a+)+'],
    [/^(a|aa)+$/, '(a|aa)+'],
    [/^(?:\w|\d)+$/, '(?:\\w|\\d)+'],
    [/^(?:a*)*b/, '(?:a*)*'],
    [/^([a-z]+\d?)+!/, '([a-z]+\\d?)+'],
    [/(?:a|A)+!/i, '(?:a|A)+'],
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

  it('has a factor for what varies a little, which adds up', () => {
    expect(costOf(/^(?:a{1,3}b?){2}/).factor).toBeGreaterThan(1);
    expect(costOf(/abc/).factor).toBe(1);
  });

  it('is without end where the expression is not understood', () => {
    const flags = 'v';
    expect(costOf(new RegExp('[\\p{L}--a]', flags)).degree).toBe(Number.POSITIVE_INFINITY);
  });
});
