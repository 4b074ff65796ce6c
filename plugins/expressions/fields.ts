type Fields = Readonly<Record<string, unknown>>;

/** The name of a field of `data`; dots lead into nested objects. */
export type FieldPath = readonly string[];

export const fieldPath = (name: string): FieldPath => name.split('.');

/** Undefined if there is no such field. */
export function getField(data: Fields, [first = '', ...rest]: FieldPath): unknown {
  const value = Object.hasOwn(data, first) ? data[first] : undefined;
  if (rest.length === 0) return value;
  return isFields(value) ? getField(value, rest) : undefined;
}

/** A copy with a field more, or another value of it. What is no object on the way to it is replaced by one. */
export function withField(data: Fields, [first = '', ...rest]: FieldPath, value: unknown): Fields {
  if (rest.length === 0) return { ...data, [first]: value };
  const inner = Object.hasOwn(data, first) ? data[first] : undefined;
  return { ...data, [first]: withField(isFields(inner) ? inner : {}, rest, value) };
}

/** A copy without a field; the same object if there is none. */
export function withoutField(data: Fields, [first = '', ...rest]: FieldPath): Fields {
  if (!Object.hasOwn(data, first)) return data;
  const { [first]: inner, ...others } = data;
  if (rest.length === 0) return others;
  return isFields(inner) ? { ...data, [first]: withoutField(inner, rest) } : data;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
