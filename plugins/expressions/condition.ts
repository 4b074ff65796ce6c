import {
  type CollectedEvent,
  type LinesTest,
  PluginError,
  type RouteCondition,
} from '../../src/sdk/index.ts';
import { CelExpression } from './cel.ts';
import { type Cel, InvalidExpression } from './program.ts';

/** A CEL expression that is true or false for each event. */
export class Condition implements RouteCondition {
  readonly holdsForLine: ((line: string) => boolean) | undefined;
  readonly holdsInText: LinesTest | undefined;
  readonly failsInText: LinesTest | undefined;
  readonly #expression: CelExpression;

  /** @throws InvalidExpression for an expression that is not valid, or cannot be a condition */
  constructor(source: string, cel: Cel) {
    const expression = new CelExpression(source, cel);
    if (!['bool', 'dyn'].includes(expression.type)) {
      throw new InvalidExpression(`it gives a ${expression.type}`);
    }
    this.#expression = expression;
    this.holdsForLine = expression.readsLineOnly ? (line) => truth(expression.ofLine(line)) : undefined;
    this.holdsInText = expression.ofLines;
    this.failsInText = expression.notOfLines;
  }

  holds(event: CollectedEvent): boolean {
    return truth(this.#expression.of(event));
  }
}

function truth(result: unknown): boolean {
  if (typeof result === 'boolean') return result;
  throw new PluginError('the condition gave a value that is neither true nor false');
}
