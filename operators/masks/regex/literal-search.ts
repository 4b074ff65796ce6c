/** Searches a text for one of several literals, from the left. Each is searched for once, wherever it is. */
export interface LiteralSearch {
  /** To be called once for each text, first. */
  begin(): void;
  /** The first position at or after `from` of any of the literals, or −1. `from` never goes back. */
  next(text: string, from: number): number;
}

export function literalSearch(literals: readonly string[], lowered: boolean): LiteralSearch {
  const search =
    literals.length === 1 ? new OneLiteral(literals[0] as string) : new SeveralLiterals(literals);
  return lowered ? new Lowered(search) : search;
}

class OneLiteral implements LiteralSearch {
  readonly #literal: string;

  constructor(literal: string) {
    this.#literal = literal;
  }

  begin(): void {}

  next(text: string, from: number): number {
    return text.indexOf(this.#literal, from);
  }
}

class SeveralLiterals implements LiteralSearch {
  readonly #literals: readonly string[];
  /** Where each stands next; what was not found is at the end of all texts, and not searched for again. */
  readonly #next: Float64Array;

  constructor(literals: readonly string[]) {
    this.#literals = literals;
    this.#next = new Float64Array(literals.length);
  }

  begin(): void {
    this.#next.fill(-1);
  }

  next(text: string, from: number): number {
    const next = this.#next;
    let nearest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < next.length; i++) {
      let at = next[i] as number;
      if (at < from) {
        at = text.indexOf(this.#literals[i] as string, from);
        if (at === -1) at = Number.POSITIVE_INFINITY;
        next[i] = at;
      }
      if (at < nearest) nearest = at;
    }
    return nearest === Number.POSITIVE_INFINITY ? -1 : nearest;
  }
}

/** Searches for literals in lower case. For texts that {@link lowerCaseOf} knows. */
class Lowered implements LiteralSearch {
  readonly #search: LiteralSearch;

  constructor(search: LiteralSearch) {
    this.#search = search;
  }

  begin(): void {
    this.#search.begin();
  }

  next(text: string, from: number): number {
    return this.#search.next(lowerCaseOf(text), from);
  }
}

/** The last text, and its lower case: several rules ask for it in turn. */
let original: string | undefined;
let lower = '';

/** One letter, \u0130, is longer in lower case, and moves what is behind it. */
export function lowerCaseOf(text: string): string {
  if (text !== original) {
    // Neither belongs to the other if a time-out ends it in between.
    original = undefined;
    lower = text.toLowerCase();
    original = text;
  }
  return lower;
}
