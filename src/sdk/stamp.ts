import * as z from 'zod';

const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(Z|z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;

/**
 * Normalises an ISO 8601 date-time to UTC with milliseconds.
 * One without a zone is UTC. Returns undefined for anything else.
 *
 * @example
 * toUtc('2026-01-02T03:04:05+02:00'); // '2026-01-02T01:04:05.000Z'
 * toUtc('yesterday'); // undefined
 */
export function toUtc(stamp: string): string | undefined {
  const zone = DATE_TIME.exec(stamp);
  if (zone === null) return undefined;
  const day = Number(stamp.slice(8, 10));
  if (day > new Date(Date.UTC(Number(stamp.slice(0, 4)), Number(stamp.slice(5, 7)), 0)).getUTCDate()) {
    return undefined;
  }
  let text = stamp.replace(/[t ]/, 'T').replace(',', '.');
  if (zone[1] === undefined) text += 'Z';
  else if (/[+-]\d\d$/.test(text)) text += ':00';
  else text = text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  const time = Date.parse(text.toUpperCase());
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/**
 * A schema for a date-time of the specification, normalised to UTC.
 *
 * @example
 * dateTime().parse('2026-01-02 03:04'); // '2026-01-02T03:04:00.000Z'
 */
export const dateTime = () =>
  z
    .string()
    .transform((stamp, ctx) => {
      const utc = toUtc(stamp);
      if (utc !== undefined) return utc;
      ctx.issues.push({ code: 'custom', input: stamp, message: 'an ISO 8601 date-time' });
      return z.NEVER;
    })
    .meta({ format: 'date-time' });
