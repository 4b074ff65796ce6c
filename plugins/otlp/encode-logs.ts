import { Buffer } from 'node:buffer';
import type { LogRecord } from './log-record.ts';
import { ProtoWriter } from './proto-writer.ts';

/** What all records of a request have in common. */
export interface LogSource {
  /** The attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
}

const SCOPE = 'millrace';
/** Deeper values become null. */
const DEEPEST = 64;
const NANOSECONDS = 1_000_000n;

/** A request of `ExportLogsServiceRequest`, in the numbers of opentelemetry-proto. Fields are written from the last one on. */
export function encodeProtobuf(records: readonly LogRecord[], { resource, version }: LogSource): Buffer {
  const writer = new ProtoWriter(256 * (records.length + 1));
  writer.message(1, () => {
    writer.message(2, () => {
      for (let n = records.length - 1; n >= 0; n--) writeRecord(writer, records[n] as LogRecord);
      writer.message(1, () => {
        writer.string(2, version);
        writer.string(1, SCOPE);
      });
    });
    writer.message(1, () => writeAttributes(writer, 1, resource, 0));
  });
  return writer.done();
}

function writeRecord(writer: ProtoWriter, record: LogRecord): void {
  writer.message(2, () => {
    const time = BigInt(record.time) * NANOSECONDS;
    writer.fixed64(11, time);
    if (record.spanId !== '') writer.hex(10, record.spanId);
    if (record.traceId !== '') writer.hex(9, record.traceId);
    writeAttributes(writer, 6, record.attributes, 0);
    const { body } = record;
    if (body !== undefined) writer.message(5, () => writer.string(1, body));
    if (record.severity > 0) {
      writer.string(3, record.severityText);
      writer.integer(2, record.severity);
    }
    writer.fixed64(1, time);
  });
}

function writeAttributes(
  writer: ProtoWriter,
  field: number,
  attributes: Readonly<Record<string, unknown>>,
  depth: number,
): void {
  const names = Object.keys(attributes);
  for (let n = names.length - 1; n >= 0; n--) {
    const name = names[n] as string;
    const value = plain(attributes[name]);
    if (value === undefined) continue;
    writer.message(field, () => {
      writer.message(2, () => writeValue(writer, value, depth + 1));
      writer.string(1, name);
    });
  }
}

function writeValue(writer: ProtoWriter, value: unknown, depth: number): void {
  if (typeof value === 'string') writer.string(1, value);
  else if (typeof value === 'boolean') writer.integer(2, value ? 1 : 0);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.integer(3, value);
    else writer.double(4, value);
  } else if (depth >= DEEPEST || typeof value !== 'object' || value === null) return;
  else if (Array.isArray(value)) {
    writer.message(5, () => {
      for (let n = value.length - 1; n >= 0; n--) {
        writer.message(1, () => writeValue(writer, plain(value[n]), depth + 1));
      }
    });
  } else {
    writer.message(6, () =>
      writeAttributes(writer, 1, value as Readonly<Record<string, unknown>>, depth + 1),
    );
  }
}

/** The same request in JSON. */
export function encodeJson(records: readonly LogRecord[], { resource, version }: LogSource): Buffer {
  const logRecords = records.map(({ time, severity, severityText, body, attributes, traceId, spanId }) => ({
    timeUnixNano: `${time}000000`,
    observedTimeUnixNano: `${time}000000`,
    ...(severity > 0 && { severityNumber: severity, severityText }),
    ...(body !== undefined && { body: { stringValue: body } }),
    attributes: jsonAttributes(attributes, 0),
    ...(traceId !== '' && { traceId }),
    ...(spanId !== '' && { spanId }),
  }));
  const scopeLogs = [{ scope: { name: SCOPE, version }, logRecords }];
  const request = { resourceLogs: [{ resource: { attributes: jsonAttributes(resource, 0) }, scopeLogs }] };
  return Buffer.from(JSON.stringify(request));
}

function jsonAttributes(attributes: Readonly<Record<string, unknown>>, depth: number): unknown[] {
  return Object.entries(attributes).flatMap(([key, given]) => {
    const value = plain(given);
    return value === undefined ? [] : [{ key, value: jsonValue(value, depth + 1) }];
  });
}

function jsonValue(value: unknown, depth: number): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  if (depth >= DEEPEST || typeof value !== 'object' || value === null) return {};
  if (Array.isArray(value)) {
    return { arrayValue: { values: value.map((item: unknown) => jsonValue(plain(item), depth + 1)) } };
  }
  return { kvlistValue: { values: jsonAttributes(value as Readonly<Record<string, unknown>>, depth + 1) } };
}

/** A value as JSON has it: a bigint is a string of digits, a date a text, and a number that is none is null. */
function plain(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'function':
    case 'symbol':
      return undefined;
    case 'object':
      return value !== null && typeof (value as { toJSON?: unknown }).toJSON === 'function'
        ? (value as { toJSON: () => unknown }).toJSON()
        : value;
    default:
      return value;
  }
}
