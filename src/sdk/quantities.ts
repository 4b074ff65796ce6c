/** A number with its unit, or several from the largest unit to the smallest: `1m3.003s`. */
export const DURATION =
  /^(?=\d)(?:\d+(?:\.\d+)?\s*d)?(?:\d+(?:\.\d+)?\s*h)?(?:\d+(?:\.\d+)?\s*m(?!s))?(?:\d+(?:\.\d+)?\s*s)?(?:\d+(?:\.\d+)?\s*ms)?$/;
const SIZE = /^(\d+(?:\.\d+)?)\s*(k|m|g|t)?(i)?b$/i;

/** Of each unit of a duration. */
export const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * The milliseconds of a duration that is written with units; undefined for other text.
 *
 * @example
 * millisecondsIn('1m3.003s'); // 63003
 * millisecondsIn('5'); // undefined
 */
export function millisecondsIn(text: string): number | undefined {
  const duration = text.trim();
  if (!DURATION.test(duration)) return undefined;
  let sum = 0;
  for (const [, digits, unit] of duration.matchAll(/([\d.]+)\s*(ms|[smhd])/g)) {
    sum += Number(digits) * (MILLISECONDS[unit as string] as number);
  }
  // 3.003 s is 3003 ms, and not 3002.9999999999995.
  return Math.round(sum * 1e6) / 1e6;
}

/**
 * The bytes of a size that is written with a unit, `kB` to `TB` or `KiB` to `TiB`; undefined for other text.
 *
 * @example
 * bytesIn('1.5MiB'); // 1572864
 * bytesIn('10 kB'); // 10000
 */
export function bytesIn(text: string): number | undefined {
  const [, digits, prefix = '', binary] = SIZE.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const exponent = ' kmgt'.indexOf(prefix.toLowerCase() || ' ');
  return Math.round(Number(digits) * (binary === undefined ? 1000 : 1024) ** exponent * 1e6) / 1e6;
}
