import { type MaskFields, type MaskText, maskStrings, walkFromTop } from './mask-strings.ts';
import type { Masked } from './masked.ts';

/** A mask for plain strings and for events: objects of which every field is masked. */
export interface Masker {
  (text: string): string;
  <T extends string | object>(value: T): Masked<T>;
}

// Bounded in every part, so that no run of digits can pose as a fraction of a second.
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

/** Events of one batch share their timestamp: the one known to be good needs no second look. */
let lastGood: string | undefined;

function isTimeOfEvent(key: string, text: string): boolean {
  if (key !== 'timestamp' && key !== 'stamp') return false;
  if (text === lastGood) return true;
  if (!DATE_TIME.test(text)) return false;
  lastGood = text;
  return true;
}

/**
 * Masks every string of every field of an event, as {@link maskStrings} does. Only `timestamp` and `stamp` of the
 * event itself stay, and only when they really are ISO 8601 date-times with a zone.
 *
 * @throws MaskError for what cannot be masked; the event must not pass on.
 *
 * @example
 * maskEvent({ timestamp: '2026-01-01T00:00:00Z', data: { pin: '2026' } }, () => '***');
 * // { timestamp: '2026-01-01T00:00:00Z', data: { pin: '***' } }
 */
export function maskEvent<T extends object>(event: T, maskText: MaskText): Masked<T> {
  return maskFieldsOf(event, { text: (text) => maskText(text) });
}

/** {@link maskEvent} with a mask that may replace numbers as well. */
export function maskFieldsOf<T extends object>(event: T, mask: MaskFields): Masked<T> {
  return walkFromTop(event, mask, isTimeOfEvent);
}

/** Makes a mask for text into one for text and events alike. */
export function maskerOf(maskText: MaskText): Masker {
  return ((value: string | object) =>
    typeof value === 'object' && value !== null
      ? maskEvent(value, maskText)
      : maskStrings(value, maskText)) as Masker;
}
