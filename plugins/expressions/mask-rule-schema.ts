import { constants } from 'node:buffer';
import * as z from 'zod';
import { compileExpression, ExpressionError } from '../../operators/index.ts';
import { allowedV8Flags } from '../../operators/internal.ts';
import { type Ambiguity, ambiguityOf, lengthOf, parseExpression } from '../../operators/internal-masks.ts';
import type { ConfigProblem } from '../../src/sdk/index.ts';
import { takesOverInLinearTime } from '../time-limits/linear-time.ts';

/** A rule that a plain object cannot hold would be lost without a word, and mask nothing. */
export function refuseLostRule(rules: unknown, ctx: z.RefinementCtx): unknown {
  if (typeof rules === 'object' && rules !== null && Object.hasOwn(rules, '__proto__')) {
    ctx.issues.push({
      code: 'custom',
      input: rules,
      path: ['__proto__'],
      message: 'another name for this rule',
    });
  }
  return rules;
}

/**
 * Each by itself, so that all problems are told at once, also beside a rule that is no text. Refuses expressions that take
 * exponential time for some strings, because V8 cannot run them without backtracking.
 */
export const Expression = z
  .string()
  .check((ctx) => {
    const refuse = (message: string) =>
      ctx.issues.push({ code: 'custom', input: ctx.value, message, continue: true });
    try {
      const expression = compileExpression(ctx.value);
      const ambiguity = ambiguityOf(expression);
      if (ambiguity !== undefined && !takesOverInLinearTime(expression)) refuse(explain(ambiguity));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      refuse(`a valid regular expression (${error.reason})`);
    }
  })
  .meta({ format: 'regex' });

/** What is odd about a valid expression: it masks nothing. */
export function problemOfExpression(source: string, rule: string): Omit<ConfigProblem, 'path'> | undefined {
  const idle = whyItMasksNothing(compileExpression(source, rule));
  return idle === undefined ? undefined : { severity: 'warning', message: `${idle}, so it masks nothing` };
}

function whyItMasksNothing(expression: RegExp): string | undefined {
  const pattern = parseExpression(expression)?.pattern;
  const length = pattern && lengthOf(pattern);
  if (length?.max === 0) return 'this expression matches nothing but the empty text';
  if (length !== undefined && length.min > constants.MAX_STRING_LENGTH) {
    return 'what this expression matches would be longer than any text';
  }
  return undefined;
}

function explain({ part, text }: Ambiguity): string {
  const shape = text === undefined ? 'a text' : `a text such as ${JSON.stringify(text.repeat(3))}`;
  const otherwise =
    allowedV8Flags() === undefined
      ? '. Only the command line on Node.js 20 can run such expressions, and not all of them: elsewhere, millrace keeps ' +
        'the engine of V8 that backtracks'
      : ', or without look-around, back-references, (?i), \\p{…} and counts above 16';
  return (
    `this expression could take for ever: ${part} can take ${shape} in ways that multiply with each repetition, ` +
    'and all are tried where the rest does not match. Write it so that there is one way only, as (?:a+b)+ in ' +
    `place of (?:a+b?)+${otherwise}`
  );
}
