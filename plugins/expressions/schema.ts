import * as z from 'zod';
import { type Cel, CelExpression, InvalidExpression } from './cel.ts';

interface ExpressionOptions {
  /** What the configuration should have, for the message. */
  readonly wanted: string;
  /** The types that it may give. Default: any. */
  readonly types?: readonly string[];
}

/** A CEL expression in a configuration. Each is checked by itself, so that all problems are reported together. */
export function expression(cel: Cel, { wanted, types }: ExpressionOptions) {
  return z.string().check((ctx) => {
    const problem = problemOf(ctx.value, cel, types);
    if (problem === undefined) return;
    ctx.issues.push({ code: 'custom', input: ctx.value, message: `${wanted} (${problem})` });
  });
}

function problemOf(source: string, cel: Cel, types: readonly string[] | undefined): string | undefined {
  try {
    const { type } = new CelExpression(source, cel);
    return types === undefined || types.includes(type) ? undefined : `it gives a ${type}`;
  } catch (error) {
    if (error instanceof InvalidExpression) return error.message;
    throw error;
  }
}
