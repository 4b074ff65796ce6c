/**
 * An option that is misspelt, or not what it seems, would be ignored, and what it was to hide would pass.
 *
 * @throws TypeError naming the options that are not known, and those that are.
 */
export function assertKnownOptions(of: string, options: object, known: readonly string[]): void {
  if (!isPlainObject(options)) {
    throw new TypeError(`the options of ${of} must be an object, not ${kindOf(options)}`);
  }
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new TypeError(`${of} has no option ${unknown.join(', ')}; it has ${known.join(', ')}`);
}

/** @throws TypeError unless `texts` is an object of which each value is a string. */
export function assertTexts(option: string, texts: unknown, example: string): void {
  if (!isPlainObject(texts)) {
    throw new TypeError(`${option} must be an object such as ${example}, not ${kindOf(texts)}`);
  }
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string') continue;
    throw new TypeError(
      `"${name}" of ${option} must be a string, as in ${example}, not ${kindOf(text)}${isRegExp(text) ? '; write its source, and (?i) in front for the flag i' : ''}`,
    );
  }
}

/** @throws TypeError unless `texts` is an array of strings. */
export function assertTextList(option: string, texts: unknown, example: string): void {
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return;
  const what = Array.isArray(texts) ? 'one with other values' : kindOf(texts);
  throw new TypeError(`${option} must be an array of strings such as ${example}, not ${what}`);
}

const isRegExp = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object RegExp]';

/** Of this realm or another one, or without a prototype. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  return `a value of type ${Object.prototype.toString.call(value).slice(8, -1)}`;
}
