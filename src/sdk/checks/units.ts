import { bytesIn, millisecondsIn } from '../quantities.ts';
import { isMapping, type Path } from './problem.ts';

/** What a number in a configuration counts, so that it may be written with a unit: `meta({ unit })` of its schema. */
export type Unit = 'seconds' | 'bytes';

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
