import { argumentError, type Check, hasMethods, kindOf } from '../operators/internal-redact.ts';
import type { Redactor } from './create-redactor.ts';

export const REDACTOR: Check = (value) =>
  hasMethods(value, 'redact', 'redactJson', 'stream') || 'a redactor, which createRedactor returns';

export const PSEUDONYMS: Check = (value) =>
  hasMethods(value, 'pseudonymOf', 'isPseudonym', 'hide', 'restore') ||
  'a table of pseudonyms, which createPseudonyms returns';

/**
 * A method of redactors: whether they leave a JSON document as it is, as far as one search of it can tell. Redactors that programs make
 * themselves do not have it.
 */
export const LEAVES_JSON = Symbol('leavesJson');

export const leavesJson = (redactor: Redactor, json: string): boolean =>
  (redactor as { [LEAVES_JSON]?: (json: string) => boolean })[LEAVES_JSON]?.(json) === true;

/** A caller without a redactor would fail at its first log, or log what it has to mask. */
export function checkRedactor(caller: string, redactor: unknown): asserts redactor is Redactor {
  checkArgument(caller, 'the redactor', redactor, REDACTOR);
}

/** As `checkValue`, and shows nothing of the value. */
export function checkArgument(caller: string, name: string, value: unknown, check: Check): void {
  const expected = check(value);
  if (expected === true) return;
  throw argumentError(TypeError, `${caller}: ${name} must be ${expected}, not ${kindOf(value)}`);
}
