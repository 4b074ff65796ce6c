/**
 * Replaces the strings in a value of arrays and plain objects, keys among them. What has none stays the object that it is.
 *
 * @param path keys from the top; items of an array have that of their array.
 */
export function mapStrings(
  value: unknown,
  map: (text: string, path: readonly string[]) => string,
  path: readonly string[] = [],
): unknown {
  if (typeof value === 'string') return map(value, path);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapStrings(item, map, path));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (!isPlain(value)) return value;
  const entries = Object.entries(value);
  const mapped = entries.map(([key, item]) => [map(key, []), mapStrings(item, map, [...path, key])] as const);
  const isSame = mapped.every(([key, item], i) => key === entries[i]?.[0] && item === entries[i]?.[1]);
  return isSame ? value : Object.fromEntries(mapped);
}

/** Of this realm or another one. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
