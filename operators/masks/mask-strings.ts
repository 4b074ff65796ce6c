import { Refusal } from './mask-error.ts';
import type { Masked } from './masked.ts';
import { plainForm } from './plain-form.ts';

/** Gives the text that may be seen in place of `text`; the same text when there is nothing to hide. */
export type MaskText = (text: string) => string;

/** A mask that sees the key of the field that holds a value, also where it holds it in an array. */
export interface MaskFields {
  readonly text: (text: string, key?: string) => string;
  readonly number?: ((value: number, key: string) => unknown) | undefined;
}

/** Deeper than any real event, far from the end of the stack. A cycle reaches it at once. */
const MAX_DEPTH = 1000;

/**
 * Applies `maskText` to every string in a value, at any depth; keys stay. The input is never written to, and objects
 * and arrays of the result are always new: what passes on is what was read, not something that may show more later.
 *
 * Only what JSON shows of a value can be masked, so the result is made of that alone: objects with `toJSON` are
 * replaced by its masked result (a `Date` is kept), boxed values by what is in the box, an `Error` by its name,
 * message and own properties, and instances of any other class by plain objects. Properties are read once; accessors
 * become what they gave, and symbols, hidden keys, and keys of arrays are left out. The type of the result,
 * `Masked<T>`, says so too.
 *
 * @throws MaskError for what cannot be masked: Map, Set, binary data, bigint, symbols, functions, sparse arrays,
 * a getter, `toJSON` or proxy that throws, cycles, and nesting deeper than 1,000 levels.
 *
 * @example
 * maskStrings({ user: 'ada', tries: 3 }, (text) => text.replaceAll('ada', '***')); // { user: '***', tries: 3 }
 */
export function maskStrings<T>(value: T, maskText: MaskText): Masked<T> {
  return walkFromTop(value, { text: (text) => maskText(text) }, keepNone);
}

/** Whether the string at this key of the topmost object stays as it is. */
export type KeepAtTop = (key: string, text: string) => boolean;

const keepNone: KeepAtTop = () => false;

/** {@link maskStrings}, with fields of the topmost object that may be kept. */
export function walkFromTop<T>(value: T, mask: MaskFields, keep: KeepAtTop): Masked<T> {
  try {
    return walk(value, mask, 0, keep) as Masked<T>;
  } catch (error) {
    throw error instanceof Refusal ? error.toError() : error;
  }
}

function walk(value: unknown, mask: MaskFields, depth: number, keep: KeepAtTop, key?: string): unknown {
  switch (typeof value) {
    case 'string':
      return mask.text(value, key);
    case 'object':
      return value === null ? null : walkObject(value, mask, depth, keep, key);
    case 'number':
      return key === undefined ? value : (mask.number?.(value, key) ?? value);
    case 'boolean':
    case 'undefined':
      return value;
    default:
      throw new Refusal(`a value of type ${typeof value}`);
  }
}

function walkObject(value: object, mask: MaskFields, depth: number, keep: KeepAtTop, key?: string): unknown {
  if (depth >= MAX_DEPTH) throw new Refusal(`a cycle, or nesting deeper than ${MAX_DEPTH} levels`);
  const plain = plainForm(value);
  // What `toJSON` gave can need another form itself.
  if (plain !== value) return walk(plain, mask, depth + 1, keep, key);
  if (Array.isArray(value)) return walkArray(value, mask, depth, key);
  return value instanceof Date ? value : walkRecord(value as Record<string, unknown>, mask, depth, keep);
}

function walkRecord(
  source: Readonly<Record<string, unknown>>,
  mask: MaskFields,
  depth: number,
  keep: KeepAtTop,
): unknown {
  const copy = copyOf(source);
  const keys = Object.keys(copy);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const before = copy[key];
    let after: unknown;
    if (typeof before === 'string') {
      after = keep(key, before) ? before : mask.text(before, key);
    } else if (typeof before === 'number' && mask.number !== undefined) {
      after = mask.number(before, key);
    } else if (isSimple(before)) {
      continue;
    } else {
      after = walkInside(before, key, mask, depth, key);
    }
    // `__proto__` too: as an own property of the copy it is data.
    if (after !== before) copy[key] = after;
  }
  return withoutSymbols(copy);
}

function walkArray(source: readonly unknown[], mask: MaskFields, depth: number, key?: string): unknown {
  const { length } = source;
  const shown: unknown[] = [];
  for (let i = 0; i < length; i++) {
    const before = read(source, i);
    let after = before;
    if (typeof before === 'string') after = mask.text(before, key);
    else if (typeof before === 'number' && key !== undefined) after = mask.number?.(before, key) ?? before;
    else if (!isSimple(before)) after = walkInside(before, i, mask, depth, key);
    else if (before === undefined && !Object.hasOwn(source, i)) throw new Refusal('a sparse array');
    shown.push(after);
  }
  return shown;
}

function isSimple(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean';
}

function walkInside(
  value: unknown,
  at: string | number,
  mask: MaskFields,
  depth: number,
  key: string | undefined,
): unknown {
  try {
    return walk(value, mask, depth + 1, keepNone, key);
  } catch (error) {
    throw error instanceof Refusal ? error.inside(at) : error;
  }
}

function read(source: readonly unknown[], index: number): unknown {
  try {
    return source[index];
  } catch {
    throw new Refusal('an item that cannot be read').inside(index);
  }
}

/** Reads each own property once, as data, `__proto__` among them: a getter may give something else the next time. */
function copyOf(source: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return { ...source };
  } catch {
    throw new Refusal('an object that cannot be read');
  }
}

function withoutSymbols(copy: object): object {
  const symbols = Object.getOwnPropertySymbols(copy);
  for (let i = 0; i < symbols.length; i++) Reflect.deleteProperty(copy, symbols[i] as symbol);
  return copy;
}
