import { isMapping } from '../../sdk/checks/problem.ts';

/** A copy of plain objects and arrays, of which nothing is frozen. */
export function openCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]));
}
