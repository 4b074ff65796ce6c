import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { type OneCharacter, unitsOf } from './class-units.ts';
import { type Length, lengthOf } from './measure.ts';
import type { UnitSet } from './unit-set.ts';

/** An expression, reduced to what analysis asks about. Groups are gone; what they hold stands in their place. */
export type Pattern =
  | { readonly kind: 'character'; readonly units: UnitSet; readonly mayBeTwo: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly branches: readonly Pattern[] }
  | Repetition
  | { readonly kind: 'edge'; readonly edge: 'start' | 'end' | 'boundary' | 'inside' }
  | Look
  /** A reference, as long as its group, or empty if the group may not have matched. */
  | { readonly kind: 'reference'; readonly min: number; readonly max: number };

export interface Repetition {
  readonly kind: 'repetition';
  readonly item: Pattern;
  readonly min: number;
  readonly max: number;
  /** Whether it takes as little as it can. */
  readonly isLazy: boolean;
  /** The source text, for messages. */
  readonly written: string;
}

export interface Look {
  readonly kind: 'look';
  readonly behind: boolean;
  readonly negative: boolean;
  readonly inside: Pattern;
}

export interface ParsedExpression {
  readonly pattern: Pattern;
  readonly tree: AST.Pattern;
  readonly hasReferences: boolean;
}

/** Thrown for syntax that analysis does not know. */
class NotAnalysed extends Error {}

/** More than the rules of most configurations: each rule is asked for when it is checked, and again when a pipeline starts. */
const KEPT = 2048;
const kept = new Map<string, ParsedExpression | undefined>();

/**
 * The parts of an expression, or `undefined` for syntax that analysis does not know: then nothing is assumed. Those
 * asked for lately are kept, as each analysis of an expression begins with them.
 */
export function parseExpression(expression: RegExp): ParsedExpression | undefined {
  // The flag `g` is for searches, and changes nothing here.
  const key = `${expression.flags.replace('g', '')}/${expression.source}`;
  if (kept.has(key)) return kept.get(key);
  if (kept.size === KEPT) kept.clear();
  const parsed = parse(expression);
  kept.set(key, parsed);
  return parsed;
}

function parse({ source, flags }: RegExp): ParsedExpression | undefined {
  try {
    const tree = new RegExpParser().parsePattern(source, undefined, undefined, {
      unicode: flags.includes('u'),
      unicodeSets: flags.includes('v'),
    });
    if (flags.includes('v')) return undefined;
    const reader = new Reader();
    const pattern = reader.choice(tree.alternatives, flags.replace(/[^imsu]/g, ''));
    return { pattern, tree, hasReferences: reader.hasReferences };
  } catch (error) {
    if (error instanceof NotAnalysed || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** That of a group that refers to itself, which has no end that could be worked out. */
const ANY_LENGTH: Length = { min: 0, max: Number.POSITIVE_INFINITY };

class Reader {
  hasReferences = false;
  readonly #lengths = new Map<AST.CapturingGroup, Length>();

  choice(alternatives: readonly AST.Alternative[], flags: string): Pattern {
    const branches = alternatives.map(({ elements }) => this.#sequence(elements, flags));
    return branches.length === 1 ? (branches[0] as Pattern) : { kind: 'choice', branches };
  }

  #sequence(elements: readonly AST.Element[], flags: string): Pattern {
    const items = elements
      .map((element) => this.#element(element, flags))
      .flatMap((item) => (item.kind === 'sequence' ? item.items : [item]));
    return items.length === 1 ? (items[0] as Pattern) : { kind: 'sequence', items };
  }

  #element(element: AST.Element, flags: string): Pattern {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        return { kind: 'character', ...unitsOf(element satisfies OneCharacter, flags) };
      case 'CapturingGroup':
        return this.choice(element.alternatives, flags);
      case 'Group':
        return this.choice(element.alternatives, changed(flags, element.modifiers));
      case 'Quantifier': {
        const { min, max, greedy, raw: written } = element;
        const item = this.#element(element.element, flags);
        if (min === 1 && max === 1) return item;
        return { kind: 'repetition', item, min, max, isLazy: !greedy, written };
      }
      case 'Assertion':
        return this.#assertion(element, flags);
      case 'Backreference':
        this.hasReferences = true;
        return { kind: 'reference', ...this.#lengthOf(element, flags) };
      default:
        throw new NotAnalysed();
    }
  }

  #lengthOf(reference: AST.Backreference, flags: string): Length {
    const groups = [reference.resolved].flat();
    const lengths = groups.map((group): Length => {
      if (contains(group, reference)) return ANY_LENGTH;
      const { min, max } = this.#lengthOfGroup(group, flags);
      return { min: isSurelySet(group, reference) ? min : 0, max };
    });
    return {
      min: Math.min(...lengths.map(({ min }) => min)),
      max: Math.max(...lengths.map(({ max }) => max)),
    };
  }

  #lengthOfGroup(group: AST.CapturingGroup, flags: string): Length {
    const known = this.#lengths.get(group);
    if (known !== undefined) return known;
    // For references inside of it, of groups that refer to each other.
    this.#lengths.set(group, ANY_LENGTH);
    const length = lengthOf(this.choice(group.alternatives, flags));
    this.#lengths.set(group, length);
    return length;
  }

  #assertion(assertion: AST.Assertion, flags: string): Pattern {
    switch (assertion.kind) {
      case 'start':
        // At the start of a line, that can be anywhere.
        return { kind: 'edge', edge: flags.includes('m') ? 'inside' : 'start' };
      case 'end':
        return { kind: 'edge', edge: 'end' };
      case 'word':
        return { kind: 'edge', edge: assertion.negate ? 'inside' : 'boundary' };
      default:
        return {
          kind: 'look',
          behind: assertion.kind === 'lookbehind',
          negative: assertion.negate,
          inside: this.choice(assertion.alternatives, flags),
        };
    }
  }
}

