import type { CollectedEvent } from './events.ts';

// In a file of its own, because workers need it, and must not load the schemas and zod with it.

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
