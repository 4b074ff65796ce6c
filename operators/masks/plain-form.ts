import { Refusal } from './mask-error.ts';

const BINARY = new Set(['ArrayBuffer', 'SharedArrayBuffer', 'Blob', 'File']);
const REFUSED = new Set(['Map', 'Set', 'BigInt', 'Symbol']);

/**
 * What JSON shows of an object, as a value that a mask can walk: a plain object or an array is itself, a `Date`
 * stays, everything else is replaced. Never the object itself when it could hold what `Object.keys` does not show.
 *
 * @throws Refusal for what has no form that a mask can see into, and for what throws while it is read.
 */
export function plainForm(value: object): unknown {
  try {
    const prototype = Object.getPrototypeOf(value);
    const toJSON: unknown = (value as { toJSON?: unknown }).toJSON;
    if (typeof toJSON !== 'function') {
      if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return value;
    }
    return unusualForm(value, prototype, toJSON);
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('an object that cannot be read');
  }
}

function unusualForm(value: object, prototype: object | null, toJSON: unknown): unknown {
  const type = Object.prototype.toString.call(value).slice(8, -1);
  // Before `toJSON`: a Buffer has one, which spells a secret in numbers.
  if (ArrayBuffer.isView(value) || BINARY.has(type)) throw new Refusal(`a value of type ${type}`);
  if (typeof toJSON === 'function') {
    if (isPlainDate(value, prototype)) return value;
    const shown: unknown = toJSON.call(value, '');
    return shown === value ? ownProperties(value) : shown;
  }
  if (REFUSED.has(type)) throw new Refusal(`a value of type ${type}`);
  if (type === 'String') return String(value);
  if (type === 'Number') return Number(value);
  if (type === 'Boolean') return Boolean.prototype.valueOf.call(value);
  if (value instanceof Error) return { name: value.name, message: value.message, ...(value as object) };
  // A plain object of another realm (a vm context, a worker's message).
  if (prototype !== null && Object.getPrototypeOf(prototype) === null) return value;
  return ownProperties(value);
}

/** A date whose `toJSON` shows the time and nothing else. */
function isPlainDate(value: object, prototype: object | null): boolean {
  return prototype === Date.prototype && Reflect.ownKeys(value).length === 0;
}

function ownProperties(value: object): unknown {
  return Array.isArray(value) ? Array.from(value) : { ...value };
}
