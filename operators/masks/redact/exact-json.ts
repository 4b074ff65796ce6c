/*
 * JSON has integers that are no `number` of JavaScript, such as the bigints of pino. They are parsed as strings with a mark, and written
 * as they were, unless they have been masked. `JSON.rawJSON` is not in Node.js 20.
 */

const MARK = '\ue000';
/** Fewer digits are exact. */
const MAY_BE_INEXACT = /\d{16}/;
/** Digits of a fraction or of an exponent are no integer. */
const STRING_OR_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** Not a key, which stays a string. */
const MARKED = /"\ue000(-?\d+)"(?!:)/g;

/** What `JSON.stringify` makes of a Buffer and of other typed arrays, which spells a secret in numbers. */
const MAY_BE_BINARY = /"Buffer"|"0":\s*\d/;

/**
 * JSON as a value in which bytes are bytes.
 *
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseExact(json: string): unknown {
  const revive = MAY_BE_BINARY.test(json) ? reviveBytes : undefined;
  if (!MAY_BE_INEXACT.test(json)) return JSON.parse(json, revive);
  // What is no JSON before is none after it either, because only numbers become strings.
  JSON.parse(json);
  const marked = json.replace(STRING_OR_INTEGER, (found) => {
    const isExact = found.startsWith('"') || String(Number(found)) === found;
    return isExact ? found : `"${MARK}${found}"`;
  });
  return JSON.parse(marked, revive);
}

function reviveBytes(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { type, data } = value as { type?: unknown; data?: unknown };
  if (type === 'Buffer' && Array.isArray(data)) return new Uint8Array(0);
  const bytes = Object.entries(value);
  return bytes.length > 1 && bytes.every(([key, byte], index) => key === String(index) && isByte(byte))
    ? new Uint8Array(0)
    : value;
}

const isByte = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= -128 && (value as number) <= 0xffff;

export function stringifyExact(value: unknown): string {
  const json = JSON.stringify(value);
  return json?.includes(MARK) ? json.replace(MARKED, '$1').replaceAll(`"${MARK}`, '"') : json;
}
