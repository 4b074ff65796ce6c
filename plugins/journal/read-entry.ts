import { type CollectedEvent, collectedEvent, isoNow } from '../../src/sdk/index.ts';

/** An entry of the journal as an event, and where it is. */
export interface JournalEntry {
  readonly cursor: string;
  /** Seconds since 1970, as decimal digits: with microseconds, which a number would not hold. */
  readonly time: string;
  readonly event: CollectedEvent;
}

/** Where it comes from, if the entry does not say. */
export const SOURCE = 'journal';

type Value = string | readonly string[] | undefined;

/**
 * The entry on a line of `journalctl -o json`, with these fields or with all of them. Undefined if it is none.
 *
 * @example
 * const line = '{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1700000000000001","MESSAGE":[104,105],"PRIORITY":"6"}';
 * readEntry(line, ['PRIORITY']).event;
 * // { timestamp: '2023-11-14T22:13:20.000Z', data: { line: 'hi', source: 'journal', PRIORITY: '6' } }
 */
export function readEntry(line: string, fields: 'all' | readonly string[]): JournalEntry | undefined {
  const entry = parsed(line);
  const { __CURSOR: cursor, __REALTIME_TIMESTAMP: micros } = entry ?? {};
  if (entry === undefined || typeof cursor !== 'string' || typeof micros !== 'string') return undefined;
  if (!/^\d{1,17}$/.test(micros)) return undefined;
  const message = textOf(entry.MESSAGE);
  const source = textOf(entry._SYSTEMD_UNIT) ?? textOf(entry.SYSLOG_IDENTIFIER) ?? SOURCE;
  const data: Record<string, unknown> = {};
  if (message !== undefined) data.line = typeof message === 'string' ? message : message.join('\n');
  data.source = typeof source === 'string' ? source : source[0];
  const names = fields === 'all' ? Object.keys(entry).filter((name) => name !== 'MESSAGE') : fields;
  for (const name of names) {
    const value = Object.hasOwn(entry, name) ? textOf(entry[name]) : undefined;
    if (value !== undefined) data[name] = value;
  }
  const timestamp = new Date(Number(micros) / 1000).toISOString();
  const time = `${micros.slice(0, -6) || '0'}.${micros.slice(-6).padStart(6, '0')}`;
  return { cursor, time, event: collectedEvent(data, timestamp) };
}

/** The event of a message in a test. */
export function messageEvent(line: string): CollectedEvent {
  return collectedEvent({ line, source: SOURCE }, isoNow());
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes that are not text come as an array of numbers, a field that occurs twice as an array, and one too large as null. */
function textOf(value: unknown): Value {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  if (value.every((item) => typeof item === 'number')) return Buffer.from(value).toString();
  return value.flatMap((item) => textOf(item) ?? []);
}
