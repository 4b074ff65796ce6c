import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import { PluginError } from '../../src/sdk/index.ts';
import { inBoundedTime, TimeOut } from '../time-limits/bounded-time.ts';
import { boundedExpression, expressionProblem } from './bounded-expression.ts';

/** The library, which workers import only if a processor needs it. */
export type Cel = { readonly Environment: typeof Environment };

/** What is wrong with an expression of the configuration. */
export class InvalidExpression extends Error {}

/** The types of the variables that an expression can read, by their names. */
type Variables = Readonly<Record<string, string>>;

/** What an expression is about. */
export interface Scope {
  readonly variables: Variables;
  /** Follows the message about an unknown variable. */
  readonly hint: string;
}

/** The name of `matches` here: that of the library backtracks without limit. */
const MATCHES = 'matchesInBoundedTime';

/** Macros that go over a list. */
const LOOPS: readonly unknown[] = ['all', 'exists', 'exists_one', 'filter', 'map'];

/** A compiled CEL expression, which is evaluated in bounded time. */
export class CelProgram {
  /** The type of its value, as far as it is known: `bool`, `string`, `dyn`, … */
  readonly type: string;
  readonly ast: ASTNode;
  readonly #source: string;
  readonly #setting: string | undefined;
  readonly #evaluate: ParseResult;
  /** A loop in a loop takes the square of the length of a list, or more. Anything else takes a multiple of what it reads. */
  readonly #mayBeSlow: boolean;

  /**
   * @param setting that has the expression, for messages in place of the expression, which may be long and have a secret.
   * @throws InvalidExpression for an expression that is not valid
   */
  constructor(source: string, { Environment }: Cel, scope: Scope, setting?: string) {
    this.#source = source;
    this.#setting = setting;
    try {
      this.#evaluate = environment(Environment, scope.variables).parse(source);
      visit(this.#evaluate.ast, replaceMatches);
      const { valid, type, error } = this.#evaluate.check();
      if (!valid) throw error;
      this.type = type ?? 'dyn';
      this.ast = this.#evaluate.ast;
      this.#mayBeSlow = depthOfLoops(this.ast) > 1;
    } catch (error) {
      throw error instanceof InvalidExpression
        ? error
        : new InvalidExpression(describe(error, source, scope));
    }
  }

  /**
   * Evaluates it with the values of its variables.
   *
   * @throws PluginError, whose message quotes or names the expression, and nothing of the values
   */
  run(values: object): unknown {
    try {
      if (!this.#mayBeSlow) return this.#evaluate(values);
      return inBoundedTime(() => this.#evaluate(values), 0);
    } catch (error) {
      const expression = this.#setting === undefined ? `\`${this.#source}\`` : `of \`${this.#setting}\``;
      throw new PluginError(`the expression ${expression} failed: ${this.#reason(error)}`);
    }
  }

  /** The message of the library may quote the values, so only the kind of the error and its place are told. */
  #reason(error: unknown): string {
    if (error instanceof PluginError) return error.message;
    if (error instanceof TimeOut) return 'its loops within loops took longer than 1 s';
    const { code, range } = error as { code?: unknown; range?: { start: number; end: number } };
    const part =
      range === undefined
        ? ''
        : this.#setting === undefined
          ? ` in \`${this.#source.slice(range.start, range.end)}\``
          : ` at character ${range.start + 1}`;
    if (code === 'no_such_key') return `a field${part} is missing; use has(…), or .?field.orValue(…)`;
    // A string of digits is no number for CEL, and has another order.
    const hint =
      code === 'no_such_overload' ? '; convert values of another type, as in int(…) or string(…)' : '';
    return `${String(code ?? 'evaluation_error').replaceAll('_', ' ')}${part}${hint}`;
  }
}

function environment(CelEnvironment: typeof Environment, variables: Variables): Environment {
  const expressions = new Map<string, ReturnType<typeof boundedExpression>>();
  const matches = (text: string, source: string) => {
    let find = expressions.get(source);
    if (find === undefined) {
      find = boundedExpression(source);
      expressions.set(source, find);
    }
    return find(text) !== null;
  };
  const env = new CelEnvironment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
    .registerFunction('string(google.protobuf.Timestamp): string', (date: Date) => date.toISOString())
    .registerFunction('string.replace(string, string): string', (text: string, old: string, by: string) =>
      text.replaceAll(old, () => by),
    )
    .registerFunction(`string.${MATCHES}(string): bool`, matches);
  for (const [name, type] of Object.entries(variables)) env.registerVariable(name, type);
  // Numbers in JSON are doubles, and `data.count + 1` has an int: CEL itself would refuse to add them.
  const operators: Record<string, (a: number, b: number) => number> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
  };
  for (const [sign, work] of Object.entries(operators)) {
    env.registerOperator(`double ${sign} int`, (a: number, b: bigint) => work(a, exactly(b)));
    env.registerOperator(`int ${sign} double`, (a: bigint, b: number) => work(exactly(a), b));
  }
  return env;
}

/** @throws PluginError for a whole number that a number of JSON cannot hold */
function exactly(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw new PluginError(
      'a whole number beyond 2^53 is not exact with a number of an event; write int(…) around that',
    );
  }
  return number;
}

