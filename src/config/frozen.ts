import { isMapping } from '../checks/path.ts';

/**
 * A deeply frozen copy of plain objects and arrays; other values, such as functions, are taken as they are.
 * Copying leaves an embedding program's own objects unfrozen.
 */
export function frozenCopy<T>(value: T): T {
  return copy(value, new Map()) as T;
}

function copy(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    seen.set(value, items);
    for (const item of value) items.push(copy(item, seen));
    return Object.freeze(items);
  }
  if (!isPlain(value)) return value;
  const target = {};
  seen.set(value, target);
  for (const [key, item] of Object.entries(value)) {
    // Not an assignment, which would set the prototype for the key `__proto__`.
    Object.defineProperty(target, key, { value: copy(item, seen), enumerable: true });
  }
  return Object.freeze(target);
}

function isPlain(value: object): boolean {
  if (!isMapping(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
