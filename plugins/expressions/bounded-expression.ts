import { compileExpression, ExpressionError, MaskError } from '../../operators/index.ts';
import { costOf, lazily, mayBeSlow } from '../../operators/internal-masks.ts';
import { PluginError } from '../../src/sdk/index.ts';
import { boundedTime } from '../bounded-time.ts';
import { linearEngine, takesOverInLinearTime } from '../linear-time.ts';

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
  const cost = costOf(expression);
  const maxLinear = lazily(() => linearEngine.maxLength(expression));
  const linear = lazily(() => linearEngine.compile(expression.source, expression.flags));
  const within = boundedTime();
  return (text) => {
    if (!mayBeSlow(cost, text.length)) return find(expression, text);
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
