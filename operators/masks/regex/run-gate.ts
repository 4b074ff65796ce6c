import type { Gate } from './gated-finders.ts';
import type { UnitSet } from './unit-set.ts';

/** Characters of one set that stand side by side in every match, and how far behind its start at most. */
export interface NeededRun {
  readonly units: UnitSet;
  readonly length: number;
  readonly most: number;
}

/** For a run of at least n characters of a set: where there are others, only each n-th has to be looked at. */
export class RunGate implements Gate {
  readonly least = 0;
  readonly #run: NeededRun;

  constructor(run: NeededRun) {
    this.#run = run;
  }

  get most(): number {
    return this.#run.most;
  }

  begin(): void {}

  /** Each window of n characters is looked at from its end: one that is not in the set moves the window behind it. */
  find(text: string, from: number): number {
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
