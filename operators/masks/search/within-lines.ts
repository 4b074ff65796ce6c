import type { AST } from '@eslint-community/regexpp';
import { type OneCharacter, unitsOf } from '../expression/class-units.ts';
import { parseExpression } from '../expression/pattern.ts';
import { UnitSet } from '../expression/unit-set.ts';

const LF = 0x0a;
const ALL_BUT_LF = new UnitSet(
  UnitSet.all.ascii.map((bit, unit) => (unit === LF ? 0 : bit)),
  UnitSet.all.high,
);

/**
 * An expression that finds in lines, joined by LF, what another one finds in each of them; `undefined` for syntax that
 * analysis does not know. Lines have no LF, so that no character of a match may be one, and `^` and `$` mean the LF.
 *
 * @param expression global.
 *
 * @example
 * withinLines(/^[^a]+/g); // /(?<![^\n])[^\n-\na]+/g
 */
export function withinLines(expression: RegExp): RegExp | undefined {
  const tree = parseExpression(expression)?.tree;
  if (tree === undefined) return undefined;
  const edits = new Edits(expression.flags);
  if (!edits.alternatives(tree.alternatives)) return undefined;
  try {
    return new RegExp(edits.appliedTo(tree.raw), expression.flags);
  } catch {
    // Then lines are searched one by one, which is never wrong.
    return undefined;
  }
}

/** Whether a match can only start where a line starts. */
export function startsLine(expression: RegExp): boolean {
  const tree = parseExpression(expression)?.tree;
  const branches = tree?.alternatives ?? [];
  return (
    !expression.multiline &&
    branches.every(({ elements: [first] }) => first?.type === 'Assertion' && first.kind === 'start')
  );
}

/** What is to be written in place of parts of an expression. */
class Edits {
  readonly #flags: string;
  readonly #all: { readonly start: number; readonly end: number; readonly text: string }[] = [];

  constructor(flags: string) {
    this.#flags = flags.replace(/[^imsu]/g, '');
  }

  /** False for syntax that is not known. */
  alternatives(alternatives: readonly AST.Alternative[]): boolean {
    return alternatives.every(({ elements }) => elements.every((element) => this.#element(element)));
  }

  appliedTo(source: string): string {
    let edited = '';
    let copied = 0;
    for (const { start, end, text } of this.#all) {
      edited += source.slice(copied, start) + text;
      copied = end;
    }
    return edited + source.slice(copied);
  }

  #element(element: AST.Element): boolean {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        this.#character(element satisfies OneCharacter);
        return true;
      case 'CapturingGroup':
        return this.alternatives(element.alternatives);
      case 'Group':
        return element.modifiers === null && this.alternatives(element.alternatives);
      case 'Quantifier':
        return this.#element(element.element);
      case 'Assertion':
        return this.#assertion(element);
      default:
        return element.type === 'Backreference';
    }
  }

  #character(node: OneCharacter): void {
    const { units } = unitsOf(node, this.#flags);
    if (!units.has(LF)) return;
    const { raw } = node;
    // A range of one, since what follows may begin with a `-`.
    if (node.type === 'CharacterClass' && node.negate) this.#replace(node, `[^\\n-\\n${raw.slice(2)}`);
    else if (this.#flags.includes('u')) this.#replace(node, `(?:(?!\\n)${raw})`);
    else this.#replace(node, units.intersection(ALL_BUT_LF).source);
  }

  #assertion(assertion: AST.Assertion): boolean {
    switch (assertion.kind) {
      case 'start':
        if (!this.#flags.includes('m')) this.#replace(assertion, '(?<![^\\n])');
        return true;
      case 'end':
        if (!this.#flags.includes('m')) this.#replace(assertion, '(?![^\\n])');
        return true;
      case 'word':
        return true;
      default:
        return this.alternatives(assertion.alternatives);
    }
  }

  #replace({ start, end }: AST.Node, text: string): void {
    this.#all.push({ start, end, text });
  }
}
