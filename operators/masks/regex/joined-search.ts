import type { Needle } from './needle.ts';
import type { NeededRun } from './run-gate.ts';

/** Looks through a text once for what several rules need. */
export interface JoinedSearch {
  /** The bits of the members that may match; a member whose bit is 0 certainly does not. */
  search(text: string): number;
}

/** For needles: tells only whether there is one of any member. */
export class NeedleSearch implements JoinedSearch {
  readonly #needles: RegExp;

  constructor(needles: readonly Needle[]) {
    this.#needles = new RegExp(needles.map(({ source }) => source).join('|'));
  }

  search(text: string): number {
    return this.#needles.test(text) ? -1 : 0;
  }
}

/** For long runs: each member has a bit of its own. */
export class RunSearch implements JoinedSearch {
  /** For each character of ASCII the bits of the members in whose runs it can be; then the same for all others. */
  readonly #members = new Int32Array(129);
  readonly #length: number;

  /** @param runs 32 at most. */
  constructor(runs: readonly NeededRun[]) {
    this.#length = Math.min(...runs.map(({ length }) => length));
    runs.forEach(({ units }, bit) => {
      for (let unit = 0; unit < 128; unit++) {
        if (units.ascii[unit] === 1) (this.#members[unit] as number) |= 1 << bit;
      }
      if (units.high.length > 0) (this.#members[128] as number) |= 1 << bit;
    });
  }

  /**
   * Each window of the shortest run's length is looked at from its end, until no member is left: the next window
   * begins behind that. So where there are other characters, only few are looked at; a member that was found is
   * not looked for again.
   */
  search(text: string): number {
    const members = this.#members;
    const length = this.#length;
    let found = 0;
    for (let end = length - 1; end < text.length; ) {
      let left = ~found;
      let at = end;
      for (; at > end - length; at--) {
        left &= members[Math.min(text.charCodeAt(at), 128)] as number;
        if (left === 0) break;
      }
      found |= left;
      // Where some were found, the same window again, for the others.
      end = at + length;
    }
    return found;
  }
}
