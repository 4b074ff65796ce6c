/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value in a text. */
export interface Place extends Span {
  /** Its first part, if more is joined to it: `'Zebra'` of `'Zebra'"Lamp"`. */
  readonly first?: Span | undefined;
  /** The key that it stands after, if it was found by one. */
  readonly key?: FoundKey | undefined;
}

/** A key in front of a value, and how the two are written. */
export interface FoundKey {
  /** The kind of its name. */
  readonly kind: string;
  readonly notation: string;
  /** What the value has to be. */
  readonly check: ((value: string, text: string, start: number) => boolean) | undefined;
  /** Whether something else may stand between the key and the value. */
  readonly isApart: boolean;
}

/** What a rule looks for, and which values a match has. */
export interface ValuesOfMatch {
  /** Compiled, without the flags `g`, `y` and `d`. It is read when the rule is first tried. */
  readonly expression: RegExp;
  /** The groups that are replaced, 0 for the whole match. A group that is empty or did not take part is passed over. */
  readonly groups: readonly number[];
  /**
   * Where the values are that a group leads to: it is the start of a value, or a name. Absent: the group is the value. For
   * rules that replace groups.
   */
  readonly locate?: ((text: string, start: number, end: number) => readonly Place[]) | undefined;
  /** Finds values in place of the expression: code that reads more than an expression can. */
  readonly finder?: (() => Finder) | undefined;
}

/** Whether the only value of a match is the whole match. */
export function masksWholeMatches({ groups, locate }: Pick<ValuesOfMatch, 'groups' | 'locate'>): boolean {
  return groups.length === 1 && groups[0] === 0 && locate === undefined;
}

/** Is told of the work of a search, which it may end by an error, and knows what was found before it. */
export interface SearchObserver {
  spend?(steps: number): void;
  /** Where the names may start whose literals are keywords of a rule, if that is known of a string: see `Candidates`. */
  placesIn?(text: string): readonly number[] | undefined;
}

/** Finds the matches of an expression in a string, from the left. */
export interface Finder {
  /** Where the match that {@link next} found ends. */
  end: number;
  /**
   * The start of the leftmost match at or after a position, or −1. For each string, the first call is from 0, and each
   * later one from the end of the match before. Only matches with {@link values} may be empty.
   *
   * @param observer asked by finders whose time no expression bounds
   */
  next(text: string, from: number, observer?: SearchObserver): number;
  /** The values in the match that was found last, from the left to the right. Absent: the match is the value. */
  values?(text: string): readonly Place[];
}

/** The position after an empty match; with the `u` flag it must not fall into a surrogate pair. */
export function afterEmpty(text: string, at: number, unicode: boolean): number {
  return at + (unicode && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
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

/** Asks the engine, which also tells where the groups of a match are that a rule replaces. */
export class GroupFinder implements Finder {
  end = 0;
  readonly #expression: RegExp;
  readonly #rule: ValuesOfMatch;
  readonly #first: Finder | undefined;
  #match: RegExpExecArray | undefined;

  /** @param first finds the first match of a string faster, without its groups; none of them may be empty then */
  constructor(rule: ValuesOfMatch, first?: Finder) {
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
export function finderOf(rule: ValuesOfMatch): Finder {
  if (rule.finder !== undefined) return rule.finder();
  if (!masksWholeMatches(rule)) return new GroupFinder(rule);
  const { source, flags } = rule.expression;
  return new PlainFinder(new RegExp(source, `g${flags}`));
}

/** All matches in a string that are not empty. */
export function matchesOf(finder: Finder, text: string): Span[] {
  const found: Span[] = [];
  let from = 0;
  for (let start = finder.next(text, from); start !== -1; start = finder.next(text, from)) {
    const { end } = finder;
    if (end > start) found.push({ start, end });
    // Always further: after an empty match, also one inside a surrogate pair, to whose start the engine goes back.
    from = Math.max(end, start + 1, from + 1);
  }
  return found;
}

/** The expression of a rule whose values its finder finds: it matches nothing. */
export const NO_EXPRESSION = /(?!)/;
