import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Virtual time counts from 0; clocks of the world are past this, September 2001. */
const VIRTUAL_BELOW = 1e12;

/**
 * Whole milliseconds since the call. Setting the system's clock does not change it, so no window or limit lasts a day too
 * long. In virtual time, and with any scheduler but the default, the time is the scheduler's.
 */
export function steadyClock(scheduler: SchedulerLike = asyncScheduler): () => number {
  const read = scheduler === asyncScheduler ? monotonicNow : () => scheduler.now();
  let last = read();
  let elapsed = 0;
  return () => {
    const now = read();
    if (now > last) elapsed += now - last;
    last = now;
    return elapsed;
  };
}

function monotonicNow(): number {
  const scheduled = asyncScheduler.now();
  return scheduled < VIRTUAL_BELOW ? scheduled : Math.floor(performance.now());
}

let lastTime = Number.NaN;
let lastText = '';

/**
 * The time of the RxJS scheduler as an ISO 8601 UTC string, so that virtual time governs it.
 * Formatting costs 1 µs, so one millisecond is formatted once.
 *
 * @example
 * timer(1500).pipe(map(isoNow)); // '1970-01-01T00:00:01.500Z'
 */
export function isoNow(): string {
  const time = asyncScheduler.now();
  if (time !== lastTime) {
    lastTime = time;
    lastText = new Date(time).toISOString();
  }
  return lastText;
}

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
