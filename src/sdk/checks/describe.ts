import { printable, truncate } from '../printable.ts';
import { MAX_COUNT } from '../schema-parts.ts';

/** A number as the specification prints it: 2^63 in full, which `String` would not. */
export function formatNumber(value: number | bigint): string {
  return value === MAX_COUNT ? '9223372036854775807' : String(value);
}

/** A value in the words of a message: `the string "abc"`, `-1`, `a list`. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return `the string ${JSON.stringify(truncate(value))}`;
  if (typeof value === 'number' || typeof value === 'bigint') return formatNumber(value);
  if (value === null) return 'nothing (null)';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'boolean' ? String(value) : `a value of type ${typeof value}`;
}

/** `a`, `a or b`, `a, b or c`. */
export function either(words: readonly string[]): string {
  const distinct = [...new Set(words)];
  const last = distinct.pop() ?? '';
  return distinct.length === 0 ? last : `${distinct.join(', ')} or ${last}`;
}

/** Names in back-ticks, separated by commas. */
export function nameListing(names: readonly string[]): string {
  return names.map((name) => `\`${printable(name)}\``).join(', ');
}
