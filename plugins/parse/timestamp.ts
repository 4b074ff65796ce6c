import { offsetOf, timeZone } from './time-zone.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const FULL_MONTHS = 'January|February|March|April|May|June|July|August|September|October|November|December';
const MONTH = '(?<name>[A-Za-z]{3})';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const CLOCK = String.raw`(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;
/** Go writes the name of the zone as well, and how long the process has run. */
const ZONE = String.raw`(?: ?(?<zone>[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?: [A-Z]{3,5})?(?: m=[+-][\d.]+)?)?`;

const FORMS = [
  // ISO 8601; Go's log and the error log of nginx
  String.raw`(?<year>\d{4})([-/])(?<month>\d\d)\2(?<day>\d\d)[Tt ]${CLOCK}${ZONE}`,
  // Access logs, RFC 2822
  String.raw`(?:${WEEKDAY}, )?(?<day>\d\d?)([ /-])${MONTH}\2(?<year>\d{4})[: ]${CLOCK}${ZONE}`,
  // Syslog, without a year
  String.raw`${MONTH} (?<day>[ \d]?\d) ${CLOCK}${ZONE}`,
  // `date`, the error log of Apache
  String.raw`(?:${WEEKDAY} )?${MONTH} (?<day>[ \d]?\d) ${CLOCK} (?:(?<zone>UTC|GMT) )?(?<year>\d{4})`,
  String.raw`${MONTH} (?<day>[ \d]?\d) (?<year>\d{4}) ${CLOCK}`,
  // klog
  String.raw`(?<month>\d\d)(?<day>\d\d) ${CLOCK}`,
  String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)[Tt]?(?<hour>\d\d)(?<minute>\d\d)(?<second>\d\d)(?:[.,](?<fraction>\d+))?${ZONE}`,
].map((source) => new RegExp(`^${source}$`));

/** Characters. */
const LONGEST = 100;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LAST_SECOND_OF_DAY = DAY - 1000;

type Groups = Readonly<Record<string, string | undefined>>;
type Zone = (shown: number) => number;

/**
 * Reads a time, and gives it in UTC as events have it; undefined for what is no time.
 *
 * @param reference the time of the event so far. A time without a year is in the last year in which it is not more than a
 * day later than that.
 */
export type TimeReader = (value: unknown, reference: string) => string | undefined;

interface TimeOptions {
  /** In the notation of `strptime`. Default: those that are recognised. */
  readonly formats?: readonly string[] | undefined;
  /** For times without a zone. Default: UTC. */
  readonly zone?: string | undefined;
}

/**
 * @throws InvalidTimeFormat
 * @example
 * timeReader({ zone: 'Europe/Berlin' })('2026-11-23 12:00:00', '2026-11-24T00:00:00.000Z'); // '2026-11-23T11:00:00.000Z'
 */
export function timeReader({ formats, zone }: TimeOptions = {}): TimeReader {
  const toUtc = zone === undefined ? undefined : timeZone(zone);
  const forms = formats?.map(strptime) ?? FORMS;
  const read = (text: string, reference: string): string | undefined => {
    for (const form of forms) {
      const groups = form.exec(text)?.groups;
      const time = groups && timeOf(groups, toUtc, reference);
      if (time !== undefined) return time;
    }
    return formats === undefined ? sinceEpoch(text) : undefined;
  };
  // Consecutive lines often have the same second.
  let last: readonly [text: string, reference: string, time: string | undefined] | undefined;
  return (value, reference) => {
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || text.length > LONGEST) return undefined;
    if (last?.[0] !== text || last[1] !== reference) last = [text, reference, read(text, reference)];
    return last[2];
  };
}

