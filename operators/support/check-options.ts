import type { SchedulerLike } from 'rxjs';
import type { Demand } from './demand.ts';

/** Gives `true` for what an option may be, otherwise what was expected: it follows "must be" in the message. */
export type Check = (value: unknown) => true | string;

/** A check for each option, so that the compiler finds an option without one. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check };

/** Options that may all be left out, or be undefined. */
export type Optional<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined };

export const INTEGER: Check = (value) => Number.isInteger(value) || 'an integer';
export const FINITE: Check = (value) => Number.isFinite(value) || 'a finite number';
export const atLeast =
  (least: number): Check =>
  (value) =>
    (Number.isInteger(value) && (value as number) >= least) || `an integer of at least ${least}`;
export const COUNT: Check = /* @__PURE__ */ atLeast(1);
export const COUNT_OR_INFINITY: Check = (value) =>
  value === Infinity || COUNT(value) === true || 'an integer of at least 1, or Infinity';
export const COUNT_FROM_0: Check = /* @__PURE__ */ atLeast(0);
export const ABOVE_0: Check = (value) =>
  (Number.isFinite(value) && (value as number) > 0) || 'a finite number above 0';
export const FROM_0: Check = (value) =>
  (Number.isFinite(value) && (value as number) >= 0) || 'a finite number of at least 0';
export const UNIT: Check = (value) =>
  (Number.isFinite(value) && (value as number) >= 0 && (value as number) <= 1) || 'a number in [0, 1]';
export const BOOLEAN: Check = (value) => typeof value === 'boolean' || 'true or false';
export const TEXT: Check = (value) => typeof value === 'string' || 'a string';
export const NOT_EMPTY: Check = (value) =>
  (typeof value === 'string' && value !== '') || 'a string of at least one character';
export const ONE_CHARACTER: Check = (value) =>
  (typeof value === 'string' && [...value].length === 1) || 'a string of exactly one character';
export const STRINGS: Check = (value) =>
  (Array.isArray(value) && value.every((item) => typeof item === 'string')) || 'an array of strings';
export const ANY_OBJECT: Check = (value) => (typeof value === 'object' && value !== null) || 'an object';
export const FUNCTION: Check = (value) => typeof value === 'function' || 'a function';
/** Not a Map or an array, whose contents would not be seen. */
export const OBJECT: Check = (value) => ({}).toString.call(value) === '[object Object]' || 'an object';
export const SCHEDULER: Check = (value) =>
  typeof (value as SchedulerLike | null)?.schedule === 'function' || 'a scheduler of RxJS';

export const DEMAND: Check = (value) =>
  (typeof (value as Partial<Demand> | null)?.room === 'number' &&
    hasMethods((value as Partial<Demand>).room$, 'subscribe')) ||
  'a Demand, such as an InFlightWindow';

export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function');
}

/**
 * An option that is misspelt, or has a wrong type, would be ignored, and what it was to hide or to limit would pass.
 *
 * @throws TypeError for options that are unknown, or of the wrong type.
 * @throws RangeError for numbers out of range.
 */
export function checkOptions<Options extends object>(
  operator: string,
  options: Options,
  checks: Checks<Options>,
): void {
  checkValue(operator, 'the options', options, OBJECT);
  const known = Object.keys(checks);
  for (const name in { ...options, ...checks }) {
    if (!known.includes(name)) {
      throw argumentError(TypeError, `${operator}: unknown option '${name}'; it has ${known.join(', ')}`);
    }
    const value = options[name];
    if (value !== undefined) checkValue(operator, name, value, checks[name]);
  }
}

/** {@link checkOptions}, which also throws for options that are required and not given. */
export function checkRequired<Options extends object>(
  operator: string,
  options: Options,
  checks: Checks<Options>,
  required: readonly (keyof Options & string)[],
): void {
  checkOptions(operator, options, checks);
  for (const name of required) checkValue(operator, name, options[name], checks[name]);
}

/**
 * The rule of all operators: a RangeError for a number where another number is expected, a TypeError for everything else,
 * also where nothing is given.
 *
 * @throws TypeError or RangeError unless `value` passes the check
 */
export function checkValue(operator: string, name: string, value: unknown, check: Check): void {
  const expected = check(value);
  if (expected === true) return;
  const type = typeof value;
  const shown =
    type === 'string' ? `'${value}'` : Object(value) === value ? `a value of type ${type}` : value;
  throw argumentError(
    type === 'number' && /number|integer/.test(expected) ? RangeError : TypeError,
    `${operator}: ${name} must be ${expected}, not ${shown}`,
  );
}

/** An error about an argument of an operator. It has the code that such an error has everywhere in millrace. */
export function argumentError(kind: new (message: string) => Error, message: string): Error {
  return Object.assign(new kind(message), { code: 'MILLRACE_ARGUMENT' });
}

/** A number from `random`. NaN would make a timer that never ends. */
export function draw(operator: string, random: () => number): number {
  const drawn = random();
  checkValue(operator, 'the result of random', drawn, UNIT);
  return drawn;
}

/** @throws TypeError unless `texts` is an object of which each value is a string. */
export function assertTexts(operator: string, option: string, texts: unknown, example: string): void {
  if (!isPlainObject(texts)) {
    throw argumentError(
      TypeError,
      `${operator}: ${option} must be an object such as ${example}, not ${kindOf(texts)}`,
    );
  }
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string') continue;
    throw argumentError(
      TypeError,
      `${operator}: "${name}" of ${option} must be a string, as in ${example}, not ${kindOf(text)}${isRegExp(text) ? '; write its source, and (?i) in front for the flag i' : ''}`,
    );
  }
}

/** @throws TypeError unless `texts` is an array of strings. */
export function assertTextList(operator: string, option: string, texts: unknown, example: string): void {
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return;
  const what = Array.isArray(texts) ? 'one with other values' : kindOf(texts);
  throw argumentError(
    TypeError,
    `${operator}: ${option} must be an array of strings such as ${example}, not ${what}`,
  );
}

const isRegExp = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object RegExp]';

/** Of this realm or another one, or without a prototype. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A value without its content: `a string`, `a value of type RegExp`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  return `a value of type ${Object.prototype.toString.call(value).slice(8, -1)}`;
}
