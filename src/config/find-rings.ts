/**
 * Ways that lead back to where they began: `['a', 'b']` for a → b → a. At least one if there is any; of rings that
 * share a way not each is found, but another one is when those are broken.
 */
export function findRings(next: ReadonlyMap<string, Iterable<string>>): string[][] {
  const rings: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (name: string) => {
    const begin = trail.indexOf(name);
    if (begin >= 0) rings.push(trail.slice(begin));
    if (begin >= 0 || done.has(name)) return;
    trail.push(name);
    for (const other of next.get(name) ?? []) visit(other);
    trail.pop();
    done.add(name);
  };
  for (const name of next.keys()) visit(name);
  return rings;
}
