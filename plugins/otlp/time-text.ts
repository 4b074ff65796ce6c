import { Buffer } from 'node:buffer';
import { viewOf } from '../http/byte-writer.ts';

const WORD = 2 ** 32;
const SECOND = 1_000_000_000;
const DAY_SECONDS = 86_400;
const ZERO = 0x30;

/** Of the last time: the next one is of the same day, as a rule. */
const text = Buffer.from('1970-01-01T00:00:00.000000000Z');
const view = viewOf(text);
let lastSecond = 0;
let lastDay = 0;

/**
 * A time in nanoseconds since 1970, as ISO 8601 with nine digits of a second: 64 bits as two numbers, because a bigint takes ten
 * times as long. Undefined for 0, which means that the time is not known.
 *
 * @example
 * timeText(0, 1); // '1970-01-01T00:00:00.000000001Z'
 */
export const timeText = (high: number, low: number) =>
  timeBytes(high, low) === undefined ? undefined : text.toString('latin1');

/** The bytes of the text, which are valid until the next call. */
export function timeBytes(high: number, low: number): DataView | undefined {
  if (high === 0 && low === 0) return undefined;
  // The sum is not exact, so the second may be the one before or after it. The remainder is, and shows it.
  let seconds = Math.floor((high * WORD + low) / SECOND);
  let nanoseconds = (low - Math.imul(seconds, SECOND)) | 0;
  if (nanoseconds < 0) {
    seconds--;
    nanoseconds += SECOND;
  } else if (nanoseconds >= SECOND) {
    seconds++;
    nanoseconds -= SECOND;
  }
  if (seconds !== lastSecond) writeSecond(seconds);
  writeDigits(20, 9, nanoseconds);
  return view;
}

function writeSecond(seconds: number): void {
  lastSecond = seconds;
  const day = Math.floor(seconds / DAY_SECONDS);
  if (day !== lastDay) {
    lastDay = day;
    // The largest number that 64 bits hold is in the year 2554.
    text.write(new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10), 'latin1');
  }
  const ofDay = seconds - day * DAY_SECONDS;
  writeDigits(11, 2, Math.floor(ofDay / 3600));
  writeDigits(14, 2, Math.floor(ofDay / 60) % 60);
  writeDigits(17, 2, ofDay % 60);
}

function writeDigits(start: number, count: number, number: number): void {
  let left = number | 0;
  for (let at = start + count - 1; at >= start; at--) {
    const others = (left / 10) | 0;
    text[at] = ZERO + left - others * 10;
    left = others;
  }
}
