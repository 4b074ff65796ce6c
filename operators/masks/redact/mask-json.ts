import type { Field } from '../mask-strings.ts';
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
 * @param value what JSON has, and dates; already masked
 * @param isKept whether a field stays as it is. Undefined if none does.
 */
export function withBoundValues<T>(value: T, maskText: (text: string) => string, isKept?: IsKept): T {
  if (!hasArray(value)) return value;
  const json = jsonOf(value, isKept);
  const masked = maskText(json);
  return masked === json ? value : withStringsOfJson(value, masked);
}

/** Whether a string is an array in JSON, as Prisma writes them. */
export const isArrayInJson = (text: string): boolean => text.startsWith('["');

function hasArray(value: unknown): boolean {
  if (typeof value === 'string') return isArrayInJson(value);
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.values(value).some(hasArray);
}

export type IsKept = (field: Field) => boolean;

/** The JSON of a value without what is kept. */
export function jsonOf(value: unknown, isKept: IsKept | undefined): string {
  return stringifyExact(isKept === undefined ? value : withoutKept(value, isKept, undefined));
}

function withoutKept(value: unknown, isKept: IsKept, within: Field | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutKept(item, isKept, within));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const field = { key, within };
      return isKept(field) ? [] : [[key, withoutKept(item, isKept, field)]];
    }),
  );
}

/** A value with the strings that its JSON has after masking. */
export function withStringsOfJson<T>(value: T, masked: string): T {
  try {
    return withStringsOf(value, parseExact(masked)) as T;
  } catch {
    // A rule has replaced more than values, so this is not JSON any more. The values are masked already.
    return value;
  }
}

/** A value with the strings of another one of the same shape. */
function withStringsOf(value: unknown, other: unknown): unknown {
  if (typeof value === 'string' && typeof other === 'string') return other;
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
