import { Refusal } from './mask-error.ts';
import type { Masked } from './masked.ts';

/** Gives the text that may be seen in place of `text`; the same text when there is nothing to hide. */
export type MaskText = (text: string) => string;

/** The field that holds a value: its key, and the field that holds its object. Items of an array are held by its field. */
export interface Field {
  readonly key: string;
  /** What fields beside it may call it: see {@link Names}. */
  readonly names?: readonly string[] | undefined;
  readonly within: Field | undefined;
}

/** What fields may be called, beside their own keys. */
export type Names = ReadonlyMap<string, readonly string[]>;

/** What becomes of a field whatever its value is. `rule` is what counts it. */
export type FieldFate =
  | { readonly rule: string; readonly action: 'keep' | 'drop' }
  | { readonly rule: string; readonly action: 'replace'; readonly replace: (value: unknown) => string };

/** A mask that sees which field holds a value. */
export interface MaskFields {
  /** @param previous the string before this one, for items of an array. */
  readonly text: (
    text: string,
    key?: string,
    within?: Field,
    previous?: string,
    names?: readonly string[],
  ) => string;
  readonly number?:
    | ((value: number, key?: string, within?: Field, names?: readonly string[]) => unknown)
    | undefined;
  /** The key that may be seen in place of one; the same key if there is nothing to hide. Default: keys stay. */
  readonly key?: ((key: string) => string) | undefined;
  /** Names for fields of an object, by their keys: what a value is called can be in a field beside it. */
  readonly namesIn?: ((object: Readonly<Record<string, unknown>>) => Names | undefined) | undefined;
  /** What becomes of a field whatever its value is. Default: its value is masked. */
  readonly policyOf?: ((key: string, within: Field | undefined) => FieldFate | undefined) | undefined;
  /** Told of a field that is dropped or replaced, and returns what replaces it. */
  readonly apply?: ((fate: FieldFate, value: unknown, field: Field) => string | undefined) | undefined;
  /** Shows values of any kind. Default: what cannot be masked is an error. */
  readonly lenient?: Leniency | undefined;
}

/**
 * For values that have to be shown whatever they are, as by a logger. Functions and symbols are left out, as JSON leaves them out, an
 * error has its stack and its cause as well, and what else cannot be masked is replaced.
 */
export interface Leniency {
  /** What stands in place of a part that cannot be masked. */
  readonly replace: (what: string) => string;
  /** The objects around the one that is masked. One that comes again is `[Circular]`. */
  readonly around: Set<object>;
  readonly known: Set<object>;
  /** How often objects may come again that are known: values that share objects have more paths than anyone can read. */
  repeatsLeft: number;
}

/** {@link Leniency} for one value. */
export const leniency = (replace: Leniency['replace']): Leniency => ({
  replace,
  around: new Set(),
  known: new Set(),
  repeatsLeft: MOST_REPEATS,
});

/** Deeper than any real event, far from the end of the stack. A cycle reaches it at once. */
const MAX_DEPTH = 1000;
const MOST_REPEATS = 100_000;

/**
 * Applies `maskText` to every string in a value, at any depth. It does not change keys. It never writes to the input, and
 * returns new objects and arrays, so the result contains only values that were checked.
 *
 * The result contains only the parts of a value that JSON shows. An object with `toJSON` becomes its masked result
 * (a `Date` is kept), a boxed value its primitive, an `Error` its name, message and own properties, and an instance of
 * any other class a plain object. Properties are read once, accessors become their values, and symbols, hidden keys, and
 * keys of arrays are omitted. The type of the result, `Masked<T>`, reflects this.
 *
 * @throws MaskError for values that cannot be masked: Map, Set, binary data, bigint, symbols, functions, sparse arrays,
 * a getter, `toJSON` or proxy that throws, cycles, and nesting deeper than 1,000 levels.
 *
 * @example
 * maskStrings({ user: 'ada', tries: 3 }, (text) => text.replaceAll('ada', '***')); // { user: '***', tries: 3 }
 */
export function maskStrings<T>(value: T, maskText: MaskText): Masked<T> {
  return walkFromTop(value, { text: (text) => maskText(text) }, keepNone);
}

