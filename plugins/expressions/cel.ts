import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import { shareOfText } from '../../operators/internal-masks.ts';
import { type CollectedEvent, type LinesTest, PluginError } from '../../src/sdk/index.ts';
import { boundedExpression, expressionProblem } from './bounded-expression.ts';

/** The library, which workers import only if a processor needs it. */
export type Cel = { readonly Environment: typeof Environment };

/** What is wrong with an expression of the configuration. */
export class InvalidExpression extends Error {}

/** What an expression can read. */
const VARIABLES: readonly string[] = ['data', 'timestamp', 'tag'];

/** The name of `matches` here: that of the library backtracks without limit. */
const MATCHES = 'matchesInBoundedTime';

/** A compiled expression over `data`, `timestamp` and `tag`. */
export class CelExpression {
  /** Its type, as far as it is known without an event: `bool`, `string`, `dyn`, … */
  readonly type: string;
  /** It reads nothing of an event but `data.line`. */
  readonly readsLineOnly: boolean;
  readonly #source: string;
  readonly #evaluate: ParseResult;
  readonly #readsTimestamp: boolean;
  /** A condition on the line that needs no interpreter: this takes a tenth of its time. */
  readonly ofLines: LinesTest | undefined;
  /** The opposite. */
  readonly notOfLines: LinesTest | undefined;
  readonly #lineScope = { data: { line: '' } };

  /** @throws InvalidExpression for an expression that is not valid */
  constructor(source: string, { Environment }: Cel) {
    this.#source = source;
    try {
      this.#evaluate = environment(Environment).parse(source);
      visit(this.#evaluate.ast, replaceMatches);
      const { valid, type, error } = this.#evaluate.check();
      if (!valid) throw error;
      this.type = type ?? 'dyn';
    } catch (error) {
      throw error instanceof InvalidExpression ? error : new InvalidExpression(describe(error, source));
    }
    let reads = 0;
    let readsLine = 0;
    let readsTimestamp = false;
    visit(this.#evaluate.ast, (node) => {
      if (node.op === 'id' && VARIABLES.includes(node.args)) reads++;
      if (node.op === 'id' && node.args === 'timestamp') readsTimestamp = true;
      if (isLine(node)) readsLine++;
    });
    this.readsLineOnly = reads === readsLine;
    this.ofLines = linesTest(this.#evaluate.ast, true);
    this.notOfLines = linesTest(this.#evaluate.ast, false);
    this.#readsTimestamp = readsTimestamp;
  }

  /** @throws PluginError, whose message quotes the expression and nothing of the event */
  of(event: CollectedEvent): unknown {
    const { data, timestamp, tag = '' } = event as CollectedEvent & { readonly tag?: unknown };
    return this.#run({ data, tag, ...(this.#readsTimestamp && { timestamp: new Date(timestamp) }) });
  }

  /** Evaluates the condition for an event that consists only of a line. */
  ofLine(line: string): unknown {
    // Lines that were joined to one are not lines of a text.
    if (this.ofLines !== undefined && !line.includes('\n')) return this.ofLines(line)(0) > 0;
    this.#lineScope.data.line = line;
    return this.#run(this.#lineScope);
  }

  #run(scope: object): unknown {
    try {
      return this.#evaluate(scope);
    } catch (error) {
      throw new PluginError(`the expression \`${this.#source}\` failed: ${this.#reason(error)}`);
    }
  }

  /** The message of the library may quote the event, so only the kind of the error and its place are told. */
  #reason(error: unknown): string {
    if (error instanceof PluginError) return error.message;
    const { code, range } = error as { code?: unknown; range?: { start: number; end: number } };
    const part = range === undefined ? '' : ` in \`${this.#source.slice(range.start, range.end)}\``;
    if (code === 'no_such_key') return `a field${part} is missing; use has(…), or .?field.orValue(…)`;
    // A string of digits is no number for CEL, and has another order.
    const hint =
      code === 'no_such_overload' ? '; convert values of another type, as in int(…) or string(…)' : '';
    return `${String(code ?? 'evaluation_error').replaceAll('_', ' ')}${part}${hint}`;
  }
}

