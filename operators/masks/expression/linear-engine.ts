import { type Cost, costOf } from './cost.ts';

/**
 * An engine that takes time in proportion to the length of a text, but much memory for each of its characters: so an
 * expression is run on it only where backtracking could take long, and only on texts up to a length.
 */
export interface LinearEngine {
  /** The most characters of a text that the engine may run an expression on: 0 if it cannot run the expression. */
  readonly maxLength: (expression: RegExp) => number;
  /** The expression as the engine runs it. It is for short enough texts only. */
  readonly compile: (source: string, flags: string) => RegExp;
}

/** Engines do so many steps in a quarter of a second. */
export const FEW_STEPS = 5e7;

/** How many steps an expression takes at worst for a text of a length, or for lines of a length in it. */
export function stepsAtWorst({ degree, factor }: Cost, length: number, lineLength = length): number {
  return factor * length * lineLength ** Math.max(0, degree - 1);
}

/** Whether backtracking over a text of a length could take more than a moment. */
export function mayBeSlow(cost: Cost, length: number): boolean {
  return cost.ambiguity !== undefined || stepsAtWorst(cost, length) > FEW_STEPS;
}

/**
 * Tests texts, in bounded time if there is an engine for it: then the answer is no for a text that is too long to tell.
 */
export function boundedTest(expression: RegExp, engine: LinearEngine | undefined): (text: string) => boolean {
  if (engine === undefined) return (text) => expression.test(text);
  const maxLength = lazily(() => engine.maxLength(expression));
  const linear = lazily(() => engine.compile(expression.source, expression.flags));
  return (text) => {
    if (!mayBeSlow(costOf(expression), text.length)) return expression.test(text);
    return text.length <= maxLength() && linear().test(text);
  };
}

/** Calls a function once, when its result is first needed. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
