/**
 * The items by their keys, in the order of first appearance (`Map.groupBy` needs Node 21).
 *
 * @example
 * groupBy([1, 2, 3], (n) => n % 2); // new Map([[1, [1, 3]], [0, [2]]])
 */
export function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
