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
  return stringifyExact(withBoundValues(masks.value(value), json, masks.text));
}

/**
 * Masks the items of arrays that are bound to a statement beside them, such as the parameters of SQL. They have no keys of their own, so
 * rules find them in the JSON as a string.
 *
 * @param value the value, already masked
 * @param given its JSON before it was masked
 */
export function withBoundValues(value: unknown, given: string, maskText: (text: string) => string): unknown {
  if (!given.includes('[')) return value;
  const json = stringifyExact(value);
  const masked = maskText(json);
  if (masked === json) return value;
  try {
    return parseExact(masked);
  } catch {
    // A rule has replaced more than values, so this is not JSON any more. The values are masked already.
    return value;
  }
}
