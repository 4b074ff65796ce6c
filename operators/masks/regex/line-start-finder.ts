import type { Finder, OnePosition } from './finder.ts';

/** For lines joined by LF and an expression that matches at their starts only. */
export class LineStartFinder implements Finder {
  end = 0;
  readonly #position: OnePosition;

  constructor(position: OnePosition) {
    this.#position = position;
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
