import { isMapping, type Path } from './problem.ts';

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

/** What a number in a configuration counts, so that it may be written with a unit: `meta({ unit })` of its schema. */
export type Unit = 'seconds' | 'bytes';

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

const READERS: Readonly<Record<Unit, (text: string) => number | undefined>> = {
  seconds: (text) => {
    const ms = millisecondsIn(text);
    return ms === undefined ? undefined : ms / 1000;
  },
  bytes: bytesIn,
};

/** Whether any string of a value may be a quantity. Most configurations have none, and need no schema to be looked into. */
export function hasQuantities(value: unknown): boolean {
  if (typeof value === 'string') return /^\s*\d[\d.\s]*[a-z]+[\da-z.\s]*$/i.test(value);
  if (Array.isArray(value)) return value.some(hasQuantities);
  return isMapping(value) && Object.values(value).some(hasQuantities);
}

/**
 * A value with numbers in place of quantities, wherever `unitAt` names the unit of the number that belongs there. What
 * is no quantity of that unit stays as it is, for the schema to refuse.
 */
export function withoutUnits(value: unknown, unitAt: (path: Path) => unknown, path: Path = []): unknown {
  if (Array.isArray(value)) return value.map((item, index) => withoutUnits(item, unitAt, [...path, index]));
  if (isMapping(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withoutUnits(item, unitAt, [...path, key])]),
    );
  }
  if (typeof value !== 'string' || !hasQuantities(value)) return value;
  const read = READERS[unitAt(path) as Unit];
  return read?.(value) ?? value;
}
