import type { Redactor } from './create-redactor.ts';

export const isError = (value: unknown): value is Error => value instanceof Error;

/** More errors within an error are none that anyone reads. */
const MOST_ERRORS = 500;

/**
 * Masks the fields of an object. Errors stay errors, and what `leaves` names stays as it is, unless the policy of a field says
 * something else.
 */
export function redactedFields(
  redactor: Redactor,
  object: object,
  leaves = (_key: string, _value: unknown): boolean => false,
): Record<string, unknown> {
  const aside = new Map<string, unknown>();
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const value = read(object, key);
    const isAside = isError(value) || leaves(key, value);
    if (isAside) aside.set(key, value);
    fields[key] = isAside ? ASIDE : value;
  }
  const masked = redactor.redact(fields) as Record<string, unknown>;
  for (const [key, value] of aside) {
    if (masked[key] !== ASIDE && !(leaves(key, value) && Object.hasOwn(masked, key))) continue;
    masked[key] = isError(value) ? redactedError(redactor, value) : value;
  }
  return masked;
}

/** Stands in place of a value that is masked in another way. No rule changes it, and every policy of a field does. */
const ASIDE = true;

/** A masked copy of an error, for what shows errors in a way of its own: it has the same class, and its stack, causes and fields. */
export function redactedError(redactor: Redactor, error: Error, known = new Map<Error, Error>()): Error {
  const before = known.get(error);
  if (before !== undefined) return before;
  if (known.size >= MOST_ERRORS) return new Error(unmaskable(redactor));
  const copy = emptyErrorLike(error);
  known.set(error, copy);
  const mask = (key: string, value: unknown): readonly [key: string, value: unknown] | undefined => {
    if (Array.isArray(value) && value.some(isError)) return [key, value.map((item) => mask(key, item)?.[1])];
    const [entry] = Object.entries(redactor.redact({ [key]: isError(value) ? ASIDE : value }));
    return isError(value) && entry?.[1] === ASIDE ? [key, redactedError(redactor, value, known)] : entry;
  };
  for (const [own, enumerable] of propertiesOf(error)) {
    const entry = mask(own, read(error, own));
    if (entry === undefined) continue;
    const [key, value] = entry;
    Object.defineProperty(copy, key, { value, enumerable, configurable: true, writable: true });
  }
  return copy;
}

/**
 * The own properties of an error, and those that its classes have as getters, such as the `code` of a DOMException: on a copy, which lacks
 * the private fields that they read, they would throw. Each has whether it is enumerable.
 */
function propertiesOf(error: object): ReadonlyMap<string, boolean> {
  const properties = new Map<string, boolean>();
  let holder = error;
  for (let next = Object.getPrototypeOf(error); next !== null; next = Object.getPrototypeOf(holder)) {
    const descriptors = Object.entries(Object.getOwnPropertyDescriptors(holder));
    for (const [key, { get, enumerable = false }] of descriptors) {
      if ((holder === error || get !== undefined) && !properties.has(key)) properties.set(key, enumerable);
    }
    holder = next;
  }
  return properties.has('message') ? properties : properties.set('message', false);
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
