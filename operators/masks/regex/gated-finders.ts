import type { Finder, PlainFinder } from './finder.ts';

/** Looks for what every match needs. */
export interface Gate {
  /** How far behind the start of its match that is, at least: less than nothing for what stands ahead of it. */
  readonly least: number;
  /** And at most. */
  readonly most: number;
  /** To be called once for each text, first. */
  begin(): void;
  /** The first position at or after `at`, or −1. `at` never goes back. */
  find(text: string, at: number): number;
}

/** Asks the engine only where a gate lets it: it skips what is before that. */
export class GatedFinder implements Finder {
  end = 0;
  readonly #gate: Gate;
  readonly #plain: PlainFinder;

  constructor(gate: Gate, plain: PlainFinder) {
    this.#gate = gate;
    this.#plain = plain;
  }

  next(text: string, from: number): number {
    const { least, most } = this.#gate;
    if (from === 0) this.#gate.begin();
    const at = this.#gate.find(text, Math.max(0, from + least));
    if (at === -1) return -1;
    const start = this.#plain.next(text, Math.max(from, at - most));
    this.end = this.#plain.end;
    return start;
  }
}

/** The same for lines joined by LF, none of which a match leaves: asks only about those lines that have what it needs. */
export class GatedLinesFinder implements Finder {
  end = 0;
  readonly #gate: Gate;
  readonly #plain: PlainFinder;

  constructor(gate: Gate, plain: PlainFinder) {
    this.#gate = gate;
    this.#plain = plain;
  }

  next(text: string, from: number): number {
    const gate = this.#gate;
    if (from === 0) gate.begin();
    let next = from;
    // What stands in a line before is of no use to this one.
    const line = from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1;
    let at = gate.find(text, Math.max(line, from + gate.least));
    while (at !== -1) {
      const begin = text.lastIndexOf('\n', at) + 1;
      const found = text.indexOf('\n', at);
      const end = found === -1 ? text.length : found;
      const earliest = Math.max(next, at - gate.most, begin);
      const start = earliest > end ? -1 : this.#plain.next(text.slice(begin, end), earliest - begin);
      if (start !== -1) {
        this.end = begin + this.#plain.end;
        return begin + start;
      }
      next = Math.max(next, end + 1);
      at = gate.find(text, Math.max(at + 1, next));
    }
    return -1;
  }
}
