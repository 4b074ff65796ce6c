import { parseExact, stringifyExact } from './exact-json.ts';

/** Stands in place of what cannot be masked. */
export const UNMASKABLE = '<:unmaskable:>';

/** Masks the values of a JSON document, and strings that are not JSON. */
export interface JsonMasks {
  readonly value: (value: unknown) => unknown;
  readonly text: (text: string) => string;
}

/** Masks a JSON document, which stays one. A string that is not JSON is masked as a string. */
export function maskJson(json: string, masks: JsonMasks): string {
  let value: unknown;
  try {
    value = parseExact(json);
  } catch {
    return masks.text(json);
  }
  return stringifyExact(masks.value(value));
}

/**
 * Masks the items of arrays that belong to what stands beside them, such as the parameters of SQL and the arguments of a command. They have
 * no keys of their own, so rules find them in the JSON as a string.
 *
 * @param value the value as JSON shows it, already masked
 */
export function withBoundValues(value: unknown, maskText: (text: string) => string): unknown {
  if (!hasArray(value)) return value;
  const json = stringifyExact(value);
  const masked = maskText(json);
  if (masked === json) return value;
  try {
    return withStringsOf(value, parseExact(masked));
  } catch {
    // A rule has replaced more than values, so this is not JSON any more. The values are masked already.
    return value;
  }
}

/** Prisma writes arrays as strings of JSON. */
function hasArray(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('["');
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.values(value).some(hasArray);
}

/** A value with the strings of another one of the same shape. */
function withStringsOf(value: unknown, other: unknown): unknown {
  if (typeof other === 'string') return other;
  if (typeof value !== 'object' || value === null || typeof other !== 'object' || other === null)
    return value;
  if (Array.isArray(value))
    return value.map((item, index) => withStringsOf(item, (other as readonly unknown[])[index]));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      Object.hasOwn(other, key) ? withStringsOf(item, (other as Record<string, unknown>)[key]) : item,
    ]),
  );
}
