import { inspect, types } from 'node:util';
import type { Redactor } from './create-redactor.ts';
import { emptyErrorLike, read } from './errors.ts';

/*
 * `util.inspect` shows more than JSON: classes, maps, sets, hidden fields of errors and cycles. So a value is described as JSON first,
 * which is masked, and the value is copied with what has become of it. What has a form of its own, such as a URL or a promise,
 * stays: it is masked in the text that `inspect` makes of it.
 */

type Shape = 'array' | 'map' | 'set' | 'object';

/** What of a value `inspect` shows. */
export interface Extent {
  /** Levels below the first one. */
  readonly depth: number;
  /** Whether it shows properties that are not enumerable. */
  readonly hidden: boolean;
}

/** A value of which `inspect` shows what the value has, with that in it masked. It is the value itself if there is nothing to mask. */
export function inspectable(redactor: Redactor, value: unknown, extent: Extent): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const described = describe(value, extent, new Map());
  const masked: unknown = redactor.redact(described);
  return areSame(described, masked, new Set()) ? value : copy(value, masked, extent, new Map());
}

/** What a value has, as JSON. Null for what `inspect` shows in another way. */
function describe(value: unknown, extent: Extent, known: Map<object, unknown>): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'symbol' || typeof value === 'function') return null;
  if (typeof value !== 'object' || value === null) return value;
  // The redactor replaces it.
  if (isBinary(value)) return value;
  const shape = extent.depth < 0 ? undefined : shapeOf(value);
  if (shape === undefined) return null;
  const before = known.get(value);
  if (before !== undefined) return before;
  const described: unknown[] | Record<string, unknown> = shape === 'array' || shape === 'set' ? [] : {};
  known.set(value, described);
  for (const [key, part] of partsOf(value, shape, extent)) {
    Object.defineProperty(described, key, {
      value: describe(part, deeper(extent), known),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return described;
}

function copy(value: unknown, masked: unknown, extent: Extent, known: Map<object, unknown>): unknown {
  if (typeof value === 'string' || typeof value === 'number') return masked;
  if (typeof value === 'bigint') return masked === String(value) ? value : masked;
  if (typeof value !== 'object' || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  if (typeof masked === 'string') return masked;
  const shape = extent.depth < 0 ? undefined : shapeOf(value);
  if (shape === undefined || typeof masked !== 'object' || masked === null) return value;
  const made = emptyOf(value, shape);
  known.set(value, made);
  const shown = Object.entries(masked);
  const parts = partsOf(value, shape, extent);
  parts.forEach(([key, part, own], index) => {
    // Where some keys are missing, fields were dropped. Otherwise, keys were masked.
    const isRenamed = !Object.hasOwn(masked, key);
    if (isRenamed && shown.length < parts.length) return;
    const [shownKey, after] = isRenamed
      ? (shown[index] as [string, unknown])
      : [key, (masked as Record<string, unknown>)[key]];
    // Without what has been put in front of it.
    const name =
      typeof own === 'string' && shape !== 'array' ? shownKey.slice(key.length - own.length) : shownKey;
    const copied = copy(part, after, deeper(extent), known);
    if (shape === 'set') (made as Set<unknown>).add(copied);
    else if (shape === 'map')
      (made as Map<unknown, unknown>).set(typeof own === 'string' ? name : own, copied);
    else put(made, typeof own === 'string' ? name : (own as symbol), copied, value, own as string);
  });
  return made;
}

const deeper = (extent: Extent): Extent => ({ ...extent, depth: extent.depth - 1 });

/** Getters are shown as such, and not called. */
function put(made: object, key: string | symbol, value: unknown, from: object, own: string): void {
  const before = Object.getOwnPropertyDescriptor(from, own);
  const isGetter = before?.get !== undefined && !types.isNativeError(from);
  const enumerable = before?.enumerable ?? false;
  Object.defineProperty(
    made,
    key,
    isGetter ? (before as object) : { value, enumerable, configurable: true, writable: true },
  );
}

/** The parts of a value: each with its key in JSON, and its own key. The keys in JSON are in this order, and no two are the same. */
function partsOf(
  value: object,
  shape: Shape,
  { hidden }: Extent,
): readonly (readonly [key: string, part: unknown, own: unknown])[] {
  if (shape === 'set') return [...(value as Set<unknown>)].map((part, index) => [String(index), part, index]);
  const taken = new Set<string>();
  const unique = (key: string) => {
    let name = key;
    while (taken.has(name)) name = `.${name}`;
    taken.add(name);
    return name;
  };
  if (shape === 'map')
    return [...(value as Map<unknown, unknown>)].map(([own, part]) => {
      const key = typeof own === 'string' ? own : '';
      // JavaScript puts keys that are numbers in front of others.
      return [unique(/^\d*$/.test(key) ? `.${key}` : key), part, own];
    });
  const keys = Reflect.ownKeys(value).filter((key) => isShown(value, key, shape, hidden));
  return keys.map((key, index) => {
    const isGetter =
      Object.getOwnPropertyDescriptor(value, key)?.get !== undefined && !types.isNativeError(value);
    return [
      // Of an array with holes, what is there stands side by side.
      shape === 'array' ? String(index) : unique(key.toString()),
      isGetter ? null : read(value, key as string),
      key,
    ];
  });
}

function isShown(value: object, key: string | symbol, shape: Shape, hidden: boolean): boolean {
  if (shape === 'array') return typeof key === 'string' && /^\d+$/.test(key);
  return hidden || types.isNativeError(value) || Object.prototype.propertyIsEnumerable.call(value, key);
}

function shapeOf(value: object): Shape | undefined {
  // Traps of a proxy would run, which `inspect` does not do.
  if (types.isProxy(value) || typeof read(value, inspect.custom as unknown as string) === 'function')
    return undefined;
  if (Array.isArray(value)) return 'array';
  if (types.isMap(value)) return 'map';
  if (types.isSet(value)) return 'set';
  const tag = Object.prototype.toString.call(value);
  return tag === '[object Object]' || types.isNativeError(value) || !isOfPlatform(value)
    ? 'object'
    : undefined;
}

/** Dates, promises and the like, whose content is no field. */
const isOfPlatform = (value: object): boolean =>
  types.isDate(value) ||
  types.isRegExp(value) ||
  types.isPromise(value) ||
  types.isBoxedPrimitive(value) ||
  types.isWeakMap(value) ||
  types.isWeakSet(value) ||
  types.isMapIterator(value) ||
  types.isSetIterator(value) ||
  types.isGeneratorObject(value) ||
  types.isModuleNamespaceObject(value) ||
  types.isExternal(value);

const isBinary = (value: object): boolean => ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);

function emptyOf(value: object, shape: Shape): object {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (types.isNativeError(value)) return emptyErrorLike(value);
  if (shape === 'object') return Object.create(prototype) as object;
  const made = shape === 'array' ? [] : shape === 'map' ? new Map() : new Set();
  if (Array.isArray(made)) made.length = (value as unknown[]).length;
  return Object.setPrototypeOf(made, prototype);
}

/** @param around what is compared already, where it is in a cycle */
function areSame(described: unknown, masked: unknown, around: Set<object>): boolean {
  if (typeof described !== 'object' || described === null)
    return Object.is(described, masked) || described === undefined;
  if (around.has(described)) return true;
  around.add(described);
  if (typeof masked !== 'object' || masked === null) return false;
  const shown = Object.entries(masked);
  return Object.entries(described).every(([key, value], index) => {
    const [name, after] = shown[index] ?? [];
    return name === key && areSame(value, after, around);
  });
}
