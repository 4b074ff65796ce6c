import type { Entry } from './literal-entries.ts';

/** The rules that have a literal in a line. */
export interface Candidates {
  /** Their numbers, ascending. */
  readonly rules: readonly number[];
  /** Where names may start: pairs of the first and the last place, in no order. Undefined if that is not known. */
  readonly places: readonly number[] | undefined;
}

/** A line that has a literal of some rules, by its number among all lines. */
export interface CandidateLine extends Candidates {
  readonly line: number;
}

/** A name starts no further after the start of its literal, which may begin with the end of a word before the name. */
const AHEAD = 6;

const ascending = (a: number, b: number): number => a - b;

/** Goes from the left to the right through the places of literals of one character. */
export class CharacterCursor {
  readonly #entries: readonly Entry[];
  readonly #find: (literal: string, from: number) => number;
  /** For each entry where it is next, or −1. */
  readonly #next: number[];

  constructor(entries: readonly Entry[], find: (literal: string, from: number) => number) {
    this.#entries = entries;
    this.#find = find;
    this.#next = entries.map(({ literal }) => find(literal, 0));
  }

  /** Adds those in front of a place. */
  addUpTo(end: number, lines: LineCollector): void {
    const next = this.#next;
    for (;;) {
      let first = -1;
      for (let i = 0; i < next.length; i++) {
        const at = next[i] as number;
        if (at !== -1 && at < end && (first === -1 || at < (next[first] as number))) first = i;
      }
      if (first === -1) return;
      const entry = this.#entries[first] as Entry;
      const at = next[first] as number;
      lines.add(entry, at);
      next[first] = this.#find(entry.literal, at + 1);
    }
  }
}

/** Gathers the rules of literals. */
export class CandidateCollector {
  /** Which rules are gathered, and whether each one is. */
  #rules: number[] = [];
  readonly #isGathered: boolean[] = [];
  #places: number[] = [];

  /** @param at where in the line the literal is */
  add({ rules, back }: Entry, at: number): void {
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as number;
      if (this.#isGathered[rule] === true) continue;
      this.#isGathered[rule] = true;
      this.#rules.push(rule);
    }
    if (back !== undefined) this.#places.push(at - back, at + AHEAD);
  }

  /** Undefined if there are none. It begins anew. */
  take(): Candidates | undefined {
    if (this.#rules.length === 0) return undefined;
    for (const rule of this.#rules) this.#isGathered[rule] = false;
    const candidates = { rules: this.#rules.sort(ascending), places: this.#places };
    this.#rules = [];
    this.#places = [];
    return candidates;
  }
}

/** Gathers what is found from the left to the right, line by line. */
export class LineCollector {
  readonly #nextLf: (from: number) => number;
  readonly #length: number;
  readonly #lines: CandidateLine[] = [];
  readonly #found = new CandidateCollector();
  #line = -1;
  #start = 0;
  #end = -1;

  constructor(nextLf: (from: number) => number, length: number) {
    this.#nextLf = nextLf;
    this.#length = length;
  }

  add(entry: Entry, at: number): void {
    if (at > this.#end) this.#goTo(at);
    this.#found.add(entry, at - this.#start);
  }

  found(): readonly CandidateLine[] {
    this.#close();
    return this.#lines;
  }

  #goTo(at: number): void {
    this.#close();
    while (this.#end < at) {
      this.#line++;
      this.#start = this.#end + 1;
      const end = this.#nextLf(this.#start);
      this.#end = end === -1 ? this.#length : end;
    }
  }

  #close(): void {
    const candidates = this.#found.take();
    if (candidates !== undefined) this.#lines.push({ line: this.#line, ...candidates });
  }
}
