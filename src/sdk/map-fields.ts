import { ParsedEvents, type ParsedFields, type RowMapping } from './parsed-events.ts';
import type { Rows } from './rows.ts';

/**
 * What `mapRows` returns for a processor that changes the fields of events, one event at a time. `change` gets the `data`
 * of an event and its timestamp, and returns the data that replaces it, or undefined to drop the event. It must not write
 * to what it gets. An event for which it throws fails, as in `process`.
 *
 * Returns undefined for rows that are not parsed fields, such as lines: `process` takes these.
 *
 * @example
 * const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a.log', backfill: true, isTruncated: false };
 * const rows = new ParsedEvents([{ pin: 1234, ok: true }], envelope);
 * const mapping = mapFields(rows, (data) => ({ ...data, pin: '***' }));
 * mapping(0, 1, { dropped() {}, failed() {} }).fields; // [{ pin: '***', ok: true }]
 */
export function mapFields(
  rows: Rows,
  change: (data: ParsedFields, timestamp: string) => ParsedFields | undefined,
): RowMapping | undefined {
  if (!(rows instanceof ParsedEvents)) return undefined;
  const { envelope } = rows;
  return (start, end, { dropped, failed }) => {
    const fields: ParsedFields[] = [];
    const timestamps: string[] = [];
    for (let position = start; position < end; position++) {
      const timestamp = rows.timestamps?.[position] ?? envelope.timestamp;
      let changed: ParsedFields | undefined;
      try {
        changed = change(rows.fields[position] as ParsedFields, timestamp);
      } catch (error) {
        failed(position, error);
        continue;
      }
      if (changed === undefined) {
        dropped(position);
        continue;
      }
      fields.push(changed);
      timestamps.push(timestamp);
    }
    return new ParsedEvents(fields, envelope, rows.timestamps && timestamps);
  };
}