function replaceMatches(node: ASTNode): void {
  if (node.op !== 'rcall' || node.args[0] !== 'matches') return;
  const [, , [argument]] = node.args;
  if (argument?.op !== 'value' || typeof argument.args !== 'string') {
    throw new InvalidExpression(`matches() requires its expression in quotes${at(node.range)}`);
  }
  const problem = expressionProblem(argument.args);
  if (problem !== undefined) throw new InvalidExpression(`${problem}${at(argument.range)}`);
  (node.args as unknown as [string])[0] = MATCHES;
}

/** Shows a node and all nodes in it. */
export function visit(node: ASTNode, see: (node: ASTNode) => void): void {
  see(node);
  for (const part of partsOf(node)) visit(part, see);
}

function partsOf({ args }: ASTNode): readonly ASTNode[] {
  const parts: unknown[] = [args].flat(3);
  return parts.filter((part): part is ASTNode => typeof part === 'object' && part !== null && 'op' in part);
}

function depthOfLoops(node: ASTNode): number {
  const deepest = (nodes: readonly ASTNode[]) => Math.max(0, ...nodes.map(depthOfLoops));
  if (node.op !== 'rcall' || !LOOPS.includes(node.args[0])) return deepest(partsOf(node));
  const [, list, body] = node.args;
  return Math.max(depthOfLoops(list), deepest(body) + 1);
}

const STRING_METHODS =
  'contains, startsWith, endsWith, matches, replace, split, substring, indexOf, lastIndexOf, lowerAscii, upperAscii, trim ' +
  'and size';

function describe(error: unknown, source: string, { variables, hint: ofVariables }: Scope): string {
  const { code, summary, message, range } = error as {
    code?: string;
    summary?: string;
    message: string;
    range?: { start: number };
  };
  const isUnknown = code === 'unknown_variable';
  const keyword = range !== undefined && /^\.(in|true|false|null)\b/.exec(source.slice(range.start - 1))?.[1];
  const isAssigned = code === 'unexpected_character' && range !== undefined && source[range.start] === '=';
  const isKey = isUnknown && range !== undefined && /[{,]\s*$/.test(source.slice(0, range.start));
  const key = isKey ? /^(\w+)\s*:/.exec(source.slice(range.start))?.[1] : undefined;
  const hint = key
    ? `; quotes are missing around the key \`${key}\``
    : isUnknown
      ? `; there are ${Object.keys(variables).join(', ')}, and ${ofVariables}`
      : isAssigned
        ? '; to compare, write =='
        : keyword
          ? `; a field of this name is data["${keyword}"]`
          : code === 'no_matching_overload'
            ? `; the methods of strings are ${STRING_METHODS}`
            : '';
  // A key of an API whose quotes are missing is a name for the library, which quotes it.
  return `${summary ?? message}${at(range)}${hint}`.replace(/\b(?=[a-z_]*\d)\w{12,}/gi, '…');
}

const at = (range: { start: number } | undefined) =>
  range === undefined ? '' : `, at character ${range.start + 1}`;
