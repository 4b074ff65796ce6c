import type { Plan } from './plan.ts';

/** Finds the matches of an expression in a text, from the left. */
export interface Finder {
  /** Where the match that {@link next} found ends. */
  end: number;
  /**
   * The start of the leftmost match at or after a position that is not empty, or −1. For each text, the first
   * call is from 0, and each later one from the end of the match before.
   */
  next(text: string, from: number): number;
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

/** The engine's own way, for an expression of which nothing is worked out. It finds what a planned search finds. */
export function plainSearch(expression: RegExp): Plan {
  return { literal: '', finder: new PlainFinder(expression), needle: undefined, run: undefined };
}

/** The position after an empty match; with the `u` flag it must not fall into a surrogate pair. */
function afterEmpty(text: string, at: number, unicode: boolean): number {
  return at + (unicode && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Asks the engine about one position. */
export class OnePosition {
  readonly #expression: RegExp;
  readonly #unicode: boolean;

  /** @param expression sticky. */
  constructor(expression: RegExp) {
    this.#expression = expression;
    this.#unicode = expression.unicode;
  }

  /** The end of the match that starts at a position, or −1 for none and for an empty one. */
  endOfMatch(text: string, at: number): number {
    if (this.#unicode && isInPair(text, at)) return -1;
    const expression = this.#expression;
    expression.lastIndex = at;
    if (!expression.test(text)) return -1;
    const end = expression.lastIndex;
    return end > at ? end : -1;
  }
}

/** Between the halves of a pair no match starts, with the `u` flag; the engine would take a step back. */
function isInPair(text: string, at: number): boolean {
  return at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
