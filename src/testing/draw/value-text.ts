import { inspect } from 'node:util';
import { shorten } from '../../graph/words.ts';
import { printable } from '../../sdk/printable.ts';

/**
 * A value on one line: a string in quotes, anything else as Node shows it.
 *
 * @example
 * valueText({ n: 1 }, 20); // '{ n: 1 }'
 */
export function valueText(value: unknown, longest: number): string {
  if (typeof value === 'string') return `"${shorten(quotable(value), longest)}"`;
  return shorten(
    printable(inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY, compact: true })),
    longest,
  );
}

/** The inside of a quoted string. */
export function quotable(text: string): string {
  return printable(text.replace(/["\\]/g, '\\$&'));
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'm'],
  [1000, 's'],
] as const;

/**
 * A time exactly to the millisecond, units that are zero left out.
 *
 * @example
 * timeText(5003); // '5.003s'
 * timeText(3_600_001); // '1h1ms'
 */
export function timeText(ms: number): string {
  const whole = Math.round(ms);
  const rest = whole % MINUTE;
  const parts: [number, string][] = [
    [Math.floor(whole / DAY), 'd'],
    [Math.floor((whole % DAY) / HOUR), 'h'],
    [Math.floor((whole % HOUR) / MINUTE), 'm'],
    rest < 1000 ? [rest, 'ms'] : [rest / 1000, 's'],
  ];
  const shown = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`);
  return shown.join('') || '0';
}

/**
 * How long something takes, to two digits: for gaps, whose exact ends are on the axis, and for waits.
 *
 * @example
 * gapText(412.3); // '412ms'
 * gapText(5001); // '5s'
 * gapText(5_400_000); // '1.5h'
 */
export function gapText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const [size, unit] = UNITS.find(([unitSize]) => ms >= unitSize) as (typeof UNITS)[number];
  const amount = ms / size;
  return `${amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)}${unit}`;
}
