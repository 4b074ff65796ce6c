const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?$/;
const ACCESS_LOG = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** From here on a number is one of milliseconds, microseconds, nanoseconds: as seconds, it is after the year 5000. */
const UNITS = [1e11, 1e14, 1e17];

/**
 * A time in UTC, as events have it: of ISO 8601, of an access log (`10/Oct/2026:13:55:36 +0200`), or since 1970 in
 * seconds, milliseconds, microseconds or nanoseconds. Without a zone it is taken for UTC. Undefined for anything else.
 */
export function recogniseTimestamp(value: unknown): string | undefined {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d{9,19}(?:\.\d+)?$/.test(value))) {
    const number = Number(value);
    const unit = UNITS.filter((start) => number >= start).length;
    return inUtc(unit === 0 ? number * 1000 : number / 1000 ** (unit - 1));
  }
  if (typeof value !== 'string') return undefined;
  if (ISO.test(value)) {
    const time = value
      .replace(' ', 'T')
      .replace(',', '.')
      .replace(/(\.\d{3})\d+/, '$1');
    return inUtc(Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`));
  }
  const [, day, month = '', year, time, hours, minutes] = ACCESS_LOG.exec(value) ?? [];
  const number = MONTHS.indexOf(month) + 1;
  if (number === 0) return undefined;
  return inUtc(Date.parse(`${year}-${String(number).padStart(2, '0')}-${day}T${time}${hours}:${minutes}`));
}

function inUtc(ms: number): string | undefined {
  const date = new Date(ms);
  const isInRange = date.getTime() >= 0 && date.getUTCFullYear() <= 9999;
  return isInRange ? date.toISOString() : undefined;
}

const LEVELS: Readonly<Record<string, readonly string[]>> = {
  trace: ['trace', 'trc', 'verbose', 'silly', '10'],
  debug: ['debug', 'dbg', '20'],
  info: ['info', 'information', 'inf', 'notice', '30'],
  warn: ['warn', 'warning', 'wrn', '40'],
  error: ['error', 'err', 'severe', '50'],
  fatal: ['fatal', 'critical', 'crit', 'alert', 'emerg', 'emergency', 'panic', '60'],
};
const BY_NAME = new Map(
  Object.entries(LEVELS).flatMap(([level, names]) => names.map((name) => [name, level])),
);

/** `trace`, `debug`, `info`, `warn`, `error` or `fatal`, of the usual names and of pino's numbers. */
export function recogniseLevel(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number'
    ? BY_NAME.get(String(value).toLowerCase())
    : undefined;
}
