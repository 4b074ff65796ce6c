/**
 * A deeply frozen copy of plain objects and arrays. Other values, such as functions, are taken as they are. A value that
 * occurs in several places, or contains itself, is copied once.
 */
export function frozenCopy<T>(value: T): T {
  return copyOf(value, new Map()) as T;
}

function copyOf(value: unknown, copies: Map<object, unknown>): unknown {
  if (!isPlain(value)) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  // An own key `__proto__` stays one, and is assigned to like the others.
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copies.set(value, copy);
  for (const key of Object.keys(copy))
    if (typeof copy[key] === 'object') copy[key] = copyOf(copy[key], copies);
  return Object.freeze(copy);
}

/** Freezes a value with all plain objects and lists in it. */
export function freezeDeep(value: unknown): void {
  if (!isPlain(value) || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freezeDeep(inner);
}

/** Whether a value is an array, or an object that no class created, of any realm. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether an error says that something frozen was to be changed. Code in strict mode, as in a module, throws it. */
export function isFrozenWrite(error: unknown): boolean {
  const { name, message } = (error ?? {}) as Partial<Error>;
  return name === 'TypeError' && FROZEN_WRITE.test(message ?? '');
}

// A write to a character of a string changes no event, and the message of that error quotes the whole string.
const FROZEN_WRITE =
  /^Cannot (?:assign to read only property [\s\S]* of object '|add property|delete property|define property|redefine property)/;
