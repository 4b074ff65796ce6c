import type { Spread } from '../measure/statistics.ts';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `1,234,567`. */
export function count(value: number): string {
  return whole.format(value);
}

/** `1.23 ×`. */
export function times(value: number): string {
  return `${value.toFixed(2)} ×`;
}

/** `12 ms`; below 10, with a digit more. */
export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : count(value)} ms`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** In units of 10⁶ bytes. */
export function megabytes(bytes: number): string {
  return `${count(bytes / 1e6)} MB`;
}

/** `120 (110–130)`: the median and the range, if there is one. */
export function range({ min, median, max }: Spread, format: (value: number) => string): string {
  if (min === max) return format(median);
  return `${format(median)} (${format(min)}–${format(max)})`;
}

/** So many per second of what took `ms` for `n`. */
export function perSecond(n: number, ms: number): number {
  return (n / ms) * 1000;
}

/** `340 ns`. */
export function nanoseconds(value: number): string {
  return `${count(value)} ns`;
}

/** `3.4 µs`. */
export function microseconds(value: number): string {
  return `${value < 100 ? value.toFixed(1) : count(value)} µs`;
}
