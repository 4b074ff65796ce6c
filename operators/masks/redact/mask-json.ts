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
