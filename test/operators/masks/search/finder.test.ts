import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Finder, finderOf, GroupFinder, matchesOf } from '../../../../operators/masks/search/finder.ts';

const textsOf = (finder: Finder, text: string) =>
  matchesOf(finder, text).map(({ start, end }) => text.slice(start, end));

describe('matchesOf', () => {
  it.each([
    [/x*/, 'axxbx', ['xx', 'x']],
    [/x*/u, '😀xx😀', ['xx']],
    [/x*/, '😀xx😀', ['xx']],
    [/(?=a)/, 'aaa', []],
    [/$|b/, 'ab', ['b']],
    [/(?:)/u, '😀', []],
    [/|😀/u, '😀', []],
    [/\udc00?/, '\ud83d\udc00', ['\udc00']],
    [/\b|a/, 'a a', []],
    [/x*/, '', []],
  ])('passes over empty matches of %p in %p, and ends', (expression, text, expected) => {
    expect(textsOf(new GroupFinder({ expression, groups: [1] }), text)).toEqual(expected);
    expect(textsOf(finderOf({ expression, groups: [0] }), text)).toEqual(expected);
  });

  it('finds what the engine finds, whatever the expression', () => {
    const part = fc.constantFrom('a', 'a*', 'b?', '(?=a)', '$', '^', '\\b', '|', '😀', '.', '(?:)', '[^a]*');
    const expression = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    const text = fc
      .array(fc.constantFrom('a', 'b', '😀', '\ud83d', ' '), { maxLength: 8 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(expression, text, fc.constantFrom('', 'u'), (source, text, flags) => {
        let compiled: RegExp;
        try {
          compiled = new RegExp(source, flags);
        } catch {
          return;
        }
        const expected = [...text.matchAll(new RegExp(source, `g${flags}`))].flatMap(([match]) =>
          match === '' ? [] : [match],
        );
        expect(textsOf(new GroupFinder({ expression: compiled, groups: [0, 1] }), text)).toEqual(expected);
      }),
    );
  });
});