function environment(CelEnvironment: typeof Environment): Environment {
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
    .registerVariable('data', 'map')
    .registerVariable('timestamp', 'google.protobuf.Timestamp')
    .registerVariable('tag', 'string')
    .registerFunction('string(google.protobuf.Timestamp): string', (date: Date) => date.toISOString())
    .registerFunction('string.replace(string, string): string', (text: string, old: string, by: string) =>
      text.replaceAll(old, () => by),
    )
    .registerFunction(`string.${MATCHES}(string): bool`, matches);
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

/**
 * A condition on the line as a test that keeps lines for which it is what is wanted, if it is made of tests for literal
 * strings. Those cannot fail.
 */
function linesTest(node: ASTNode, isWanted: boolean): LinesTest | undefined {
  if (node.op === '!_') return linesTest(node.args, !isWanted);
  if (node.op === '&&' || node.op === '||') {
    const [one, other] = node.args.map((arg) => linesTest(arg, isWanted));
    if (one === undefined || other === undefined) return undefined;
    // What is not (a && b) is !a || !b.
    const nearer = (node.op === '&&') === isWanted ? Math.min : Math.max;
    return (text) => {
      const [first, second] = [one(text), other(text)];
      return (start) => nearer(first(start), second(start));
    };
  }
  if (node.op !== 'rcall') return undefined;
  const [name, of, [argument, ...others]] = node.args;
  if (!isLine(of) || argument?.op !== 'value' || others.length > 0) return undefined;
  const literal = argument.args;
  // No line has an LF, but their text has.
  if (typeof literal !== 'string' || literal === '' || literal.includes('\n')) return undefined;
  if (name === 'contains') return isWanted ? keepsWith(literal) : keepsWithout(literal);
  if (name === 'startsWith') return keepsEach((text, start) => text.startsWith(literal, start) === isWanted);
  if (name === 'endsWith') {
    return keepsEach(
      (text, start, end) => (start + literal.length <= end && text.endsWith(literal, end)) === isWanted,
    );
  }
  return undefined;
}

function keepsEach(isKept: (text: string, start: number, end: number) => boolean): LinesTest {
  return (text) => (start) => {
    const end = endOfLine(text, start);
    return isKept(text, start, end) ? end + 1 : start;
  };
}

function keepsWith(literal: string): LinesTest {
  const search = searchFor(literal);
  return (text) => {
    const next = search(text);
    return (start) => {
      const end = endOfLine(text, start);
      return next(start) < end ? end + 1 : start;
    };
  };
}

/** Keeps all lines up to the next one that has the literal, without a look at each. */
function keepsWithout(literal: string): LinesTest {
  const search = searchFor(literal);
  return (text) => {
    const next = search(text);
    return (start) => {
      const found = next(start);
      return found === Number.POSITIVE_INFINITY ? found : text.lastIndexOf('\n', found) + 1;
    };
  };
}

/**
 * Where a literal is next, at `start` or after it; each part of the text is searched once. It looks for the literal
 * from its rarest character on, since the engine stops wherever the first one stands: on logs, `0Z ` takes a fifth of the time.
 */
function searchFor(literal: string): (text: string) => (start: number) => number {
  const rest = literal.slice(rarestIn(literal));
  const ahead = literal.length - rest.length;
  return (text) => {
    let next = -1;
    return (start) => {
      if (next >= start) return next;
      next = text.indexOf(rest, start + ahead) - ahead;
      while (next >= 0 && !text.startsWith(literal, next))
        next = text.indexOf(rest, next + ahead + 1) - ahead;
      if (next < 0) next = Number.POSITIVE_INFINITY;
      return next;
    };
  };
}

function rarestIn(literal: string): number {
  let rarest = 0;
  for (let at = 1; at < literal.length; at++) {
    if (shareOfText(literal.charAt(at)) < shareOfText(literal.charAt(rarest))) rarest = at;
  }
  return rarest;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

/** `data.line` or `data["line"]`. */
function isLine(node: ASTNode): boolean {
  if (node.op !== '.' && node.op !== '[]') return false;
  const [of, field] = node.args;
  const name = typeof field === 'object' && field.op === 'value' ? field.args : field;
  return of.op === 'id' && of.args === 'data' && name === 'line';
}

function visit(node: ASTNode, see: (node: ASTNode) => void): void {
  see(node);
  const parts: unknown[] = [node.args].flat(3);
  for (const part of parts) {
    if (typeof part === 'object' && part !== null && 'op' in part) visit(part as ASTNode, see);
  }
}

const STRING_METHODS =
  'contains, startsWith, endsWith, matches, replace, split, substring, indexOf, lastIndexOf, lowerAscii, upperAscii, trim ' +
  'and size';

function describe(error: unknown, source: string): string {
  const { code, summary, message, range } = error as {
    code?: string;
    summary?: string;
    message: string;
    range?: { start: number };
  };
  const isUnknown = code === 'unknown_variable';
  const keyword = range !== undefined && /^\.(in|true|false|null)\b/.exec(source.slice(range.start - 1))?.[1];
  const isAssigned = code === 'unexpected_character' && range !== undefined && source[range.start] === '=';
  const hint = isUnknown
    ? `; there are ${VARIABLES.join(', ')}, and a field of an event is data.NAME`
    : isAssigned
      ? '; to compare, write =='
      : keyword
        ? `; a field of this name is data["${keyword}"]`
        : code === 'no_matching_overload'
          ? `; the methods of strings are ${STRING_METHODS}`
          : '';
  return `${summary ?? message}${at(range)}${hint}`;
}

const at = (range: { start: number } | undefined) =>
  range === undefined ? '' : `, at character ${range.start + 1}`;
