import type { Pattern } from './pattern.ts';
import { UnitSet } from './unit-set.ts';

/** How many code units something takes, at least and at most. */
export interface Length {
  readonly min: number;
  readonly max: number;
}

const NOTHING: Length = { min: 0, max: 0 };

/** The lengths that a match of a pattern can have. */
export function lengthOf(pattern: Pattern): Length {
  switch (pattern.kind) {
    case 'character':
      return { min: 1, max: pattern.mayBeTwo ? 2 : 1 };
    case 'sequence':
      return pattern.items.map(lengthOf).reduce(plus, NOTHING);
    case 'choice': {
      const all = pattern.branches.map(lengthOf);
      return { min: Math.min(...all.map(({ min }) => min)), max: Math.max(...all.map(({ max }) => max)) };
    }
    case 'repetition': {
      const { min, max } = lengthOf(pattern.item);
      return { min: min * pattern.min, max: max === 0 || pattern.max === 0 ? 0 : max * pattern.max };
    }
    case 'reference':
      return { min: pattern.min, max: pattern.max };
    default:
      return NOTHING;
  }
}

export function plus(a: Length, b: Length): Length {
  return { min: a.min + b.min, max: a.max + b.max };
}

/** Every code unit that can be in a match. */
export function unitsIn(pattern: Pattern): UnitSet {
  switch (pattern.kind) {
    case 'character':
      return pattern.units;
    case 'sequence':
      return unionOf(pattern.items);
    case 'choice':
      return unionOf(pattern.branches);
    case 'repetition':
      return pattern.max === 0 ? UnitSet.none : unitsIn(pattern.item);
    case 'reference':
      return UnitSet.all;
    default:
      return UnitSet.none;
  }
}

function unionOf(patterns: readonly Pattern[]): UnitSet {
  return patterns.map(unitsIn).reduce((all, units) => all.union(units), UnitSet.none);
}

/** What the first code unit of a match that is not empty can be. */
export function firstUnits(pattern: Pattern): UnitSet {
  switch (pattern.kind) {
    case 'sequence': {
      let units = UnitSet.none;
      for (const item of pattern.items) {
        units = units.union(firstUnits(item));
        if (lengthOf(item).min > 0) break;
      }
      return units;
    }
    case 'choice':
      return pattern.branches.map(firstUnits).reduce((all, units) => all.union(units), UnitSet.none);
    case 'repetition':
      return pattern.max === 0 ? UnitSet.none : firstUnits(pattern.item);
    default:
      return unitsIn(pattern);
  }
}
