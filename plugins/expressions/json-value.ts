import { PluginError } from '../../src/sdk/index.ts';

/**
 * What an expression gave, as JSON shows it: times and bytes as strings, whole numbers beyond 2^53 as strings of digits.
 *
 * @throws PluginError for what JSON cannot show
 */
export function toJsonValue(value: unknown): unknown {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (value instanceof Map) return toFields([...value]);
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    return toFields(Object.entries(value));
  }
  // An unsigned number of CEL.
  if (typeof value === 'object' && typeof value.valueOf() === 'bigint') return toJsonValue(value.valueOf());
  throw new PluginError('an expression gave a value that JSON cannot show');
}

const toFields = (entries: readonly (readonly [unknown, unknown])[]) =>
  Object.fromEntries(entries.map(([key, value]) => [String(key), toJsonValue(value)]));
