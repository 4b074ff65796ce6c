import { MillraceError } from '../sdk/errors.ts';
import { DURATION } from '../sdk/test-values.ts';

/** Milliseconds, or a number with a unit, or several: `250ms`, `3s`, `1.5m`, `1m3.003s`, `2h`, `1d`. */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration in milliseconds.
 *
 * @throws MillraceError `MILLRACE_TEST_DURATION` for anything else
 * @example
 * toMilliseconds('1.5m'); // 90000
 * toMilliseconds('1m3.003s'); // 63003
 */
export function toMilliseconds(duration: Duration): number {
  if (typeof duration === 'number' && duration >= 0) return duration;
  const text = String(duration).trim();
  if (!DURATION.test(text)) {
    const message = `\`${duration}\` is not a duration; expected a number with a unit, such as 250ms, 3s, 1m30s, 2h or 1d`;
    throw new MillraceError('MILLRACE_TEST_DURATION', message);
  }
  let sum = 0;
  for (const [, digits, unit] of text.matchAll(/([\d.]+)\s*(ms|[smhd])/g)) {
    sum += Number(digits) * (UNITS[unit as string] as number);
  }
  // 3.003 s is 3003 ms, and not 3002.9999999999995.
  return Math.round(sum * 1e6) / 1e6;
}

/**
 * The shortest exact way to write milliseconds: for marbles and for messages.
 *
 * @example
 * durationText(90_000); // '1.5m'
 * durationText(1234); // '1234ms'
 */
export function durationText(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const amount = ms / (UNITS[unit] as number);
    if (amount >= 1 && Number.isInteger(amount * 10)) return `${amount}${unit}`;
  }
  return `${ms}ms`;
}
