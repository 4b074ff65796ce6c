import * as cel from '@marcbachmann/cel-js';
import type { RouteCondition } from '../../src/sdk/index.ts';
import { InvalidExpression } from './cel.ts';
import { Condition } from './condition.ts';

/** Compiles and type-checks a condition of the configuration, or says what is wrong with it. */
export function compileCondition(source: string): RouteCondition | { readonly problem: string } {
  try {
    return new Condition(source, cel);
  } catch (error) {
    if (error instanceof InvalidExpression) return { problem: error.message };
    throw error;
  }
}
