const HALF_BASE = 2 ** 16;
const SECOND = 1_000_000_000;
const DAY_SECONDS = 86_400;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** Records of one day follow each other. */
let lastDay = 0;
let lastDate = '1970-01-01';

/**
 * A time in nanoseconds since 1970, as ISO 8601 with nine digits of a second: 64 bits as two numbers, because a bigint takes ten
 * times as long. Undefined for 0, which means that the time is not known.
 *
 * @example
 * timeText(0, 1); // '1970-01-01T00:00:00.000000001Z'
 */
export function timeText(high: number, low: number): string | undefined {
  if (high === 0 && low === 0) return undefined;
  // Long division in halves of 32 bits, which stay exact.
  let seconds = Math.floor(high / SECOND);
  let rest = high - seconds * SECOND;
  for (const half of [low >>> 16, low & (HALF_BASE - 1)]) {
    rest = rest * HALF_BASE + half;
    const quotient = Math.floor(rest / SECOND);
    seconds = seconds * HALF_BASE + quotient;
    rest -= quotient * SECOND;
  }
  const day = Math.floor(seconds / DAY_SECONDS);
  if (day !== lastDay) {
    lastDay = day;
    // The largest number that 64 bits hold is in the year 2554.
    lastDate = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
  }
  const ofDay = seconds - day * DAY_SECONDS;
  const hour = TWO_DIGITS[Math.floor(ofDay / 3600)];
  const minute = TWO_DIGITS[Math.floor(ofDay / 60) % 60];
  return `${lastDate}T${hour}:${minute}:${TWO_DIGITS[ofDay % 60]}.${String(SECOND + rest).slice(1)}Z`;
}
