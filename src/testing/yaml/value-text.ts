import { truncate } from '../../checks/describe.ts';

const LONGEST = 160;

/** A value as JSON on one line, cut to a length that still shows what it is. An expression stands as it is. */
export function valueText(value: unknown): string {
  if (typeof value === 'string' && /^\/.+\/[a-z]*$/s.test(value)) return truncate(value, LONGEST);
  const text = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item));
  return truncate(text ?? String(value), LONGEST);
}
