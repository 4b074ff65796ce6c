import { Refusal } from './mask-error.ts';
import { plainForm } from './plain-form.ts';

/** Gives the text that may be seen in place of `text`; the same text when there is nothing to hide. */
export type MaskText = (text: string) => string;

/** Deeper than any real event, far from the end of the stack. A cycle reaches it at once. */
const MAX_DEPTH = 1000;

/**
 * Applies `maskText` to every string in a value, at any depth; keys stay. The input is never written to: what
 * changed is copied, what did not is shared, and without a change the very same value is returned.
 *
 * Only what JSON shows of a value can be masked, so the result is made of that alone: objects with `toJSON` are
 * replaced by its masked result (a `Date` is kept), boxed values by what is in the box, an `Error` by its name,
 * message and own properties, and instances of any other class by plain objects.
 *
 * @throws MaskError for what cannot be masked: Map, Set, binary data, bigint, symbols, functions, sparse arrays,
 * a getter, `toJSON` or proxy that throws, cycles, and nesting deeper than 1,000 levels.
 *
 * @example
 * maskStrings({ user: 'ada', tries: 3 }, (text) => text.replaceAll('ada', '***')); // { user: '***', tries: 3 }
 */
export function maskStrings<T>(value: T, maskText: MaskText): T {
  return walkFromTop(value, maskText, keepNone);
}

/** Whether the string at this key of the topmost object stays as it is. */
export type KeepAtTop = (key: string, text: string) => boolean;

const keepNone: KeepAtTop = () => false;

/** {@link maskStrings}, with fields of the topmost object that may be kept. */
export function walkFromTop<T>(value: T, maskText: MaskText, keep: KeepAtTop): T {
  try {
    return walk(value, maskText, 0, keep) as T;
  } catch (error) {
    throw error instanceof Refusal ? error.toError() : error;
  }
}

function walk(value: unknown, maskText: MaskText, depth: number, keep: KeepAtTop): unknown {
  switch (typeof value) {
    case 'string':
      return maskText(value);
    case 'object':
      return value === null ? null : walkObject(value, maskText, depth, keep);
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    default:
      throw new Refusal(`a value of type ${typeof value}`);
  }
}

function walkObject(value: object, maskText: MaskText, depth: number, keep: KeepAtTop): unknown {
  if (depth >= MAX_DEPTH) throw new Refusal(`a cycle, or nesting deeper than ${MAX_DEPTH} levels`);
  const plain = plainForm(value);
  // What `toJSON` gave can need another form itself.
  if (plain !== value) return walk(plain, maskText, depth + 1, keep);
  if (Array.isArray(value)) return walkArray(value, maskText, depth);
  return value instanceof Date ? value : walkRecord(value as Record<string, unknown>, maskText, depth, keep);
}

function walkRecord(
  source: Readonly<Record<string, unknown>>,
  maskText: MaskText,
  depth: number,
  keep: KeepAtTop,
): unknown {
  const keys = keysOf(source);
  let copy: Record<string, unknown> | undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const before = read(source, key);
    let after: unknown;
    if (typeof before === 'string') {
      after = keep(key, before) ? before : maskText(before);
    } else if (isSimple(before)) {
      continue;
    } else {
      after = walkInside(before, key, maskText, depth);
    }
    if (after === before) continue;
    copy ??= copyOf(source);
    if (key === '__proto__') defineOwn(copy, key, after);
    else copy[key] = after;
  }
  return copy ?? source;
}

function walkArray(source: readonly unknown[], maskText: MaskText, depth: number): unknown {
  let copy: unknown[] | undefined;
  for (let i = 0; i < source.length; i++) {
    const before = read(source as unknown as Record<number, unknown>, i);
    if (isSimple(before)) {
      if (before === undefined && !Object.hasOwn(source, i)) throw new Refusal('a sparse array');
      continue;
    }
    const after = typeof before === 'string' ? maskText(before) : walkInside(before, i, maskText, depth);
    if (after === before) continue;
    copy ??= Array.from(source);
    copy[i] = after;
  }
  return copy ?? source;
}

function isSimple(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean';
}

function walkInside(value: unknown, key: string | number, maskText: MaskText, depth: number): unknown {
  try {
    return walk(value, maskText, depth + 1, keepNone);
  } catch (error) {
    throw error instanceof Refusal ? error.inside(key) : error;
  }
}

function keysOf(source: object): string[] {
  try {
    return Object.keys(source);
  } catch {
    throw new Refusal('an object that cannot be read');
  }
}

function read<K extends PropertyKey>(source: Readonly<Record<K, unknown>>, key: K): unknown {
  try {
    return source[key];
  } catch {
    throw new Refusal('a property that cannot be read').inside(key as string | number);
  }
}

/** Own properties as data, `__proto__` among them: an object literal's spread never touches the prototype. */
function copyOf(source: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return { ...source };
  } catch {
    throw new Refusal('an object that cannot be read');
  }
}

function defineOwn(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
