import { shareOf } from './frequency.ts';
import { itemsOf } from './literals.ts';
import { firstUnits, lengthOf } from './measure.ts';
import type { Pattern } from './pattern.ts';
import type { UnitSet } from './unit-set.ts';

/** What stands at a fixed distance from the start of every match. */
export interface FixedPosition {
  readonly offset: number;
  readonly units: UnitSet;
}

const MOST_POSITIONS = 64;

/** What is known of the first characters of a match, up to where parts of varying length begin. */
export function fixedPositions(pattern: Pattern): FixedPosition[] {
  const found: FixedPosition[] = [];
  add(pattern, 0, found);
  return found;
}

/** @returns where the pattern ends, or `undefined` if that varies. */
function add(pattern: Pattern, from: number, found: FixedPosition[]): number | undefined {
  const { min, max } = lengthOf(pattern);
  if (max === 0) return from;
  if (found.length > MOST_POSITIONS) return undefined;
  if (pattern.kind === 'sequence') {
    let at: number | undefined = from;
    for (const item of itemsOf(pattern)) if (at !== undefined) at = add(item, at, found);
    return at;
  }
  if (pattern.kind === 'repetition' && pattern.min > 0) {
    let at: number | undefined = from;
    for (let i = 0; i < pattern.min && at !== undefined; i++) at = add(pattern.item, at, found);
    return pattern.min === pattern.max ? at : undefined;
  }
  if (min > 0) found.push({ offset: from, units: firstUnits(pattern) });
  return min === max ? from + min : undefined;
}

const MOST_CHECKS = 3;

/** The rarest of the fixed positions that a literal does not take itself: they tell most. */
export function checksBeside(
  fixed: readonly FixedPosition[],
  offset: number,
  length: number,
): FixedPosition[] {
  return fixed
    .filter((one) => one.offset < offset || one.offset >= offset + length)
    .map((one) => ({ one, share: shareOf(one.units) }))
    .sort((a, b) => a.share - b.share)
    .slice(0, MOST_CHECKS)
    .map(({ one }) => one);
}
