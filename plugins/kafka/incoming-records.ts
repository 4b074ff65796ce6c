import { isUtf8 } from 'node:buffer';
import { isoNow } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  collectedEvent,
  isEvent,
  PluginError,
  parseJson,
  type Rows,
  toUtc,
  WrittenEvents,
} from '../../src/sdk/index.ts';
import type { IncomingRecord, Position } from './group-member.ts';

export const FORMATS = ['events', 'json', 'lines'] as const;

export interface RecordFormat {
  readonly format: (typeof FORMATS)[number];
  readonly metadata?: string | undefined;
  readonly max_message_bytes: number;
}

/** Records that follow each other, as the content of a batch. */
export interface Piece {
  readonly content: Rows | readonly CollectedEvent[];
  /** Why the only record cannot be read. */
  readonly refusal?: PluginError;
  /** The first record. */
  readonly from: bigint;
  /** The record after the last one. */
  readonly next: bigint;
  readonly bytes: number;
}

type Partition = Omit<Position, 'offset'>;
const LF = Buffer.from('\n');
/** Of a record that cannot be read, what the dead letter gets. */
const SHOWN_BYTES = 65_536;

/** The events of records, which have none if they are tombstones. Each record that cannot be read is a piece of its own. */
export function piecesOf(
  records: readonly IncomingRecord[],
  partition: Partition,
  settings: RecordFormat,
): Piece[] {
  const written =
    settings.metadata === undefined && settings.format === 'events'
      ? writtenEvents(records, settings)
      : undefined;
  if (written !== undefined) return [written];
  const pieces: (Piece & { content: CollectedEvent[] })[] = [];
  for (const record of records) {
    const { offset, value } = record;
    const bytes = value?.length ?? 0;
    const last = pieces.at(-1);
    try {
      const event = eventOf(record, partition, settings);
      const content = event === undefined ? [] : [event];
      if (last === undefined || last.refusal)
        pieces.push({ content, from: offset, next: offset + 1n, bytes });
      else {
        last.content.push(...content);
        Object.assign(last, { next: offset + 1n, bytes: last.bytes + bytes });
      }
    } catch (error) {
      const shown = value?.subarray(0, SHOWN_BYTES).toString();
      const content = [collectedEvent({ ...partition, offset: Number(offset), message: shown })];
      pieces.push({ content, refusal: error as PluginError, from: offset, next: offset + 1n, bytes });
    }
  }
  return pieces;
}

/** The events as they are written in the records, for which no objects are made. */
function writtenEvents(
  records: readonly IncomingRecord[],
  { max_message_bytes: most }: RecordFormat,
): Piece | undefined {
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const parts: Buffer[] = [];
  for (const { value } of records) {
    if (value === null || value.length === 0 || value.length > most) return undefined;
    parts.push(value, LF);
  }
  const documents = Buffer.concat(parts);
  const content = WrittenEvents.recognise(documents);
  if (content?.size !== records.length) return undefined;
  return { content, from: first.offset, next: last.offset + 1n, bytes: documents.length };
}

/** @throws PluginError if the record does not have that format; it quotes nothing of the record. */
function eventOf(
  record: IncomingRecord,
  partition: Partition,
  settings: RecordFormat,
): CollectedEvent | undefined {
  const { value, timestamp } = record;
  const { format, metadata, max_message_bytes: most } = settings;
  if ((value === null || value.length === 0) && metadata === undefined) return undefined;
  if (value !== null && value.length > most) {
    throw new PluginError(`the record has ${value.length} bytes, above \`max_message_bytes\` (${most})`);
  }
  const storedAt = timestamp < 0 ? isoNow() : new Date(timestamp).toISOString();
  const event =
    value === null || value.length === 0
      ? collectedEvent({}, storedAt)
      : eventOfValue(value, partition, format, storedAt);
  if (metadata === undefined) return event;
  const data = { ...event.data, [metadata]: { ...partition, ...metadataOf(record), timestamp: storedAt } };
  return { ...event, data };
}

function eventOfValue(
  value: Buffer,
  { topic }: Partition,
  format: RecordFormat['format'],
  storedAt: string,
): CollectedEvent {
  if (!isUtf8(value)) throw new PluginError('the record is not UTF-8');
  const text = value.toString();
  if (format === 'lines')
    return collectedEvent({ line: text.replace(/\r?\n$/, ''), source: topic }, storedAt);
  const object = objectOf(text);
  if (format === 'json') return collectedEvent(object, storedAt);
  if (!isEvent(object)) throw new PluginError('the record is not an event: no object `data`');
  const utc = typeof object.timestamp === 'string' ? toUtc(object.timestamp) : undefined;
  if (utc === undefined) throw new PluginError('the record is not an event: no ISO 8601 `timestamp`');
  return utc === object.timestamp ? object : { ...object, timestamp: utc };
}

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new PluginError('the record is not JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new PluginError('the record is not a JSON object');
}

function metadataOf({ offset, key, headers }: IncomingRecord) {
  return {
    offset: Number(offset),
    key: textOf(key),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toString(), textOf(value)])),
  };
}

/** As UTF-8, or else as base64. */
function textOf(bytes: Buffer | null): string | null {
  return bytes === null ? null : isUtf8(bytes) ? bytes.toString() : bytes.toString('base64');
}
