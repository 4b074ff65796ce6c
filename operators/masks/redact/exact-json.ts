/*
 * JSON can have integers that a `number` of JavaScript cannot hold exactly, such as the bigints of pino. They are parsed as marked
 * strings, and written as integers again unless they have been masked. Node.js 20 has no `JSON.rawJSON`.
 */

const MARK = '\ue000';
/** Integers with fewer digits are exact. */
const MAY_BE_INEXACT = /\d{16}/;
/** Digits of a fraction or of an exponent are no integer. */
const STRING_OR_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** Not a key, which stays a string. */
const MARKED = /"\ue000(-?\d+)"(?!:)/g;

/** The JSON of a Buffer or another typed array, which spells a secret in numbers. */
const MAY_BE_BINARY = /"Buffer"|"0":\s*\d/;

/**
 * Parses JSON. The JSON of bytes becomes an empty `Uint8Array`, which cannot be masked and is replaced as a whole.
 *
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseExact(json: string): unknown {
  const revive = MAY_BE_BINARY.test(json) ? reviveBytes : undefined;
  if (!MAY_BE_INEXACT.test(json)) return JSON.parse(json, revive);
  // Throws for what is not JSON, before numbers become strings.
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
