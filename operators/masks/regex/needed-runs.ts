import { shareOf } from './frequency.ts';
import { itemsOf } from './literals.ts';
import { type Length, lengthOf, plus, unitsIn } from './measure.ts';
import type { Pattern } from './pattern.ts';
import type { NeededRun } from './run-gate.ts';
import { UnitSet } from './unit-set.ts';

/** Shorter runs need more looks than an engine does. */
const SHORTEST = 6;
/** More parts than any real expression has; it bounds the square of them. */
const MOST_ITEMS = 40;

/** Runs of which every match has each: of all parts side by side, and of all characters that they can be. */
export function neededRuns(pattern: Pattern): NeededRun[] {
  const items = itemsOf(pattern).slice(0, MOST_ITEMS);
  const runs: NeededRun[] = [];
  let from: Length = { min: 0, max: 0 };
  items.forEach((first, index) => {
    let units = UnitSet.none;
    let length = 0;
    for (const item of items.slice(index)) {
      units = units.union(unitsIn(item));
      length += lengthOf(item).min;
      if (length >= SHORTEST && shareOf(units) < 0.95) runs.push({ units, length, most: from.max });
    }
    from = plus(from, lengthOf(first));
  });
  return runs;
}
