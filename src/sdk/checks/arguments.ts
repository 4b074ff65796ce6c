import { MillraceError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { truncate } from '../printable.ts';
import { describeValue, nameListing } from './describe.ts';
import { isMapping } from './problem.ts';

/** Refuses what a program gave to a function of millrace: `loadConfig: found …; expected …`. */
export function refuseArgument(where: string, found: unknown, wanted: string): never {
  throw new MillraceError(
    'MILLRACE_ARGUMENT',
    `${where}: found ${describeArgument(found)}; expected ${wanted}`,
  );
}

/** @throws MillraceError `MILLRACE_ARGUMENT` unless the options are an object that has none but the known keys. */
export function checkOptions(where: string, options: unknown, known: readonly string[]): void {
  if (!isMapping(options)) refuseArgument(where, options, `an object with any of ${nameListing(known)}`);
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  const hint = near === undefined ? `there are ${nameListing(known)}` : `did you mean \`${near}\`?`;
  throw new MillraceError('MILLRACE_ARGUMENT', `${where}: unknown option \`${truncate(unknown)}\`; ${hint}`);
}

/** @throws MillraceError `MILLRACE_ARGUMENT` unless the value has these functions, or is undefined. */
export function checkFunctions(where: string, value: unknown, names: readonly string[]): void {
  if (value === undefined) return;
  const has = (name: string) => typeof (value as Record<string, unknown> | null)?.[name] === 'function';
  if (names.every(has)) return;
  refuseArgument(where, value, `an object with the functions ${nameListing(names)}`);
}

function describeArgument(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof (value as { then?: unknown } | null)?.then === 'function') return 'a promise (await it)';
  if (typeof value === 'function') return 'a function';
  return isMapping(value) ? 'an object' : describeValue(value);
}
