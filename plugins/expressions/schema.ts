import * as z from 'zod';
import { expressionProblem } from './bounded-expression.ts';
import { OF_EVENT } from './cel.ts';
import { fieldPath } from './fields.ts';
import { type Cel, CelProgram, InvalidExpression, type Scope } from './program.ts';

/** The name of a field in a configuration. */
export const fieldName = () =>
  z.string().refine((name) => fieldPath(name).every((part) => part !== '' && part !== '__proto__'), {
    message: 'the name of a field, with dots between the names of nested ones',
  });

/** A regular expression in a configuration. */
export function regularExpression() {
  return z
    .string()
    .check((ctx) => {
      const problem = expressionProblem(ctx.value);
      if (problem === undefined) return;
      const message = `a valid regular expression (${problem})`;
      ctx.issues.push({ code: 'custom', input: ctx.value, message, continue: true });
    })
    .meta({ format: 'regex' });
}

interface ExpressionOptions {
  /** What the configuration should have, for the message. */
  readonly expected: string;
  /** The types that it may give, such as `list`, whatever is in it. Default: any. */
  readonly types?: readonly string[];
  /** What it can read. Default: an event. */
  readonly scope?: Scope;
  /** It shapes what is sent, where keys of an API may be written, so that no message quotes it. */
  readonly mayHoldSecret?: boolean;
}

/** A CEL expression in a configuration. Each is checked by itself, so that all problems are reported together. */
export function expression(cel: Cel, { expected, types, scope, mayHoldSecret = false }: ExpressionOptions) {
  return z
    .string()
    .check((ctx) => {
      const problem = problemOf(ctx.value, cel, types, scope);
      if (problem === undefined) return;
      ctx.issues.push({
        code: 'custom',
        input: ctx.value,
        message: `${expected} (${problem})`,
        continue: true,
      });
    })
    .meta({ format: 'cel', ...(mayHoldSecret && { mayHoldSecret }) });
}

function problemOf(
  source: string,
  cel: Cel,
  types: readonly string[] | undefined,
  scope = OF_EVENT,
): string | undefined {
  try {
    const { type } = new CelProgram(source, cel, scope);
    return types === undefined || types.includes(type.replace(/<.*/, '')) ? undefined : `it gives a ${type}`;
  } catch (error) {
    if (error instanceof InvalidExpression) return error.message;
    throw error;
  }
}
