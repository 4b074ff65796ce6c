/*
 * JSON can have integers that a `number` of JavaScript cannot hold exactly, such as the bigints of pino. They are parsed as marked
 * strings, and written as integers again unless they have been masked. Node.js 20 has no `JSON.rawJSON`.
 */

/** Characters for private use, which no rule takes for a part of a value. They are random, so that input has them by chance only. */
const MARK = /* @__PURE__ */ String.fromCharCode(
  .../* @__PURE__ */ Array.from({ length: 4 }, () => 0xe000 + Math.floor(Math.random() * 6400)),
);
/** Integers with fewer digits are exact. */
const MAY_BE_INEXACT = /\d{16}/;
/** Digits of a fraction or of an exponent are no integer. */
const STRING_OR_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** Not a key, which stays a string. */
const MARKED = /* @__PURE__ */ new RegExp(`"${MARK}(-?\\d+)"(?!:)`, 'g');

/** @throws SyntaxError as `JSON.parse` does */
export function parseExact(json: string): unknown {
  if (!MAY_BE_INEXACT.test(json)) return JSON.parse(json);
  // Throws for what is not JSON, before numbers become strings.
  JSON.parse(json);
  const marked = json.replace(STRING_OR_INTEGER, (found) => {
    const isExact = found.startsWith('"') || String(Number(found)) === found;
    return isExact ? found : `"${MARK}${found}"`;
  });
  return JSON.parse(marked);
}

export function stringifyExact(value: unknown): string {
  const json = JSON.stringify(value);
  return json?.includes(MARK) ? json.replace(MARKED, '$1').replaceAll(`"${MARK}`, '"') : json;
}
