import { firstUnits, lengthOf } from './measure.ts';
import type { Pattern } from './pattern.ts';
import type { UnitSet } from './unit-set.ts';

/**
 * In how many ways at most a pattern can take a text, where the next character does not decide. Repetitions of more
 * than one are left out: how many ways there are for them depends on how they are looked at.
 *
 * @param after what the character behind it can be.
 */
export function waysOf(pattern: Pattern, after: UnitSet): number {
  switch (pattern.kind) {
    case 'sequence':
      return pattern.items.reduceRight(
        ({ ways, next }, item) => ({ ways: ways * waysOf(item, next), next: startsOf(item, next) }),
        { ways: 1, next: after },
      ).ways;
    case 'choice':
      return waysOfBranches(pattern.branches, after);
    case 'repetition': {
      const { item, min, max } = pattern;
      if (max !== 1) return 1;
      const nothing = { kind: 'sequence', items: [] } as const;
      return waysOfBranches(min === 0 ? [item, nothing] : [item], after);
    }
    default:
      return 1;
  }
}

/** Branches that can begin alike are all tried. */
function waysOfBranches(branches: readonly Pattern[], after: UnitSet): number {
  const groups: { starts: UnitSet; ways: number }[] = [];
  for (const branch of branches) {
    const group = { starts: startsOf(branch, after), ways: waysOf(branch, after) };
    for (const other of groups.filter(({ starts }) => starts.intersects(group.starts))) {
      group.starts = group.starts.union(other.starts);
      group.ways += other.ways;
      groups.splice(groups.indexOf(other), 1);
    }
    groups.push(group);
  }
  return Math.max(...groups.map(({ ways }) => ways));
}

/** What can come first, of the pattern or, if it can be empty, of what is behind it. */
function startsOf(pattern: Pattern, after: UnitSet): UnitSet {
  const own = firstUnits(pattern);
  return lengthOf(pattern).min === 0 ? own.union(after) : own;
}
