import { mapStrings } from '../operators/internal-redact.ts';
import type { Pseudonyms } from './pseudonyms.ts';

/** Fields of answers whose strings are JSON: the arguments of calls of tools. */
const JSON_FIELDS: ReadonlySet<string | undefined> = new Set(['arguments', 'partial_json']);

/** Turns back pseudonyms in all strings of a value. */
export function restoreValue(value: unknown, pseudonyms: Pseudonyms): unknown {
  return mapStrings(value, (text, path) =>
    JSON_FIELDS.has(path.at(-1)) ? pseudonyms.restoreJson(text) : pseudonyms.restore(text),
  );
}
