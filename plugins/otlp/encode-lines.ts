import type { Buffer } from 'node:buffer';
import { type CollectedEvent, parseJson } from '../../src/sdk/index.ts';
import { hasBytes } from '../has-bytes.ts';
import { ByteWriter, viewOf } from '../http/byte-writer.ts';
import { type Documents, EventDocuments } from '../http/documents.ts';
import { EventLines } from '../http/event-lines.ts';
import { parseTimestamp } from '../http/timestamps.ts';
import { encodeFields, encodeRequest, RECORDS } from './encode.ts';
import { LOG_RECORD } from './messages.ts';
import { type LogMapping, nanosecondsOf, otlpRecord } from './otlp-record.ts';

/** What stands in front of the length of a record, of its body, and of the text that is the body. */
const [RECORD_TAG, BODY_TAG, TEXT_TAG] = [RECORDS * 8 + 2, 5 * 8 + 2, 1 * 8 + 2];

/** The record of an event, encoded, but for `line`, which is the text of the body. */
interface RecordForm {
  /** False if the event has no `line` that is a string. Then the record is complete. */
  readonly hasText: boolean;
  /** What JSON has of `data` before that text and after it. */
  readonly data: readonly [before: Buffer, after: Buffer];
  timestamp: string;
  /** The fields of the record before the body, of which the time is the first one. */
  readonly before: Buffer;
  /** The fields after the body, of which the observed time is the last one. */
  readonly after: Buffer;
}

/**
 * What `encodeProtobuf` makes of the records of events, of those that `serialise` wrote. Events that are the same but for `line`
 * and the timestamp, such as the lines of a file, have records that are the same but for the body and the times: what they share
 * is encoded once. Undefined if an event has to be parsed, such as one that is a record of OTLP.
 */
export function encodeLines(bytes: Buffer, mapping: LogMapping): Documents | undefined {
  const lines = new EventLines(bytes, 'line');
  const writer = new ByteWriter(bytes.length + (bytes.length >> 2));
  const text = new ByteWriter(1024);
  const view = viewOf(bytes);
  const records: { readonly start: number; readonly end: number }[] = [];
  let form: RecordForm | undefined;
  while (lines.next()) {
    if (!lines.isPlain || !(parseTimestamp(lines.timestamp) >= 0)) return undefined;
    if (form === undefined || !isOf(form, lines)) form = formOf(lines, mapping);
    if (form === undefined) return undefined;
    if (form.timestamp !== lines.timestamp) setTimestamp(form, lines.timestamp);
    const { hasText, before, after } = form;
    text.rewind(0);
    text.unquoted(view, lines.textStart, lines.textEnd);
    const value = sizeOfField(text.length);
    const start = writer.length;
    writer.byte(RECORD_TAG);
    writer.varint(before.length + (hasText ? sizeOfField(value) : 0) + after.length);
    writer.copy(before);
    if (hasText) {
      writer.byte(BODY_TAG);
      writer.varint(value);
      writer.byte(TEXT_TAG);
      writer.varint(text.length);
      writer.copy(text.done());
    }
    writer.copy(after);
    records.push({ start, end: writer.length });
  }
  const all = writer.done();
  return new EventDocuments(records, (part) =>
    encodeRequest(all.subarray(part[0]?.start, part.at(-1)?.end), mapping.origin),
  );
}

/** Of a field with a content of so many bytes. */
function sizeOfField(length: number): number {
  let size = 2 + length;
  for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

function isOf({ hasText, data: [before, after] }: RecordForm, lines: EventLines): boolean {
  const { bytes, dataStart, textStart, textEnd, dataEnd } = lines;
  const [end, start] = hasText ? [textStart, textEnd] : [dataEnd, dataEnd];
  return (
    hasText === textStart > 0 &&
    before.length === end - dataStart &&
    after.length === dataEnd - start &&
    hasBytes(bytes, before, dataStart) &&
    hasBytes(bytes, after, start)
  );
}

/** Undefined if the event is a record of OTLP already. */
function formOf(lines: EventLines, mapping: LogMapping): RecordForm | undefined {
  const { bytes, timestamp, dataStart, textStart, textEnd, dataEnd } = lines;
  const hasText = textStart > 0;
  const data = [
    bytes.subarray(dataStart, hasText ? textStart : dataEnd),
    bytes.subarray(hasText ? textEnd : dataEnd, dataEnd),
  ] as const;
  const event = { timestamp, data: parseJson(`{${data.join('')}}`) } as CollectedEvent;
  const { origin, fields } = otlpRecord(event, mapping);
  // A record of OTLP has an origin of its own.
  if (origin !== mapping.origin) return undefined;
  const { time, severity_number, severity_text, body, ...others } = fields;
  const first = { time, severity_number, severity_text, ...(!hasText && { body }) };
  return {
    ...{ hasText, data, timestamp },
    before: encodeFields(first, LOG_RECORD),
    after: encodeFields(others, LOG_RECORD),
  };
}

function setTimestamp(form: RecordForm, timestamp: string): void {
  const now = nanosecondsOf({ timestamp });
  const observed = encodeFields({ observed_time: now }, LOG_RECORD);
  form.before.set(encodeFields({ time: now }, LOG_RECORD));
  form.after.set(observed, form.after.length - observed.length);
  form.timestamp = timestamp;
}
