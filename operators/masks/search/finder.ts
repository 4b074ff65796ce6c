import { afterEmpty } from '../expression/unit-set.ts';
import { type MaskRule, masksWholeMatches, type Place, type Span } from '../mask-rule.ts';

/** Finds the matches of an expression in a string, from the left. */
export interface Finder {
  /** Where the match that {@link next} found ends. */
  end: number;
  /**
   * The start of the leftmost match at or after a position, or −1. For each string, the first call is from 0, and each
   * later one from the end of the match before. Only matches with {@link values} may be empty.
   */
  next(text: string, from: number): number;
  /** The values in the match that was found last, from the left to the right. Absent: the match is the value. */
  values?(text: string): readonly Place[];
}

/** Asks the engine, from a position on. */
export class PlainFinder implements Finder {
  end = 0;
  readonly #expression: RegExp;

  /** @param expression global. */
  constructor(expression: RegExp) {
    this.#expression = expression;
  }

  next(text: string, from: number): number {
    const expression = this.#expression;
    expression.lastIndex = from;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const end = expression.lastIndex;
      if (end > match.index) {
        this.end = end;
        return match.index;
      }
      expression.lastIndex = afterEmpty(text, end, expression.unicode);
    }
    return -1;
  }
}

type ValuesOfRule = Pick<MaskRule, 'expression' | 'groups' | 'locate'>;

/** Asks the engine, which also tells where the groups of a match are that a rule replaces. */
export class GroupFinder implements Finder {
  end = 0;
  readonly #expression: RegExp;
  readonly #rule: ValuesOfRule;
  readonly #first: Finder | undefined;
  #match: RegExpExecArray | undefined;

  /** @param first finds the first match of a string faster, without its groups; none of them may be empty then */
  constructor(rule: ValuesOfRule, first?: Finder) {
    const { source, flags } = rule.expression;
    this.#expression = new RegExp(source, `dg${flags}`);
    this.#rule = rule;
    this.#first = first;
  }

  next(text: string, from: number): number {
    const expression = this.#expression;
    const start = from === 0 && this.#first !== undefined ? this.#first.next(text, 0) : from;
    if (start === -1) return -1;
    expression.lastIndex = start;
    const match = expression.exec(text);
    if (match === null) return -1;
    this.#match = match;
    this.end = expression.lastIndex;
    return match.index;
  }

  values(text: string): readonly Place[] {
    const { groups, locate } = this.#rule;
    const places: Place[] = [];
    for (const group of groups) {
      const span = this.#match?.indices?.[group];
      if (span === undefined || span[0] === span[1]) continue;
      const [start, end] = span;
      if (locate === undefined) places.push({ start, end });
      else places.push(...locate(text, start, end));
    }
    return places.sort((a, b) => a.start - b.start);
  }
}

/** Finds what a rule looks for, without an analysis of its expression. */
export function finderOf(rule: ValuesOfRule): Finder {
  if (!masksWholeMatches(rule)) return new GroupFinder(rule);
  const { source, flags } = rule.expression;
  return new PlainFinder(new RegExp(source, `g${flags}`));
}

/** All matches in a string. */
export function matchesOf(finder: Finder, text: string): Span[] {
  const found: Span[] = [];
  for (let start = finder.next(text, 0); start !== -1; start = finder.next(text, finder.end)) {
    found.push({ start, end: finder.end });
  }
  return found;
}
