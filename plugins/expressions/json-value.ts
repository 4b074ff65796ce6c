import { PluginError } from '../../src/sdk/index.ts';

/**
 * What an expression gave, as JSON shows it: times and bytes as strings, whole numbers beyond 2^53 as strings of digits.
 *
 * @param field that the value is for, for the message
 * @throws PluginError for what JSON cannot show
 */
export function toJsonValue(value: unknown, field: string): unknown {
  const refuse = (what: string) => new PluginError(`the expression for the field \`${field}\` gave ${what}`);
  const convert = (inner: unknown) => toJsonValue(inner, field);
  const toFields = (entries: readonly (readonly [unknown, unknown])[]) =>
    Object.fromEntries(entries.map(([key, each]) => [String(key), convert(each)]));

  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw refuse('no finite number, as a division by zero does, which JSON cannot show');
  }
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refuse('no valid time');
    return value.toISOString();
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(convert);
  if (value instanceof Map) return toFields([...value]);
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    return toFields(Object.entries(value));
  }
  // An unsigned number of CEL.
  if (typeof value === 'object' && typeof value.valueOf() === 'bigint') return convert(value.valueOf());
  throw refuse('a value that JSON cannot show; of a duration, write .getSeconds()');
}
