import v8 from 'node:v8';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { compileMaskRules } from '../../../operators/masks/compile-mask-rules.ts';
import { boundedTest, type LinearEngine } from '../../../operators/masks/expression/linear-engine.ts';
import { allowV8Flags } from '../../../operators/support/v8-flags.ts';
import { boundedExpression, expressionProblem } from '../../../plugins/expressions/bounded-expression.ts';
import { Expression } from '../../../plugins/expressions/mask-rule-schema.ts';
import { linearEngine } from '../../../plugins/time-limits/linear-time.ts';
import * as v8Flags from '../../../src/cli/v8-flags.ts';

const DOUBLING = [
  '^(a+)+$',
  '(?:\\w+\\s?)+!',
  '(?:[A-Za-z0-9+/]+\\n?)+==',
  '(?:a|b|ab)*#',
  '(?:x?x?x?)+y',
  '(?:\\w*\\d*)*%',
];

const itWithEngine = v8Flags.mayBeSet ? it : it.skip;

// The command line does so too.
beforeEach(() => allowV8Flags(v8Flags.mayBeSet ? v8Flags : undefined));
afterEach(() => allowV8Flags(undefined));

describe('linearEngine', () => {
  itWithEngine.each(DOUBLING)(
    'runs %s on texts that double the time of backtracking with each character',
    (source) => {
      const expression = linearEngine.compile(source, 'g');
      for (const letter of ['a', 'x', '\u4e00']) {
        expression.lastIndex = 0;
        // 2 to the power of 1000 steps by backtracking.
        expect(expression.exec(`${letter.repeat(1000)}-`)).toBeNull();
      }
    },
  );

  itWithEngine('takes shorter texts for an expression with more threads', () => {
    const lengths = [/a+b/, /(?:a+)+b/, /(?:\w+)+b/, /(?:\w+\s?)+b/, /(?:(?:\w\s){0,16})b/].map(
      linearEngine.maxLength,
    );
    expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
    // 32 MiB at 64 bytes for a thread.
    expect(lengths[0]).toBeLessThan(2 ** 19);
    expect(lengths.at(-1)).toBeGreaterThan(100);
  });

  it.each([/(?=a)(a+)+$/, /(a+)+\1$/, /(a+)+$/i, /(?:a{0,17})+b/])('does not run %p', (expression) => {
    expect(linearEngine.maxLength(expression)).toBe(0);
  });
});

/** Backtracks as usual, and remembers the texts. */
function recorder(maxLength: number): { engine: LinearEngine; lengths: () => number[] } {
  const texts: string[] = [];
  class Recording extends RegExp {
    override exec(text: string) {
      texts.push(text);
      return super.exec(text);
    }
  }
  const engine = {
    maxLength: () => maxLength,
    compile: (source: string, flags: string) => new Recording(source, flags),
  };
  return { engine, lengths: () => [...new Set(texts.map(({ length }) => length))] };
}

const rule = (source: string, groups = [0]) => ({
  name: 'R',
  expression: new RegExp(source),
  groups,
  replace: () => '*',
});

describe('rules', () => {
  /** Lengths of the texts that the engine ran on, and of those whose time was bounded. */
  function runsOf(rules: Parameters<typeof compileMaskRules>[0], lengths: readonly number[]) {
    const { engine, lengths: linear } = recorder(100);
    const bounded: number[] = [];
    const boundTime = (work: () => string, length: number) => {
      bounded.push(length);
      return work();
    };
    const { mask } = compileMaskRules(rules, { linearEngine: engine, boundTime });
    for (const length of lengths) mask(`${'-'.repeat(length - 3)}aab`);
    return { linear: linear(), bounded };
  }

  it('that double run on the engine up to its length, and in bounded time where many matches could take long', () => {
    expect(runsOf([rule('(?:a+)+b')], [10, 100, 101, 5000])).toEqual({
      linear: [10, 100],
      bounded: [100, 101, 5000],
    });
  });

  it('with groups, which only backtracking finds, take bounded time', () => {
    expect(runsOf([rule('(?:a+)+(b)', [1])], [10, 101]).bounded).toEqual([10, 101]);
  });

  it('that cannot take long never run on it', () => {
    expect(runsOf([rule('a+b'), rule('[a-z]+@')], [10, 100, 3000])).toEqual({ linear: [], bounded: [] });
  });

  it('that say what is allowed do not allow what is too long for the engine', () => {
    const { engine } = recorder(100);
    const isAllowed = boundedTest(/^(?:a+)+$/, engine);
    expect([10, 100, 101].map((length) => isAllowed('a'.repeat(length)))).toEqual([true, true, false]);
    const isShort = boundedTest(/^a+$/, engine);
    expect(isShort('a'.repeat(5000))).toBe(true);
  });
});

itWithEngine('a condition that doubles takes bounded time at any length', () => {
  const find = boundedExpression('(?:a|b|ab)*#');
  expect(find(`${'ab'.repeat(2000)}-`)).toBeNull();
  const message = /a text of 400001 characters; up to \d+ characters, its time is bounded/;
  expect(() => find(`${'ab'.repeat(200_000)}-`)).toThrow(message);
});

describe('in a program that embeds millrace', () => {
  const set = jest.spyOn(v8, 'setFlagsFromString');

  beforeEach(() => {
    allowV8Flags(undefined);
    set.mockClear();
  });
  afterEach(() => expect(set).not.toHaveBeenCalled());

  it.each(DOUBLING)('%s is refused, as a rule and as a condition', (source) => {
    const { error } = Expression.safeParse(source);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^this expression could take for ever: .* Only the command line on Node\.js 20 can run such/s,
      ),
    ]);
    expect(expressionProblem(source)).toBe(
      'for some strings, this regular expression could take exponential time, which only the command line on Node.js 20 can bound',
    );
  });

  it.each(['a+b', '\\w+@\\w+', '(?:a+b)+', '(?i)[a-z]*[a-z]*[a-z]*!'])('%s is taken', (source) => {
    expect(Expression.safeParse(source).error).toBeUndefined();
    expect(expressionProblem(source)).toBeUndefined();
  });

  it('rules whose time grows with a power of the length take bounded time', () => {
    const bounded: number[] = [];
    const boundTime = (work: () => string, length: number) => {
      bounded.push(length);
      return work();
    };
    const { mask } = compileMaskRules([rule('[a-z]+[0-9]*[a-z]+@')], { linearEngine, boundTime });
    for (const length of [10, 3000]) mask(`${'a'.repeat(length)}@`);
    expect(bounded).toEqual([3001]);
  });

  it('a condition whose time grows so ends in time', () => {
    const find = boundedExpression('[a-z]*[a-z]*[a-z]*!');
    expect(find('abc!')?.[0]).toBe('abc!');
    expect(() => find('a'.repeat(50_000))).toThrow(/took too long on a text of 50000 characters$/);
  });
});
