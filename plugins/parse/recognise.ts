const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:Z| ?(?:UTC|([+-]\d\d)(?::?(\d\d))?))?$/;
const ACCESS_LOG = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/;
/** `20261123120000` */
const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The years 2000 to 2099 in seconds: other numbers are probably no times. */
const FIRST_SECOND = Date.UTC(2000, 0) / 1000;
const LAST_SECOND = Date.UTC(2100, 0) / 1000;
/** Per second: seconds, milliseconds, microseconds, nanoseconds. No number is a time of those years in two of them. */
const UNITS = [1, 1e3, 1e6, 1e9];

/**
 * A time in UTC, as events have it: of ISO 8601, of an access log (`10/Oct/2026:13:55:36 +0200`), in 14 digits
 * (`20261123120000`), or in seconds, milliseconds, microseconds or nanoseconds since 1970, from 2000 to 2099. Without a
 * zone it is taken for UTC. Undefined for anything else.
 */
export function recogniseTimestamp(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  const [, year = '', month = '', day = '', hour, minute, second] = DIGITS.exec(text) ?? [];
  if (year !== '') return inUtc(year, month, day, `${hour}:${minute}:${second}`);
  if (typeof value === 'number' || /^\d{9,19}(?:\.\d+)?$/.test(text)) return sinceEpoch(Number(text));
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year = '', month = '', day = '', time = '', fraction = '', hours, minutes = '00'] = iso;
    const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`;
    return inUtc(year, month, day, `${time}.${fraction.slice(0, 3).padEnd(3, '0')}`, zone);
  }
  const [, date = '', name = '', ofYear = '', time = '', hours, minutes] = ACCESS_LOG.exec(text) ?? [];
  const number = MONTHS.indexOf(name) + 1;
  if (number === 0) return undefined;
  return inUtc(ofYear, String(number).padStart(2, '0'), date, time, `${hours}:${minutes}`);
}

function sinceEpoch(number: number): string | undefined {
  const unit = UNITS.find((unit) => number >= FIRST_SECOND * unit && number < LAST_SECOND * unit);
  return unit === undefined ? undefined : new Date((number / unit) * 1000).toISOString();
}

function inUtc(year: string, month: string, day: string, time: string, zone = 'Z'): string | undefined {
  // `Date` takes 30 February for 2 March.
  const hasDay =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  const date = new Date(`${year}-${month}-${day}T${time}${zone}`);
  const isInRange = date.getTime() >= 0 && date.getUTCFullYear() <= 9999;
  return hasDay && isInRange ? date.toISOString() : undefined;
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
