import { compileExpression, ExpressionError, MaskError } from '../../operators/index.ts';
import { allowedV8Flags } from '../../operators/internal.ts';
import { costOf, lazily, mayBeSlow } from '../../operators/internal-masks.ts';
import { PluginError } from '../../src/sdk/index.ts';
import { isWatched, TimeLimit } from '../time-limits/bounded-time.ts';
import { linearEngine, takesOverInLinearTime } from '../time-limits/linear-time.ts';
import { setField } from './fields.ts';

/** What is wrong with a regular expression of the configuration; undefined if nothing is. */
export function expressionProblem(source: string): string | undefined {
  try {
    const expression = compileExpression(source);
    const isEndless = costOf(expression).ambiguity !== undefined && !takesOverInLinearTime(expression);
    if (!isEndless) return undefined;
    const where =
      allowedV8Flags() === undefined ? ', which only the command line on Node.js 20 can bound' : '';
    return `for some strings, this regular expression could take exponential time${where}`;
  } catch (error) {
    if (error instanceof ExpressionError) return error.reason;
    throw error;
  }
}

/**
 * Finds the first match of a regular expression of the configuration, in bounded time: a string may make an expression
 * try for long. The result throws a PluginError where that is not enough.
 */
export function boundedExpression(source: string): (text: string) => RegExpExecArray | null {
  return bounded(compileExpression(source));
}

/** Adds the named groups of the first match to an object, in the order of the expression, if they have a value. */
export type GroupFinder = (text: string, groups?: Record<string, unknown>) => object | undefined;

/** {@link boundedExpression} for the named groups of the first match. */
export function boundedGroups(source: string): GroupFinder {
  const { expression, names } = withoutNames(compileExpression(source));
  const find = bounded(expression);
  const fields = [...names];
  return (text, groups = {}) => {
    const match = find(text);
    if (match === null) return undefined;
    for (const [name, numbers] of fields) {
      for (const number of numbers) {
        const value = match[number];
        if (value !== undefined) setField(groups, name, value);
      }
    }
    return groups;
  };
}

/** Escapes, classes, and the parentheses that open a group which captures. */
const PARTS = /\\(?:k<([^>]+)>|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:(?!\?)|\?<(?![=!])([^>]+)>)/g;

/**
 * An expression without names for its groups, and the numbers of each name. For names, V8 makes an object without a
 * hidden class for each match, which takes longer than to find it.
 */
export function withoutNames({ source, flags }: RegExp): {
  readonly expression: RegExp;
  readonly names: ReadonlyMap<string, readonly number[]>;
} {
  const names = new Map<string, number[]>();
  let groups = 0;
  for (const [part, , name] of source.matchAll(PARTS)) {
    if (!part.startsWith('(')) continue;
    groups++;
    if (name !== undefined) names.set(name, [...(names.get(name) ?? []), groups]);
  }
  if (names.size === 0) return { expression: new RegExp(source, flags), names };
  const unnamed = source.replace(PARTS, (part, reference: string | undefined) => {
    if (part.startsWith('(')) return '(';
    return reference === undefined
      ? part
      : `(?:${(names.get(reference) ?? []).map((number) => `\\${number}`).join('')})`;
  });
  return { expression: new RegExp(unnamed, flags), names };
}

let slowSearches = 0;

/** The number of searches so far that could take long and did not run as plain ones under a watch: see {@link isWatched}. */
export function countOfSlowSearches(): number {
  return slowSearches;
}

function bounded(expression: RegExp): (text: string) => RegExpExecArray | null {
  const cost = costOf(expression);
  const maxLinear = lazily(() => linearEngine.maxLength(expression));
  const linear = lazily(() => linearEngine.compile(expression.source, expression.flags));
  const { bound: within } = new TimeLimit();
  const isPolynomial = cost.ambiguity === undefined;
  return (text) => {
    if (!mayBeSlow(cost, text.length)) return find(expression, text);
    // V8's first engine takes a twentieth of the time of the second where it does not go back.
    if (isPolynomial && isWatched()) return find(expression, text);
    slowSearches++;
    if (text.length <= maxLinear()) return find(linear(), text);
    try {
      return within(() => find(expression, text), text.length);
    } catch (error) {
      if (!(error instanceof MaskError)) throw error;
      throw new PluginError(
        `a regular expression took too long on a text of ${text.length} characters` +
          (maxLinear() > 0 ? `; up to ${maxLinear()} characters, its time is bounded` : ''),
      );
    }
  };
}

function find(expression: RegExp, text: string): RegExpExecArray | null {
  expression.lastIndex = 0;
  return expression.exec(text);
}
