import { MillraceError } from '../sdk/errors.ts';

/** Milliseconds, or a number with a unit: `250ms`, `3s`, `1.5m`, `2h`, `1d`. */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration in milliseconds.
 *
 * @throws MillraceError `MILLRACE_TEST_DURATION` for anything else
 * @example
 * toMilliseconds('1.5m'); // 90000
 */
export function toMilliseconds(duration: Duration): number {
  if (typeof duration === 'number' && duration >= 0) return duration;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(String(duration).trim()) ?? [];
  if (digits === undefined || unit === undefined) {
    const message = `\`${duration}\` is not a duration; expected a number with a unit, such as 250ms, 3s, 5m, 2h or 1d`;
    throw new MillraceError('MILLRACE_TEST_DURATION', message);
  }
  return Number(digits) * (UNITS[unit] as number);
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