/** Flags inside of `(?i-s:…)`. */
function changed(flags: string, modifiers: AST.Modifiers | null): string {
  if (modifiers === null) return flags;
  const { add, remove } = modifiers;
  const all = new Set(flags);
  for (const flag of ['i', 'm', 's'] as const) {
    const name = ({ i: 'ignoreCase', m: 'multiline', s: 'dotAll' } as const)[flag];
    if (add?.[name]) all.add(flag);
    if (remove?.[name]) all.delete(flag);
  }
  return [...all].join('');
}

/** The expression without capturing groups, which cost time and are useless without references. */
export function withoutCaptures({ tree, hasReferences }: ParsedExpression): string {
  if (hasReferences) return tree.raw;
  const opened: { at: number; length: number }[] = [];
  const visit = (alternatives: readonly AST.Alternative[]): void => {
    for (const element of alternatives.flatMap(({ elements }) => elements)) visitElement(element);
  };
  const visitElement = (element: AST.Element): void => {
    if (element.type === 'Quantifier') {
      visitElement(element.element);
      return;
    }
    if (element.type === 'CapturingGroup') {
      opened.push({ at: element.start, length: element.name === null ? 1 : element.raw.indexOf('>') + 1 });
    }
    if ('alternatives' in element) visit(element.alternatives);
  };
  visit(tree.alternatives);
  let source = '';
  let copied = 0;
  for (const { at, length } of opened.sort((a, b) => a.at - b.at)) {
    source += `${tree.raw.slice(copied, at)}(?:`;
    copied = at + length;
  }
  return source + tree.raw.slice(copied);
}

const contains = (outer: AST.Node, inner: AST.Node): boolean =>
  outer.start <= inner.start && inner.end <= outer.end;

/** Whether a group has matched wherever the engine comes to a reference to it. False if that is hard to tell. */
function isSurelySet(group: AST.CapturingGroup, reference: AST.Backreference): boolean {
  let part: AST.Node = group;
  for (let around: AST.Node | null = group.parent; around !== null; around = around.parent) {
    if (around.type === 'Alternative') {
      if (contains(around, reference)) return part.end <= reference.start && !isInLookBehind(around);
    } else if (around.type === 'Quantifier') {
      if (around.min === 0) return false;
    } else if (around.type === 'Group' || around.type === 'CapturingGroup') {
      if (around.alternatives.length > 1) return false;
    } else return false;
    part = around;
  }
  return false;
}

/** In a look-behind, the later items are matched first. */
function isInLookBehind(part: AST.Node): boolean {
  for (let around: AST.Node | null = part; around !== null; around = around.parent) {
    if (around.type === 'Assertion' && around.kind === 'lookbehind') return true;
  }
  return false;
}
