import { closest, distance } from 'fastest-levenshtein';

/** The candidate that `name` was most likely meant to be, or undefined if none is near. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const candidate = closest(name, candidates);
  const length = Math.max(name.length, candidate.length);
  const away = distance(name, candidate);
  return away > 0 && away < length && away <= Math.ceil(length / 2.5) ? candidate : undefined;
}
