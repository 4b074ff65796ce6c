const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Clocks change at the start of a quarter of an hour, so all times in one have the same offset. */
const QUARTER = 15 * MINUTE;
const MOST_REMEMBERED = 1000;

const OFFSET = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/;

/** Milliseconds by which a zone's clocks are ahead of UTC; `+02:00`, `+0200` and `+02` are the same. */
export function offsetOf(text: string): number | undefined {
  if (/^(?:z|utc|gmt)$/i.test(text)) return 0;
  const [, sign, hours, minutes = '0'] = OFFSET.exec(text) ?? [];
  if (sign === undefined) return undefined;
  return (Number(hours) * 60 + Number(minutes)) * MINUTE * (sign === '-' ? -1 : 1);
}

/**
 * Gives the UTC time, in milliseconds, at which the clocks of a zone show a time. Of a time that they show twice, it is the
 * first; one that they skip is counted on from the time before.
 *
 * @param name of the IANA database, such as `Europe/Berlin`; an offset; or `local` for the zone of this machine
 * @returns undefined if there is no such zone
 */
export function timeZone(name: string): ((shown: number) => number) | undefined {
  const fixed = offsetOf(name);
  if (fixed !== undefined) return (shown) => shown - fixed;
  const format = formatOf(name === 'local' ? undefined : name);
  if (format === undefined) return undefined;
  const offsets = new Map<number, number>();
  return (shown) => {
    const quarter = Math.floor(shown / QUARTER);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      offset = offsetAtShown(format, quarter * QUARTER);
      if (offsets.size === MOST_REMEMBERED) offsets.clear();
      offsets.set(quarter, offset);
    }
    return shown - offset;
  };
}

function formatOf(timeZone: string | undefined): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return undefined;
  }
}

function offsetAtShown(format: Intl.DateTimeFormat, shown: number): number {
  const before = offsetAt(format, shown - DAY);
  const after = offsetAt(format, shown + DAY);
  const isRight = (offset: number) => offsetAt(format, shown - offset) === offset;
  return isRight(before) || !isRight(after) ? before : after;
}

function offsetAt(format: Intl.DateTimeFormat, time: number): number {
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const shown = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return shown - Math.floor(time / 1000) * 1000;
}
