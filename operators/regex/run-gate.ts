import type { Finder, PlainFinder } from './finder.ts';
import type { UnitSet } from './unit-set.ts';

/** Characters of one set that stand side by side in every match, and how far behind its start at most. */
export interface NeededRun {
  readonly units: UnitSet;
  readonly length: number;
  readonly most: number;
}

/** For a run of at least n characters of a set: where there are others, only each n-th has to be looked at. */
export class RunGate implements Finder {
  end = 0;
  readonly #run: NeededRun;
  readonly #plain: PlainFinder;

  constructor(run: NeededRun, plain: PlainFinder) {
    this.#run = run;
    this.#plain = plain;
  }

  next(text: string, from: number): number {
    const run = this.#startOfRun(text, from);
    if (run === -1) return -1;
    const start = this.#plain.next(text, Math.max(from, run - this.#run.most));
    this.end = this.#plain.end;
    return start;
  }

  /**
   * Where the first run at or after a position begins that is long enough, or −1. Each window of n characters is
   * looked at from its end: one that is not in the set moves the window behind it.
   */
  #startOfRun(text: string, from: number): number {
    const { units, length } = this.#run;
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
}
