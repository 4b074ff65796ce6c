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

/**
 * What the first code unit of a match can be that is no white space, and whether a match can be nothing but white space.
 */
export function firstBeyondSpace(pattern: Pattern): { readonly units: UnitSet; readonly isPassed: boolean } {
  switch (pattern.kind) {
    case 'character': {
      const { units } = pattern;
      return { units: units.intersection(NO_SPACE), isPassed: units.intersects(SPACE) };
    }
    case 'sequence': {
      let units = UnitSet.none;
      for (const item of pattern.items) {
        const first = firstBeyondSpace(item);
        units = units.union(first.units);
        if (!first.isPassed) return { units, isPassed: false };
      }
      return { units, isPassed: true };
    }
    case 'choice': {
      const all = pattern.branches.map(firstBeyondSpace);
      return {
        units: all.reduce((union, { units }) => union.union(units), UnitSet.none),
        isPassed: all.some(({ isPassed }) => isPassed),
      };
    }
    case 'repetition': {
      if (pattern.max === 0) return { units: UnitSet.none, isPassed: true };
      const { units, isPassed } = firstBeyondSpace(pattern.item);
      return { units, isPassed: isPassed || pattern.min === 0 };
    }
    default:
      return { units: unitsIn(pattern), isPassed: true };
  }
}

const SPACE = /* @__PURE__ */ UnitSet.of(' \t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff').union(
  /* @__PURE__ */ new UnitSet(new Uint8Array(128), [0x2000, 0x200a]),
);
const NO_SPACE = /* @__PURE__ */ new UnitSet(
  /* @__PURE__ */ SPACE.ascii.map((bit) => 1 - bit),
  [0x80, 0xffff],
);
