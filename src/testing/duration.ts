import { MillraceError } from '../sdk/errors.ts';
import { MILLISECONDS, millisecondsIn } from '../sdk/quantities.ts';

/** Milliseconds, or a number with a unit, or several: `250ms`, `3s`, `1.5m`, `1m3.003s`, `2h`, `1d`. */
export type Duration = number | string;

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
  const ms = millisecondsIn(String(duration));
  if (ms !== undefined) return ms;
  const message = `\`${duration}\` is not a duration; expected a number with a unit, such as 250ms, 3s, 1m30s, 2h or 1d`;
  throw new MillraceError('MILLRACE_TEST_DURATION', message);
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
    const amount = ms / (MILLISECONDS[unit] as number);
    if (amount >= 1 && Number.isInteger(amount * 10)) return `${amount}${unit}`;
  }
  return `${ms}ms`;
}
