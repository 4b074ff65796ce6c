import type { AST } from '@eslint-community/regexpp';
import { costOf } from './cost.ts';
import { shareOf, shareOfText } from './frequency.ts';
import { itemsOf } from './literals.ts';
import { firstUnits } from './measure.ts';
import { type Pattern, parseExpression } from './pattern.ts';

/** Characters. A part is used only if it takes less time to compile and to search for than the whole. */
const LONGEST_PART = 250;
const LONGEST_ELEMENT = 120;
const MOST_OF_WHOLE = 0.7;
/** Characters of a line of a log. A part that nearly every line has is of no use. */
const LINE = 160;
/** The share of the keywords that may have the part themselves: for a text with one of them, it says nothing. */
const MOST_SAID = 0.25;
/** The share of characters at which a part may begin: at each of them, it is searched for. */
const MOST_PLACES = 0.5;
/** Parts, the rarest first, whose cost is worked out. */
const MOST_LOOKED_AT = 20;

/**
 * A part of an expression that is quick to compile and to search for, and that few lines have: what follows the names in
 * `(?:password|secret|…)\s?=>\s?"[^"]+"`, for example. The expression matches nothing in a text without it. Undefined
 * if there is none.
 *
 * @param keywords of which the text has one anyway, so that what most of them have says nothing.
 * @example
 * neededPart(/(?:user|admin|root|operator|password|secret|token)=>\[/)?.source; // '=>\\['
 */
export function neededPart(expression: RegExp, keywords: readonly string[] = []): RegExp | undefined {
  const parsed = parseExpression(expression);
  // A reference says nothing without the group that it refers to.
  if (parsed === undefined || parsed.hasReferences) return undefined;
  const { source } = expression;
  // A search that remembers where it ended would miss texts.
  const flags = expression.flags.replace(/[gy]/g, '');
  const own = costOf(expression);
  const search = new PartSearch(flags, (part) => {
    if (part.length > MOST_OF_WHOLE * source.length) return false;
    const compiled = new RegExp(part, flags);
    const said = keywords.filter((keyword) => compiled.test(`x${keyword}x`));
    if (said.length > keywords.length * MOST_SAID) return false;
    const begun = parseExpression(compiled);
    if (begun === undefined || shareOf(firstUnits(begun.pattern)) > MOST_PLACES) return false;
    // Nothing limits the time of this search.
    const { ambiguity, degree, factor } = costOf(compiled);
    return ambiguity === undefined && degree <= 1 && factor <= own.factor;
  });
  const part = search.rarestOf(parsed.tree.alternatives);
  const compiled = part && new RegExp(part.source, flags);
  // Alternatives that are quick one by one may not be together.
  return compiled && costOf(compiled).degree <= 1 && costOf(compiled).factor <= own.factor
    ? compiled
    : undefined;
}

/** Characters that are more common say little of a line. */
const RARE = 0.005;

/**
 * A rare character that is in every text which an expression matches, such as `@` in URLs with a password. To look for it
 * takes less time than any expression does.
 *
 * @param keywords of which the text has one anyway
 * @example
 * neededCharacter(/[a-z]+@[a-z]+/); // '@'
 */
export function neededCharacter(expression: RegExp, keywords: readonly string[] = []): string | undefined {
  const parsed = parseExpression(expression);
  if (parsed === undefined) return undefined;
  const isSaid = (character: string) => keywords.some((keyword) => keyword.includes(character));
  const [rarest] = charactersOf(parsed.pattern)
    .filter((character) => shareOfText(character) <= RARE && !isSaid(character))
    .sort((a, b) => shareOfText(a) - shareOfText(b));
  return rarest;
}

