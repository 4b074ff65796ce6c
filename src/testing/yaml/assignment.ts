/**
 * Gives each of the left side one of the right side that it fits, so that as many as possible have one
 * (augmenting paths). The result holds, for each of the left, the index on the right, or undefined.
 *
 * A greedy choice would not do: of the wishes `/a/` and `anna`, given ada and anna, the first may take only ada.
 */
export function assign<L, R>(
  left: readonly L[],
  right: readonly R[],
  fits: (left: L, right: R) => boolean,
): (number | undefined)[] {
  const takenBy = new Map<number, number>();
  const find = (index: number, tried: Set<number>): boolean => {
    for (const [candidate, item] of right.entries()) {
      if (tried.has(candidate) || !fits(left[index] as L, item)) continue;
      tried.add(candidate);
      const holder = takenBy.get(candidate);
      if (holder === undefined || find(holder, tried)) {
        takenBy.set(candidate, index);
        return true;
      }
    }
    return false;
  };
  for (const index of left.keys()) find(index, new Set());
  const result: (number | undefined)[] = left.map(() => undefined);
  for (const [candidate, index] of takenBy) result[index] = candidate;
  return result;
}
