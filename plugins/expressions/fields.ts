type Fields = Readonly<Record<string, unknown>>;
/** Fields of an object that nobody else has yet. */
type OwnFields = Record<string, unknown>;

/** The name of a field of `data`; dots lead into nested objects, unless a field has the whole name. */
export type FieldPath = readonly string[];

export const fieldPath = (name: string): FieldPath => name.split('.');

/**
 * The keys that lead to a field, from the outermost; undefined if there is no such field. Keys may have dots: of
 * `log.level`, the key `log.level` comes before `level` in `log`.
 */
function findField(data: Fields, path: FieldPath): FieldPath | undefined {
  if (path.length === 1) return Object.hasOwn(data, path[0] as string) ? path : undefined;
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join('.');
    if (!Object.hasOwn(data, key)) continue;
    const inner = data[key];
    if (length === path.length) return [key];
    const rest = isFields(inner) ? findField(inner, path.slice(length)) : undefined;
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

/** Undefined if there is no such field. */
export function getField(data: Fields, path: FieldPath): unknown {
  return findField(data, path)?.reduce<unknown>((value, key) => (value as Fields)[key], data);
}

/** A copy with a field more, or another value of it. A value on the path to it that is not an object is replaced by one. */
export function withField(data: Fields, path: FieldPath, value: unknown): OwnFields {
  return withValueAt(data, findField(data, path) ?? path, value);
}

function withValueAt(data: Fields, [first = '', ...rest]: FieldPath, value: unknown): OwnFields {
  if (rest.length === 0) return { ...data, [first]: value };
  const inner = Object.hasOwn(data, first) ? data[first] : undefined;
  return { ...data, [first]: withValueAt(isFields(inner) ? inner : {}, rest, value) };
}

/** A copy without a field; the same object if there is none. */
export function withoutField(data: Fields, path: FieldPath): Fields {
  const found = findField(data, path);
  return found === undefined ? data : withoutKeys(data, found);
}

function withoutKeys(data: Fields, [first = '', ...rest]: FieldPath): Fields {
  const { [first]: inner, ...others } = data;
  return rest.length === 0 ? others : { ...data, [first]: withoutKeys(inner as Fields, rest) };
}

/** A copy without a field, and with the fields of `others` after those that are left. */
export function replaceField(data: Fields, path: FieldPath, others: Fields): OwnFields {
  const found = findField(data, path);
  const [key] = found?.length === 1 ? found : [];
  const rest = found === undefined || key !== undefined ? data : withoutKeys(data, found);
  const merged: OwnFields = {};
  addFields(merged, rest, key);
  addFields(merged, others);
  return merged;
}

/** V8 takes ten times as long for a spread into an object that has fields, or without a key that is not constant. */
export function addFields(target: OwnFields, fields: Fields, except?: string): void {
  for (const key of Object.keys(fields)) {
    if (key !== except) setField(target, key, fields[key]);
  }
}

/** Sets a field in place. A name such as `__proto__` is a field like any other. */
export function setField(fields: OwnFields, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(fields, name, { ...FIELD, value });
  else fields[name] = value;
}

const FIELD = { configurable: true, enumerable: true, writable: true };

/** Only these fields, each at its place. */
export function onlyFields(data: Fields, paths: readonly FieldPath[]): Fields {
  return paths.reduce<Fields>((kept, path) => {
    const found = findField(data, path);
    return found === undefined ? kept : withValueAt(kept, found, getField(data, path));
  }, {});
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