/** Characters of ASCII that every match has. */
function charactersOf(pattern: Pattern): readonly string[] {
  switch (pattern.kind) {
    case 'character': {
      const [unit, ...others] = [...pattern.units.ascii.keys()].filter(
        (one) => pattern.units.ascii[one] === 1,
      );
      return unit === undefined || others.length > 0 || pattern.units.high.length > 0
        ? []
        : [String.fromCharCode(unit)];
    }
    case 'sequence':
      return itemsOf(pattern).flatMap(charactersOf);
    case 'choice': {
      const [first = [], ...others] = pattern.branches.map(charactersOf);
      return first.filter((character) => others.every((branch) => branch.includes(character)));
    }
    case 'repetition':
      return pattern.min > 0 ? charactersOf(pattern.item) : [];
    case 'look':
      return pattern.negative ? [] : charactersOf(pattern.inside);
    default:
      return [];
  }
}

/** A part, and at what share of the positions of a log it matches. */
interface Part {
  readonly source: string;
  readonly share: number;
}

class PartSearch {
  readonly #flags: string;
  readonly #isUseful: (source: string) => boolean;

  constructor(flags: string, isUseful: (source: string) => boolean) {
    this.#flags = flags;
    this.#isUseful = isUseful;
  }

  /** A text needs a part of one of the alternatives: the rarest of each. */
  rarestOf(alternatives: readonly AST.Alternative[]): Part | undefined {
    const rarest = alternatives.map(({ elements }) => this.#rarestIn(elements));
    if (!rarest.every((part) => part !== undefined)) return undefined;
    const source = rarest.map((part) => part.source).join('|');
    const share = rarest.reduce((sum, part) => sum + part.share, 0);
    return source.length > LONGEST_PART || share * LINE >= 1 ? undefined : { source, share };
  }

  #rarestIn(elements: readonly AST.Element[]): Part | undefined {
    return this.#partsOf(elements)
      .sort((a, b) => a.share - b.share)
      .slice(0, MOST_LOOKED_AT)
      .find(({ source }) => this.#isUseful(source));
  }

  /** Elements that stand side by side, and the parts of those that are too long. */
  #partsOf(elements: readonly AST.Element[]): Part[] {
    const parts: Part[] = [];
    const shares = elements.map(({ raw }) =>
      shareOfPattern(parseExpression(new RegExp(raw, this.#flags))?.pattern),
    );
    elements.forEach((element, from) => {
      if (element.raw.length > LONGEST_ELEMENT) {
        const inside = this.#rarestInside(element);
        if (inside !== undefined) parts.push(inside);
        return;
      }
      // At the ends of a part, what is there anyway adds nothing.
      if (shares[from] === 1) return;
      let source = '';
      let share = 1;
      for (let i = from; i < elements.length; i++) {
        const { raw } = elements[i] as AST.Element;
        if (raw.length > LONGEST_ELEMENT || source.length + raw.length > LONGEST_PART) return;
        source += raw;
        share *= shares[i] as number;
        if (shares[i] !== 1) parts.push({ source, share });
      }
    });
    return parts;
  }

  #rarestInside(element: AST.Element): Part | undefined {
    if (element.type === 'Quantifier')
      return element.min > 0 ? this.#rarestInside(element.element) : undefined;
    const isGroup = element.type === 'CapturingGroup' || (element.type === 'Group' && !element.modifiers);
    return isGroup ? this.rarestOf(element.alternatives) : undefined;
  }
}

/** At what share of the positions of a log a pattern matches, if characters were independent of each other. */
function shareOfPattern(pattern: Pattern | undefined): number {
  switch (pattern?.kind) {
    case 'character':
      return shareOf(pattern.units);
    case 'sequence':
      return pattern.items.reduce((share, item) => share * shareOfPattern(item), 1);
    case 'choice':
      return Math.min(
        1,
        pattern.branches.reduce((share, branch) => share + shareOfPattern(branch), 0),
      );
    case 'repetition':
      return shareOfPattern(pattern.item) ** pattern.min;
    case 'edge':
      return pattern.edge === 'start' || pattern.edge === 'end' ? 1 / LINE : 1;
    case 'look':
      return pattern.negative ? 1 : shareOfPattern(pattern.inside);
    default:
      return 1;
  }
}
