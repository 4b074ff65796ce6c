import type { ASTNode } from '@marcbachmann/cel-js';
import { shareOfText } from '../../operators/internal-masks.ts';
import type { CollectedEvent, LinesTest } from '../../src/sdk/index.ts';
import { type Cel, CelProgram, type Scope, visit } from './program.ts';

/** What an expression can read of an event. */
export const OF_EVENT: Scope = {
  variables: { data: 'map', timestamp: 'google.protobuf.Timestamp', tag: 'string' },
  hint: 'a field of an event is data.NAME',
};
const isVariable = (name: string) => Object.hasOwn(OF_EVENT.variables, name);

/** A compiled expression over `data`, `timestamp` and `tag`. */
export class CelExpression {
  /** Its type, as far as it is known without an event: `bool`, `string`, `dyn`, … */
  readonly type: string;
  /** It reads nothing of an event but `data.line`. */
  readonly readsLineOnly: boolean;
  readonly #program: CelProgram;
  readonly #readsTimestamp: boolean;
  /** A condition on the line that needs no interpreter: this takes a tenth of its time. */
  readonly ofLines: LinesTest | undefined;
  /** The opposite. */
  readonly notOfLines: LinesTest | undefined;
  readonly #lineScope = { data: { line: '' } };

  /**
   * @param setting as for {@link CelProgram}.
   * @throws InvalidExpression for an expression that is not valid
   */
  constructor(source: string, cel: Cel, setting?: string) {
    this.#program = new CelProgram(source, cel, OF_EVENT, setting);
    const { ast, type } = this.#program;
    this.type = type;
    let reads = 0;
    let readsLine = 0;
    let readsTimestamp = false;
    visit(ast, (node) => {
      if (node.op === 'id' && isVariable(node.args)) reads++;
      if (node.op === 'id' && node.args === 'timestamp') readsTimestamp = true;
      if (isLine(node)) readsLine++;
    });
    this.readsLineOnly = reads === readsLine;
    this.ofLines = linesTest(ast, true);
    this.notOfLines = linesTest(ast, false);
    this.#readsTimestamp = readsTimestamp;
  }

  /** @throws PluginError, whose message quotes the expression and nothing of the event */
  of(event: CollectedEvent): unknown {
    const { data, timestamp, tag = '' } = event as CollectedEvent & { readonly tag?: unknown };
    return this.#program.run({ data, tag, ...(this.#readsTimestamp && { timestamp: new Date(timestamp) }) });
  }

  /** Evaluates the condition for an event that consists only of a line. */
  ofLine(line: string): unknown {
    // Lines that were joined to one are not lines of a text.
    if (this.ofLines !== undefined && !line.includes('\n')) return this.ofLines(line)(0) > 0;
    this.#lineScope.data.line = line;
    return this.#program.run(this.#lineScope);
  }
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
