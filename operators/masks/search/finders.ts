import type { Run } from '../bytes/byte-masks.ts';
import type { UnitSet } from '../expression/unit-set.ts';
import { type Finder, PlainFinder } from './finder.ts';

/** Makes an expression from its source and its flags. */
export type Compile = (source: string, flags: string) => RegExp;

/** The engine that is built in. */
export const compile: Compile = (source, flags) => new RegExp(source, flags);

/** Asks the engine about one position. */
class OnePosition {
  readonly #expression: RegExp;

  /** @param expression global. */
  constructor({ source, flags }: RegExp, compile: Compile) {
    this.#expression = compile(source, flags.replace('g', 'y'));
  }

  /** The end of the match that starts at a position, or −1 for none and for an empty one. */
  endOfMatch(text: string, at: number): number {
    const expression = this.#expression;
    if (expression.unicode && isInPair(text, at)) return -1;
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

/** Texts one of which follows the run at the start of each match. */
export interface Literals {
  readonly texts: readonly string[];
  /** Whether they are found in both cases. */
  readonly lowered: boolean;
}

/**
 * For expressions whose matches begin with a run of certain characters and then have one of some literals: asks the
 * engine only at the positions before a literal where a match can start. If there are no conditions, and no literal
 * begins with a character of the run, what follows decides alike for all starts in one run, and the leftmost of them is
 * where the run begins.
 */
export class LiteralFinder implements Finder {
  end = 0;
  readonly #search: (text: string, from: number) => number;
  readonly #run: Run;
  readonly #position: OnePosition;

  constructor(literals: Literals, run: Run, expression: RegExp, compileFor: Compile) {
    this.#search = searchFor(literals);
    this.#run = run;
    this.#position = new OnePosition(expression, compileFor);
  }

  next(text: string, from: number): number {
    const search = this.#search;
    const { units, min, max, triesAll } = this.#run;
    let untried = from;
    for (let at = search(text, from + min); at !== -1; at = search(text, at + 1)) {
      const lowest = Math.max(at - max, untried);
      // A literal of a look-behind stands before the match.
      let start = Math.max(at, lowest);
      while (start > lowest && units.has(text.charCodeAt(start - 1))) start--;
      const last = triesAll ? at - min : Math.min(start, at - min);
      for (; start <= last; start++) {
        const end = this.#position.endOfMatch(text, start);
        if (end === -1) continue;
        this.end = end;
        return start;
      }
      untried = Math.max(untried, start);
    }
    return -1;
  }
}

function searchFor({ texts, lowered }: Literals): (text: string, from: number) => number {
  const [first = '', ...others] = texts;
  if (others.length === 0 && !lowered) return (text, from) => text.indexOf(first, from);
  const escaped = texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const expression = new RegExp(escaped.join('|'), lowered ? 'gi' : 'g');
  return (text, from) => {
    expression.lastIndex = from;
    return expression.exec(text)?.index ?? -1;
  };
}

/** Characters of one set that stand side by side in every match, and how far after its start at most. */
export interface NeededRun {
  readonly units: UnitSet;
  readonly length: number;
  readonly most: number;
}

/** Asks the engine only about strings, or lines of a string, that have a run of which every match has one. */
export class RunFinder implements Finder {
  end = 0;
  readonly #run: NeededRun;
  readonly #plain: PlainFinder;
  readonly #inLines: boolean;

  /** @param inLines whether the strings are lines, joined by LF, none of which a match leaves. */
  constructor(run: NeededRun, expression: RegExp, inLines: boolean) {
    this.#run = run;
    this.#plain = new PlainFinder(expression);
    this.#inLines = inLines;
  }

  next(text: string, from: number): number {
    let next = from;
    for (let at = findRun(this.#run, text, from); at !== -1; at = findRun(this.#run, text, next)) {
      const begin = this.#inLines ? text.lastIndexOf('\n', at) + 1 : 0;
      const found = this.#inLines ? text.indexOf('\n', at) : -1;
      const end = found === -1 ? text.length : found;
      const earliest = Math.max(next, at - this.#run.most, begin);
      const start = this.#plain.next(text.slice(begin, end), earliest - begin);
      if (start !== -1) {
        this.end = begin + this.#plain.end;
        return begin + start;
      }
      next = end + 1;
    }
    return -1;
  }
}

/** Shorter runs need more looks than an engine does. */
export const SHORTEST_RUN = 6;

/** Each window of so many characters is looked at from its end: one that is not in the set moves the window after it. */
export function findRun({ units, length }: NeededRun, text: string, from: number): number {
  const { ascii } = units;
  let known = from - 1;
  for (let end = from + length - 1; end < text.length; ) {
    let at = end;
    for (; at > known; at--) {
      const unit = text.charCodeAt(at);
      if (unit < 128 ? ascii[unit] === 0 : !units.has(unit)) break;
    }
    if (at === known) return end - length + 1;
    known = end;
    end = at + length;
  }
  return -1;
}

/** For lines joined by LF and an expression that matches at their starts only. */
export class LineStartFinder implements Finder {
  end = 0;
  readonly #position: OnePosition;

  constructor(expression: RegExp) {
    this.#position = new OnePosition(expression, compile);
  }

  next(text: string, from: number): number {
    for (let start = lineStart(text, from); start !== -1; start = lineStart(text, start + 1)) {
      const end = this.#position.endOfMatch(text, start);
      if (end === -1) continue;
      this.end = end;
      return start;
    }
    return -1;
  }
}

/** The first start of a line at or after a position, or −1. */
function lineStart(text: string, from: number): number {
  if (from === 0) return 0;
  const lf = text.indexOf('\n', from - 1);
  return lf === -1 ? -1 : lf + 1;
}

/** For places that are known. */
export class PlacesFinder implements Finder {
  end = 0;
  readonly #places: readonly number[];
  #index = 0;

  /** @param places in ascending order */
  constructor(places: readonly number[]) {
    this.#places = places;
  }

  next(_text: string, from: number): number {
    const places = this.#places;
    while (this.#index < places.length && (places[this.#index] as number) < from) this.#index++;
    this.end = places[this.#index] ?? -1;
    return this.end;
  }
}
