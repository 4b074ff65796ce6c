import type { Finder, OnePosition, PlainFinder } from './finder.ts';
import type { FixedPosition } from './fixed-positions.ts';
import type { Gate } from './gated-finders.ts';
import { type LiteralSearch, lowerCaseOf } from './literal-search.ts';
import type { UnitSet } from './unit-set.ts';

/** For literals at one fixed offset: a match can only start where they say. */
export class FixedFinder implements Finder {
  end = 0;
  readonly #search: LiteralSearch;
  readonly #offset: number;
  readonly #checks: readonly FixedPosition[];
  readonly #position: OnePosition;

  /** @param checks what must be beside the literal: to look at a character is quicker than to ask the engine. */
  constructor(
    search: LiteralSearch,
    offset: number,
    checks: readonly FixedPosition[],
    position: OnePosition,
  ) {
    this.#search = search;
    this.#offset = offset;
    this.#checks = checks;
    this.#position = position;
  }

  next(text: string, from: number): number {
    const search = this.#search;
    const offset = this.#offset;
    if (from === 0) search.begin();
    for (let at = search.next(text, Math.max(0, from + offset)); at !== -1; at = search.next(text, at + 1)) {
      const start = at - offset;
      if (!this.#canStart(text, start)) continue;
      const end = this.#position.endOfMatch(text, start);
      if (end === -1) continue;
      this.end = end;
      return start;
    }
    return -1;
  }

  #canStart(text: string, start: number): boolean {
    const checks = this.#checks;
    for (let i = 0; i < checks.length; i++) {
      const { offset, units } = checks[i] as FixedPosition;
      if (!units.has(text.charCodeAt(start + offset))) return false;
    }
    return true;
  }
}

/** Characters that a match begins with, up to a literal. */
export interface Run {
  readonly units: UnitSet;
  readonly min: number;
  readonly max: number;
  /** Whether more than one position of a run has to be tried: conditions can hold at one and not at another. */
  readonly hasConditions: boolean;
}

/** What stands before the literal of a {@link RunFinder}. */
export interface LeadingRun extends Run {
  /** What comes after the literal, if there is one; otherwise all. */
  readonly after: UnitSet;
  readonly literalLength: number;
}

/**
 * For a repeated character and then one of some literals, none of which begins with such a character: a match
 * takes the rest of a run, up to the literal. So what follows decides for all starts in one run alike, and the
 * leftmost of them is where the run begins.
 */
export class RunFinder implements Finder {
  end = 0;
  readonly #search: LiteralSearch;
  readonly #run: LeadingRun;
  readonly #position: OnePosition;

  constructor(search: LiteralSearch, run: LeadingRun, position: OnePosition) {
    this.#search = search;
    this.#run = run;
    this.#position = position;
  }

  next(text: string, from: number): number {
    const search = this.#search;
    const { units, min, max, hasConditions, after, literalLength } = this.#run;
    if (from === 0) search.begin();
    for (let at = search.next(text, from + min); at !== -1; at = search.next(text, at + 1)) {
      if (!after.has(text.charCodeAt(at + literalLength))) continue;
      const lowest = Math.max(at - max, from);
      let start = at;
      while (start > lowest && units.has(text.charCodeAt(start - 1))) start--;
      const last = hasConditions ? at - min : Math.min(start, at - min);
      for (; start <= last; start++) {
        const end = this.#position.endOfMatch(text, start);
        if (end === -1) continue;
        this.end = end;
        return start;
      }
    }
    return -1;
  }
}

/** For literals of which it is known at most how far behind the start they are. */
export class LiteralGate implements Gate {
  readonly least: number;
  readonly most: number;
  readonly #search: LiteralSearch;

  /** @param least and `most`: the position of a literal less that of the match's start. */
  constructor(search: LiteralSearch, least: number, most: number) {
    this.#search = search;
    this.least = least;
    this.most = most;
  }

  begin(): void {
    this.#search.begin();
  }

  find(text: string, at: number): number {
    return this.#search.next(text, at);
  }
}

/** A finder that searches in lower case, for texts that have as many characters in lower case. */
export class LowerCaseFinder implements Finder {
  end = 0;
  readonly #finder: Finder;
  readonly #plain: PlainFinder;

  constructor(finder: Finder, plain: PlainFinder) {
    this.#finder = finder;
    this.#plain = plain;
  }

  next(text: string, from: number): number {
    const finder = lowerCaseOf(text).length === text.length ? this.#finder : this.#plain;
    const start = finder.next(text, from);
    this.end = finder.end;
    return start;
  }
}