/** Whether the string at this key of the topmost object stays as it is. */
type KeepAtTop = (key: string, text: string) => boolean;

const keepNone: KeepAtTop = () => false;

/** {@link maskStrings}, with fields of the topmost object that may be kept. */
function walkFromTop<T>(value: T, mask: MaskFields, keep: KeepAtTop): Masked<T> {
  try {
    return walk(value, mask, 0, keep) as Masked<T>;
  } catch (error) {
    throw error instanceof Refusal ? error.toError() : error;
  }
}

function walk(value: unknown, mask: MaskFields, depth: number, keep: KeepAtTop, field?: Field): unknown {
  switch (typeof value) {
    case 'string':
      return mask.text(value, field?.key, field?.within, undefined, field?.names);
    case 'object':
      if (value === null) return null;
      // Without a call in between, which the stack has no room for at the deepest level.
      if (mask.lenient === undefined) return walkPlain(value, mask, depth, keep, field);
      return walkLeniently(value, mask, mask.lenient, depth, keep, field);
    case 'number':
      return mask.number?.(value, field?.key, field?.within, field?.names) ?? value;
    case 'boolean':
    case 'undefined':
      return value;
    default:
      if (mask.lenient === undefined) throw new Refusal(`a value of type ${typeof value}`);
      return typeof value === 'bigint' ? walk(String(value), mask, depth, keep, field) : undefined;
  }
}

function walkLeniently(
  value: object,
  mask: MaskFields,
  lenient: Leniency,
  depth: number,
  keep: KeepAtTop,
  field: Field | undefined,
): unknown {
  if (lenient.around.has(value)) return '[Circular]';
  // What getters and `toJSON` make is new each time, and ends at the most levels only.
  if (lenient.known.has(value) || depth >= MAX_DEPTH) lenient.repeatsLeft--;
  if (lenient.repeatsLeft < 0) return lenient.replace('an object that comes again too often');
  lenient.known.add(value);
  lenient.around.add(value);
  try {
    return walkPlain(value, mask, depth, keep, field);
  } catch (error) {
    return lenient.replace(error instanceof Refusal ? error.what : 'a value that cannot be read');
  } finally {
    lenient.around.delete(value);
  }
}

function walkPlain(
  value: object,
  mask: MaskFields,
  depth: number,
  keep: KeepAtTop,
  field: Field | undefined,
): unknown {
  if (depth >= MAX_DEPTH) throw new Refusal(`a cycle, or nesting deeper than ${MAX_DEPTH} levels`);
  const plain = plainForm(value, mask.lenient !== undefined);
  // What `toJSON` gave can need another form itself.
  if (plain !== value) return walk(plain, mask, depth + 1, keep, field);
  if (Array.isArray(value)) return walkArray(value, mask, depth, field);
  return value instanceof Date
    ? value
    : walkRecord(value as Record<string, unknown>, mask, depth, keep, field);
}

function walkRecord(
  source: Readonly<Record<string, unknown>>,
  mask: MaskFields,
  depth: number,
  keep: KeepAtTop,
  within: Field | undefined,
): unknown {
  const copy = copyOf(source, mask.lenient);
  const keys = Object.keys(copy);
  if (mask.lenient !== undefined && isBytes(copy, keys)) throw new Refusal('bytes');
  const namesIn = mask.namesIn?.(copy);
  const { policyOf } = mask;
  let renamed: Map<string, string> | undefined;
  for (let i = 0; i < keys.length; i++) {
    const own = keys[i] as string;
    const before = copy[own];
    const shownKey = mask.key?.(own) ?? own;
    if (shownKey !== own) {
      renamed ??= new Map();
      renamed.set(own, shownKey);
    }
    if (before === null || before === undefined) {
      if (policyOf?.(own, within)?.action === 'drop') delete copy[own];
      continue;
    }
    const fate = policyOf?.(own, within);
    if (fate !== undefined) {
      const field = { key: own, within };
      if (fate.action === 'keep') copy[own] = keepInside(before, own, mask, depth, field);
      else {
        const replacement = mask.apply?.(fate, before, field);
        if (fate.action === 'drop') delete copy[own];
        else copy[own] = replacement;
      }
      continue;
    }
    if (typeof before === 'boolean') continue;
    const names = namesIn?.get(own);
    let after: unknown;
    if (typeof before === 'string') {
      after = keep(own, before) ? before : mask.text(before, own, within, undefined, names);
    } else if (typeof before === 'number') {
      after = mask.number?.(before, own, within, names) ?? before;
    } else {
      after = walkInside(before, own, mask, depth, { key: own, within, names });
    }
    // `__proto__` too: as an own property of the copy it is data.
    if (after !== before) copy[own] = after;
  }
  return renamed === undefined ? withoutSymbols(copy) : withRenamedKeys(copy, renamed);
}

