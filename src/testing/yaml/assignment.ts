/**
 * Gives each of the left side one of the right side that it fits, so that as many as possible have one. The result holds, for
 * each of the left, the index on the right, or undefined. The first of the left side come first.
 *
 * A greedy choice would not do: of the wishes `/a/` and `anna`, given ada and anna, the first may take only ada. So where
 * nothing that is free fits, those that are taken change hands along an augmenting path.
 */
export function assign<L, R>(
  left: readonly L[],
  right: readonly R[],
  fits: (left: L, right: R) => boolean,
): (number | undefined)[] {
  const result: (number | undefined)[] = left.map(() => undefined);
  const holders = new Map<number, number>();
  const free = new Set(right.keys());
  /** Without those from which no path leads to one that is free, now or later. */
  let reachable = new Set(right.keys());
  const fitsAt = (index: number, candidate: number) => fits(left[index] as L, right[candidate] as R);

  /** A path from `index` to one that is free: where it ends, and from which of the left each on it was reached. */
  const pathFrom = (index: number): { end: number; reachedFrom: Map<number, number> } | undefined => {
    for (const end of free) {
      if (fitsAt(index, end)) return { end, reachedFrom: new Map([[end, index]]) };
    }
    const untried = new Set(reachable);
    const reachedFrom = new Map<number, number>();
    const waiting = [index];
    for (const at of waiting) {
      for (const candidate of untried) {
        if (!fitsAt(at, candidate)) continue;
        untried.delete(candidate);
        reachedFrom.set(candidate, at);
        const holder = holders.get(candidate);
        if (holder === undefined) return { end: candidate, reachedFrom };
        waiting.push(holder);
      }
    }
    reachable = untried;
    return undefined;
  };

  for (const index of left.keys()) {
    const path = pathFrom(index);
    if (path === undefined) continue;
    free.delete(path.end);
    // Each on the path takes the next one, and leaves what it had to the one before it.
    for (let next: number | undefined = path.end; next !== undefined; ) {
      const taker = path.reachedFrom.get(next) as number;
      const given = result[taker];
      result[taker] = next;
      holders.set(next, taker);
      next = given;
    }
  }
  return result;
}