function timeOf(groups: Groups, toUtc: Zone | undefined, reference: string): string | undefined {
  if (groups.epoch !== undefined) return utc(epochMs(groups.epoch, groups.fraction));
  const { zone } = groups;
  let offset: number | undefined;
  if (zone !== undefined) {
    offset = offsetOf(zone);
    // Names such as CET are not unique.
    if (offset === undefined && toUtc === undefined) return undefined;
  }
  const inYear = (year: number): number | undefined => {
    const shown = shownTime(groups, year);
    if (shown === undefined) return undefined;
    const time = offset !== undefined ? shown - offset : (toUtc?.(shown) ?? shown);
    // A leap second is the last second of a day in UTC. Computers have no other number for it.
    return groups.second !== '60' || modulo(time, DAY) >= LAST_SECOND_OF_DAY ? time : undefined;
  };
  const year = yearOf(groups);
  return utc(year === undefined ? nearestYear(inYear, Date.parse(reference)) : inYear(year));
}

const modulo = (value: number, by: number) => ((value % by) + by) % by;

function yearOf({ year, shortYear }: Groups): number | undefined {
  if (year !== undefined) return Number(year);
  if (shortYear === undefined) return undefined;
  return Number(shortYear) + (Number(shortYear) < 69 ? 2000 : 1900);
}

/** Leap days are at most eight years apart. */
const MOST_YEARS_AGO = 8;

function nearestYear(inYear: (year: number) => number | undefined, reference: number): number | undefined {
  const latest = new Date(reference + DAY).getUTCFullYear() + 1;
  for (let year = latest; year >= latest - MOST_YEARS_AGO - 1; year--) {
    const time = inYear(year);
    // Virtual time starts in 1970.
    if (time !== undefined && (time <= reference + DAY || year === 1970)) return time;
  }
  return undefined;
}

/** Milliseconds, as if the clock showed UTC. */
function shownTime(groups: Groups, year: number): number | undefined {
  const { hour = '0', minute = '0', second = '0', fraction = '', half, hour12 } = groups;
  const hours =
    hour12 === undefined ? Number(hour) : (Number(hour12) % 12) + (/^p/i.test(half ?? '') ? 12 : 0);
  if (hours > 23 || Number(minute) > 59 || Number(second) > 60 || Number(hour12 ?? 1) > 12) return undefined;
  const start = startOfDay(groups, year);
  if (start === undefined) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return (
    start + hours * 60 * MINUTE + Number(minute) * MINUTE + Math.min(Number(second), 59) * 1000 + milliseconds
  );
}

function startOfDay({ month, name, day, dayOfYear }: Groups, year: number): number | undefined {
  const isOfYear = dayOfYear !== undefined;
  const monthIndex = isOfYear
    ? 0
    : name !== undefined
      ? MONTHS.indexOf(name.slice(0, 3).toLowerCase())
      : Number(month) - 1;
  const days = Number(isOfYear ? dayOfYear : day);
  const start = Date.UTC(year, monthIndex, days);
  const date = new Date(start);
  // `Date` takes 30 February for 2 March.
  const isDay = isOfYear ? date.getUTCFullYear() === year : date.getUTCMonth() === monthIndex;
  return isDay && days > 0 && monthIndex >= 0 ? start : undefined;
}

function utc(time: number | undefined): string | undefined {
  if (time === undefined || !(time >= 0)) return undefined;
  const date = new Date(time);
  return date.getUTCFullYear() <= 9999 ? date.toISOString() : undefined;
}

/** The years 2000 to 2099 in seconds: other numbers are probably no times. */
const FIRST_SECOND = Date.UTC(2000, 0) / 1000;
const LAST_SECOND = Date.UTC(2100, 0) / 1000;
const EPOCH = /^(\d{9,19})(?:\.(\d+))?$/;
/** Decimal places of seconds, milliseconds, microseconds and nanoseconds. No number is a time of those years in two. */
const PLACES = [0, 3, 6, 9];

function sinceEpoch(text: string): string | undefined {
  const [, whole = '', fraction = ''] = EPOCH.exec(text) ?? [];
  for (const places of PLACES) {
    const seconds = Number(whole.slice(0, whole.length - places));
    // Digits, because a number of nanoseconds would be rounded.
    if (whole.length > places && seconds >= FIRST_SECOND && seconds < LAST_SECOND) {
      return utc(epochMs(`${seconds}`, whole.slice(whole.length - places) + fraction));
    }
  }
  return undefined;
}

