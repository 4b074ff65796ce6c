import { parseExact, stringifyExact } from './exact-json.ts';

/**
 * A masked value in which the values of an array are masked as well that are bound to a statement beside it, as the parameters of
 * SQL: they have no keys of their own, so they are found in the text of the JSON.
 *
 * @param given the JSON that the value was before it was masked
 * @param redact masks a text
 */
export function withBoundValues(value: unknown, given: string, redact: (text: string) => string): unknown {
  if (!given.includes('[')) return value;
  const json = stringifyExact(value);
  const masked = redact(json);
  if (masked === json) return value;
  try {
    return parseExact(masked);
  } catch {
    // A rule has replaced more than values, each of which is masked already.
    return value;
  }
}
