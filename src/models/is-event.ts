import type { CollectedEvent } from './events.ts';

// Apart from the schemas: workers need this, and zod takes them longer to load than all else.

/**
 * Whether a plugin's value is an event: an object whose `data` is an object.
 *
 * @example
 * isEvent({ data: { user: 'ada' } }); // true
 * isEvent({ user: 'ada' }); // false
 */
export function isEvent(value: unknown): value is CollectedEvent {
  if (typeof value !== 'object' || value === null) return false;
  const data = (value as { data?: unknown }).data;
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
