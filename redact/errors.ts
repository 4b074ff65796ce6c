import type { Redactor } from './create-redactor.ts';

export const isError = (value: unknown): value is Error => value instanceof Error;

/** More errors within an error are none that anyone reads. */
const MOST_ERRORS = 500;

/** A masked copy of an error, for what shows errors in a way of its own: it has the same class, and its stack, causes and fields. */
export function redactedError(redactor: Redactor, error: Error, known = new Map<Error, Error>()): Error {
  const before = known.get(error);
  if (before !== undefined) return before;
  if (known.size >= MOST_ERRORS) return new Error(unmaskable(redactor));
  const copy = emptyErrorLike(error);
  known.set(error, copy);
  const mask = (key: string, value: unknown): readonly [key: string, value: unknown] => {
    if (isError(value)) return [key, redactedError(redactor, value, known)];
    if (Array.isArray(value) && value.some(isError)) return [key, value.map((item) => mask(key, item)[1])];
    return Object.entries(redactor.redact({ [key]: value }))[0] ?? [key, undefined];
  };
  // The message can be a getter of the class.
  for (const own of new Set([...Object.getOwnPropertyNames(error), 'message'])) {
    const enumerable = Object.prototype.propertyIsEnumerable.call(error, own);
    const [key, value] = mask(own, read(error, own));
    Object.defineProperty(copy, key, { value, enumerable, configurable: true, writable: true });
  }
  return copy;
}

/** An error of the class of another one, without a message and a stack. */
export function emptyErrorLike(error: object): Error {
  const made = new Error();
  Reflect.deleteProperty(made, 'stack');
  return Object.setPrototypeOf(made, Object.getPrototypeOf(error) as object);
}

/** Where a getter throws, it gives what cannot be masked. */
export function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = new Uint8Array(0);

/** What a redactor puts in place of what it cannot mask, which it counts. */
export const unmaskable = (redactor: Redactor): string => String(redactor.redact(UNREADABLE));
