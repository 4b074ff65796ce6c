import { stepsAtWorst } from '../../operators/masks/compiled-rules.ts';
import { costOf } from '../../operators/masks/expression/cost.ts';
import { MaskError } from '../../operators/masks/mask-error.ts';
import { compileExpression, ExpressionError } from '../../operators/masks/python-regex.ts';
import { PluginError } from '../../src/sdk/index.ts';
import { boundedTime } from '../bounded-time.ts';
import { takesOverInLinearTime } from '../linear-time.ts';

/** Steps of an expression that backtracks, up to which its time need not be watched. About 10 ms. */
const FEW_STEPS = 1e6;
/** Characters for which an expression that V8 can run in linear time takes no more than about 200 ms. */
const SHORT = 4096;

/** What is wrong with a regular expression of the configuration; undefined if nothing is. */
export function expressionProblem(source: string): string | undefined {
  try {
    const expression = compileExpression(source);
    const isEndless = costOf(expression).ambiguity !== undefined && !takesOverInLinearTime(expression);
    return isEndless ? 'for some strings, this regular expression could take exponential time' : undefined;
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
  const expression = compileExpression(source);
  const find = (text: string) => {
    expression.lastIndex = 0;
    return expression.exec(text);
  };
  const isLinear = takesOverInLinearTime(expression);
  const cost = costOf(expression);
  const within = boundedTime();
  return (text) => {
    const isQuick = isLinear
      ? text.length <= SHORT
      : stepsAtWorst(cost, text.length, text.length) <= FEW_STEPS;
    if (isQuick) return find(text);
    let found: RegExpExecArray | null = null;
    try {
      within(() => {
        found = find(text);
        return '';
      }, text.length);
    } catch (error) {
      throw error instanceof MaskError ? new PluginError('a regular expression took too long') : error;
    }
    return found;
  };
}
