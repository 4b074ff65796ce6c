import { isEvent } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { isoNow } from '../sdk/time.ts';

/** What a letter of a marble string stands for; see {@link toData}. */
export type MarbleValues = Readonly<Record<string, unknown>>;

/**
 * The data of the event that a value stands for: a string is a line, an event stands for itself, another object is
 * the data, and anything else is `{ value }`. A letter without a value is the data `{ value: letter }`.
 *
 * @example
 * toData('GET /'); // { line: 'GET /' }
 * toData({ user: 'ada' }); // { user: 'ada' }
 */
export function toData(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'string') return { line: value };
  if (isEvent(value)) return value.data;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  return { value };
}

/** The event that a value stands for, stamped with the virtual time. */
export function toEvent(value: unknown): CollectedEvent {
  return isEvent(value)
    ? { ...value, timestamp: value.timestamp ?? isoNow() }
    : { timestamp: isoNow(), data: toData(value) };
}

/** The value of a letter. */
export function letterValue(letter: string, values: MarbleValues | undefined): unknown {
  return values !== undefined && Object.hasOwn(values, letter) ? values[letter] : { value: letter };
}