const epochMs = (seconds: string, fraction = '') =>
  Number(seconds) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));

/** What is wrong with a format of the configuration. */
export class InvalidTimeFormat extends Error {}

const FRACTION = String.raw`(?<fraction>\d{1,9})`;

const DIRECTIVES: Readonly<Record<string, string>> = {
  Y: String.raw`(?<year>\d{4})`,
  y: String.raw`(?<shortYear>\d\d)`,
  m: String.raw`(?<month>\d\d?)`,
  d: String.raw`(?<day>[ \d]?\d)`,
  e: String.raw`(?<day>[ \d]?\d)`,
  j: String.raw`(?<dayOfYear>\d{1,3})`,
  b: MONTH,
  h: MONTH,
  B: `(?<name>${FULL_MONTHS})`,
  a: WEEKDAY,
  A: '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day',
  H: String.raw`(?<hour>[ \d]?\d)`,
  k: String.raw`(?<hour>[ \d]?\d)`,
  I: String.raw`(?<hour12>[ \d]?\d)`,
  l: String.raw`(?<hour12>[ \d]?\d)`,
  p: '(?<half>[AaPp][Mm])',
  P: '(?<half>[AaPp][Mm])',
  M: String.raw`(?<minute>\d\d)`,
  S: String.raw`(?<second>\d\d)`,
  f: FRACTION,
  L: FRACTION,
  N: FRACTION,
  '.f': `(?:[.,]${FRACTION})?`,
  z: String.raw`(?<zone>[Zz]|[+-]\d\d(?::?\d\d)?)`,
  ':z': String.raw`(?<zone>[Zz]|[+-]\d\d:\d\d)`,
  Z: '(?<zone>[A-Za-z]{1,5})',
  s: String.raw`(?<epoch>\d{1,11})`,
  n: String.raw`\s+`,
  t: String.raw`\s+`,
  '%': '%',
};

const SHORTHANDS: Readonly<Record<string, string>> = {
  T: '%H:%M:%S',
  R: '%H:%M',
  F: '%Y-%m-%d',
  D: '%m/%d/%y',
};

const DIRECTIVE = /%(?:[-_0^#]|\.?[1-9](?=[fLN]))?(\.f|:z|[A-Za-z%]|$)/g;

/** A format in the notation of `strptime` as a regular expression, with the groups that {@link timeOf} reads. */
function strptime(format: string): RegExp {
  const full = format
    .replace(/%([TRFD])/g, (_, letter: string) => SHORTHANDS[letter] as string)
    .replace(/%\.\df/g, '%.f');
  let source = '';
  let at = 0;
  for (const match of full.matchAll(DIRECTIVE)) {
    const [written, name = ''] = match;
    const directive = Object.hasOwn(DIRECTIVES, name) ? DIRECTIVES[name] : undefined;
    if (directive === undefined) throw new InvalidTimeFormat(`the directive \`${written}\` is not known`);
    source += literal(full.slice(at, match.index)) + directive;
    at = match.index + written.length;
  }
  source += literal(full.slice(at));
  const has = (group: string) => source.includes(`(?<${group}>`);
  const hasDay = has('day') && (has('month') || has('name'));
  if (!hasDay && !has('dayOfYear') && !has('epoch')) {
    throw new InvalidTimeFormat('it has no day; it requires %d and %m or %b, or %j, or %s');
  }
  if (has('hour12') !== has('half')) throw new InvalidTimeFormat('%I and %p require each other');
  try {
    return new RegExp(`^${source}$`);
  } catch {
    throw new InvalidTimeFormat('it has two directives for the same part of the time');
  }
}

const literal = (text: string) => text.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&');

/** What is wrong with a format of the configuration; undefined if nothing is. */
export function timeFormatProblem(format: string): string | undefined {
  try {
    strptime(format);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidTimeFormat) return error.message;
    throw error;
  }
}
