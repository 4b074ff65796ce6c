import * as cel from '@marcbachmann/cel-js';
import type { RouteCondition } from '../../src/sdk/index.ts';
import { Condition } from './condition.ts';
import { InvalidExpression } from './program.ts';

/** Compiles and type-checks a condition of the configuration, or says what is wrong with it. */
export function compileCondition(source: string): RouteCondition | { readonly problem: string } {
  try {
    return new Condition(source, cel);
  } catch (error) {
    if (error instanceof InvalidExpression) return { problem: error.message };
    throw error;
  }
}