/** The value of a field that is kept: only fields inside it that have a fate of their own are masked. */
function keepInside(value: unknown, at: string, mask: MaskFields, depth: number, field: Field): unknown {
  return walkInside(value, at, keeping(mask), depth, field);
}

const keeping = ({ policyOf, apply, lenient }: MaskFields): MaskFields => ({
  text: (text) => text,
  policyOf,
  apply,
  lenient,
});

/** Keys that become equal are numbered, so that no value is lost. */
function withRenamedKeys(
  record: Readonly<Record<string, unknown>>,
  renamed: ReadonlyMap<string, string>,
): object {
  const keys = Object.keys(record);
  const taken = new Set(keys.filter((key) => !renamed.has(key)));
  const counts = new Map<string, number>();
  const entries = keys.map((key) => {
    const shown = renamed.get(key);
    if (shown === undefined) return [key, record[key]];
    let count = counts.get(shown) ?? 1;
    const numbered = () => (count === 1 ? shown : `${shown}_${count}`);
    while (taken.has(numbered())) count++;
    taken.add(numbered());
    const entry = [numbered(), record[key]];
    counts.set(shown, count + 1);
    return entry;
  });
  return Object.fromEntries(entries);
}

function walkArray(
  source: readonly unknown[],
  mask: MaskFields,
  depth: number,
  field: Field | undefined,
): unknown {
  const { length } = source;
  const shown: unknown[] = [];
  let previous: string | undefined;
  for (let i = 0; i < length; i++) {
    const before = read(source, i);
    let after = before;
    if (typeof before === 'string')
      after = mask.text(before, field?.key, field?.within, previous, field?.names);
    else if (!isSimple(before) || typeof before === 'number')
      after = walkInside(before, i, mask, depth, field);
    else if (before === undefined && !Object.hasOwn(source, i) && mask.lenient === undefined)
      throw new Refusal('a sparse array');
    shown.push(after);
    previous = typeof before === 'string' ? before : undefined;
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
  field: Field | undefined,
): unknown {
  try {
    return walk(value, mask, depth + 1, keepNone, field);
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
function copyOf(
  source: Readonly<Record<string, unknown>>,
  lenient: Leniency | undefined,
): Record<string, unknown> {
  try {
    return { ...source };
  } catch {
    if (lenient === undefined) throw new Refusal('an object that cannot be read');
    return copyOfReadable(source, lenient);
  }
}

function copyOfReadable(
  source: Readonly<Record<string, unknown>>,
  lenient: Leniency,
): Record<string, unknown> {
  const entries = Object.keys(source).map((key): [string, unknown] => {
    try {
      return [key, source[key]];
    } catch {
      return [key, lenient.replace('a field that cannot be read')];
    }
  });
  return Object.fromEntries(entries);
}

function withoutSymbols(copy: object): object {
  const symbols = Object.getOwnPropertySymbols(copy);
  for (let i = 0; i < symbols.length; i++) Reflect.deleteProperty(copy, symbols[i] as symbol);
  return copy;
}

const BINARY = new Set(['ArrayBuffer', 'SharedArrayBuffer', 'Blob', 'File']);
const REFUSED = new Set(['Map', 'Set', 'BigInt', 'Symbol']);

/**
 * What JSON shows of an object, as a value that a mask can walk: a plain object or an array is itself, a `Date`
 * stays, everything else is replaced. Never the object itself when it could hold what `Object.keys` does not show.
 *
 * @throws Refusal for what has no form that a mask can see into, and for what throws while it is read.
 */
function plainForm(value: object, isLenient: boolean): unknown {
  try {
    const prototype = Object.getPrototypeOf(value);
    const toJSON: unknown = (value as { toJSON?: unknown }).toJSON;
    if (typeof toJSON !== 'function') {
      if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return value;
    }
    return unusualForm(value, prototype, toJSON, isLenient);
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('an object that cannot be read');
  }
}

function unusualForm(value: object, prototype: object | null, toJSON: unknown, isLenient: boolean): unknown {
  const type = Object.prototype.toString.call(value).slice(8, -1);
  // Before `toJSON`: a Buffer has one, which spells a secret in numbers.
  if (ArrayBuffer.isView(value) || BINARY.has(type)) throw new Refusal(`a value of type ${type}`);
  if (typeof toJSON === 'function') {
    if (isPlainDate(value, prototype)) return value;
    const shown: unknown = toJSON.call(value, '');
    return shown === value ? ownProperties(value) : shown;
  }
  if (REFUSED.has(type) && !isLenient) throw new Refusal(`a value of type ${type}`);
  if (type === 'String') return String(value);
  if (type === 'Number') return Number(value);
  if (type === 'Boolean') return Boolean.prototype.valueOf.call(value);
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    const hidden = isLenient ? { stack, ...(cause === undefined ? {} : { cause }) } : {};
    return { name, message, ...hidden, ...(value as object) };
  }
  // A plain object of another realm (a vm context, a worker's message).
  if (prototype !== null && Object.getPrototypeOf(prototype) === null) return value;
  return ownProperties(value);
}

/** What JSON makes of a Buffer and of other typed arrays, which spells a secret in numbers or in base64. */
function isBytes(record: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  const { type, data } = record;
  if (type === 'Buffer' && (Array.isArray(data) || (typeof data === 'string' && keys.length === 2)))
    return true;
  return keys.length > 1 && keys.every((key, index) => key === String(index) && isByte(record[key]));
}

const isByte = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= -128 && (value as number) <= 0xffff;

/** A date whose `toJSON` shows the time and nothing else. */
function isPlainDate(value: object, prototype: object | null): boolean {
  return prototype === Date.prototype && Reflect.ownKeys(value).length === 0;
}

function ownProperties(value: object): unknown {
  return Array.isArray(value) ? Array.from(value) : { ...value };
}

/** A mask for plain strings and for events: objects of which every field is masked. */
export interface Masker {
  (text: string): string;
  <T extends string | object>(value: T): Masked<T>;
}

// Bounded in every part, so that no run of digits can pose as a fraction of a second.
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

/** Events of one batch share their timestamp: the one known to be good needs no second look. */
let lastGood: string | undefined;

function isTimeOfEvent(key: string, text: string): boolean {
  if (key !== 'timestamp' && key !== 'stamp') return false;
  if (text === lastGood) return true;
  if (!DATE_TIME.test(text)) return false;
  lastGood = text;
  return true;
}

/**
 * Masks every string of every field of an event, as {@link maskStrings} does. It does not change `timestamp` and `stamp`
 * of the event itself, if they are ISO 8601 date-times with a zone.
 *
 * @throws MaskError for a value that cannot be masked; the event must not be forwarded then.
 *
 * @example
 * maskEvent({ timestamp: '2026-01-01T00:00:00Z', data: { pin: '2026' } }, () => '***');
 * // { timestamp: '2026-01-01T00:00:00Z', data: { pin: '***' } }
 */
export function maskEvent<T extends object>(event: T, maskText: MaskText): Masked<T> {
  return maskFieldsOf(event, { text: (text) => maskText(text) });
}

/** A value of any kind as JSON shows it, masked. */
export function maskValue(value: unknown, mask: MaskFields & { readonly lenient: Leniency }): unknown {
  return walk(value, mask, 0, keepNone);
}

/** {@link maskEvent} with a mask that may replace numbers as well. */
export function maskFieldsOf<T extends object>(event: T, mask: MaskFields): Masked<T> {
  return walkFromTop(event, mask, isTimeOfEvent);
}

/** Makes a mask for text into one for text and events alike. */
export function maskerOf(maskText: MaskText): Masker {
  return ((value: string | object) =>
    typeof value === 'object' && value !== null
      ? maskEvent(value, maskText)
      : maskStrings(value, maskText)) as Masker;
}
