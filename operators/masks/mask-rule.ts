import type { Cost } from './expression/cost.ts';
import { afterEmpty } from './expression/unit-set.ts';

/** One rule of a mask: what it finds in a string, and what replaces it. */
export interface MaskRule {
  readonly name: string;
  /** Compiled, without the flags `g`, `y` and `d`. It is read when the rule is first tried. */
  readonly expression: RegExp;
  /** What the expression costs, where that is known. To work it out takes some milliseconds. */
  readonly cost?: Cost | undefined;
  /**
   * A part of the expression that is quick to search for: in a string without it, the expression matches nothing and is
   * not even compiled. Undefined where no such part is known.
   */
  readonly part?: RegExp | undefined;
  /** The groups that are replaced, 0 for the whole match. A group that is empty or did not take part is passed over. */
  readonly groups: readonly number[];
  /**
   * Substrings in lower case. The rule applies only to strings that contain one of them, in any case, before the
   * first rule has changed anything. Absent: the rule applies to every string.
   */
  readonly keywords?: readonly string[];
  /**
   * Where the values are that a group leads to: it is the start of a value, or a name. Absent: the group is the value. For
   * rules that replace groups.
   */
  readonly locate?: ((text: string, start: number, end: number) => readonly Place[]) | undefined;
  /**
   * Whether a value that was found is replaced. Absent: always. With `'search-inside'` the value stays as well, and the search
   * goes on inside the match, at the next character after its start: see {@link RejectedMatches}. With `false` it goes on at
   * the end of the match. An error is a failure of the mask.
   *
   * @param first the first part of the value, if `locate` knows of several
   */
  readonly accepts?: (value: string, text: string, start: number, first?: Span) => boolean | 'search-inside';
  /** What replaces a value, which may depend on what stands around it. */
  readonly replace: (value: string, text?: string, start?: number) => string;
  /** What `replace` returns, if that is the same for all values: then the rule can be applied faster. */
  readonly fixed?: string;
}

/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value in a text. */
export interface Place extends Span {
  /** Its first part, if more is joined to it: `'Zebra'` of `'Zebra'"Lamp"`. */
  readonly first?: Span | undefined;
}

/** The places of the values that a match has in some groups, from the left to the right. */
export function placesOf(match: RegExpExecArray, text: string, { groups, locate }: MaskRule): Place[] {
  const places: Place[] = [];
  for (const group of groups) {
    const span = match.indices?.[group];
    if (span === undefined || span[0] === span[1]) continue;
    const [start, end] = span;
    places.push(...(locate === undefined ? [{ start, end }] : locate(text, start, end)));
  }
  return places.sort((a, b) => a.start - b.start);
}

/**
 * Applies the rules one after the other, each to the result of the one before it. This is what every faster search is
 * compared with.
 */
export function applyRulesInOrder(text: string, rules: readonly MaskRule[]): string {
  const original = text.toLowerCase();
  let masked = text;
  for (const rule of rules) {
    if (rule.keywords === undefined || rule.keywords.some((keyword) => original.includes(keyword))) {
      masked = applyRule(masked, rule);
    }
  }
  return masked;
}

function applyRule(text: string, rule: MaskRule): string {
  const expression = new RegExp(rule.expression, `${rule.expression.flags}dg`);
  const rejected = new RejectedMatches(text, expression.unicode);
  let masked = '';
  let end = 0;
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    let hasReplaced = false;
    let isOpen = false;
    let behind = expression.lastIndex;
    if (match[0] === '') behind = afterEmpty(text, behind, expression.unicode);
    for (const { start, end: to, first } of placesOf(match, text, rule)) {
      // A group inside another one is replaced with it.
      if (start < end) continue;
      const value = text.slice(start, to);
      const accepted = rule.accepts?.(value, text, start, first) ?? true;
      if (rule.locate !== undefined) behind = Math.max(behind, accepted === true ? to : (first?.end ?? to));
      if (accepted === 'search-inside') isOpen = true;
      if (accepted !== true) continue;
      hasReplaced = true;
      masked += text.slice(end, start) + rule.replace(value, text, start);
      end = to;
    }
    if (isOpen && !hasReplaced) expression.lastIndex = rejected.searchFrom(match.index, behind);
    else expression.lastIndex = behind;
  }
  return masked + text.slice(end);
}

/** How many characters of rejected matches are searched again, for each character of a text. */
const MOST_SEARCHED_AGAIN = 16;

/**
 * Determines where in a text the search continues after a match whose values failed a check. A secret can start inside such a
 * match, as a card number does after other digits. The matches that are searched again have at most 16 times as many characters as the
 * text, so that the cost stays in proportion to its length. Behind that, rejected matches are passed over.
 */
export class RejectedMatches {
  readonly #text: string;
  readonly #unicode: boolean;
  #left: number;

  /** @param unicode whether the expression has the flag `u`. */
  constructor(text: string, unicode: boolean) {
    this.#text = text;
    this.#unicode = unicode;
    this.#left = MOST_SEARCHED_AGAIN * text.length;
  }

  /** The position to go on at, which is after the start of the match. */
  searchFrom(start: number, end: number): number {
    const length = end - start;
    if (length > this.#left) return end;
    this.#left -= length;
    return afterEmpty(this.#text, start, this.#unicode);
  }
}
