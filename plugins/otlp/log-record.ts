import type { CollectedEvent } from '../../src/sdk/index.ts';
import { fieldPath, getField, withoutField } from '../expressions/fields.ts';
import { millisecondsOf } from '../http/timestamps.ts';
import { recogniseLevel } from '../parse/level.ts';

/** A log record of OTLP, before it is encoded. */
export interface LogRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** 1 to 24; 0 if the event has no level. */
  readonly severity: number;
  readonly severityText: string;
  readonly body: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Hexadecimal; empty if the event has none. */
  readonly traceId: string;
  readonly spanId: string;
}

/** The first number of each range of severities. */
const SEVERITIES: Readonly<Record<string, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
  fatal: 21,
};
const TRACE_ID = /^(?!0*$)[\da-f]{32}$/i;
const SPAN_ID = /^(?!0*$)[\da-f]{16}$/i;

/**
 * The record of an event: `line` or else `message` is the body, `trace_id` and `span_id` are the ids, and all other fields
 * are attributes. The severity is that of the field `severityField`, which stays an attribute if it names no level.
 *
 * @throws PluginError, permanent, if the event has no valid timestamp.
 */
export function logRecord(event: CollectedEvent, severityField: string): LogRecord {
  let attributes: Readonly<Record<string, unknown>> = event.data;
  const take = (name: string, isValid: (value: string) => boolean): string | undefined => {
    const value = attributes[name];
    if (typeof value !== 'string' || !isValid(value)) return undefined;
    attributes = withoutField(attributes, [name]);
    return value;
  };
  const body = take('line', () => true) ?? take('message', () => true);
  const traceId = take('trace_id', (value) => TRACE_ID.test(value)) ?? '';
  const spanId = take('span_id', (value) => SPAN_ID.test(value)) ?? '';
  const path = fieldPath(severityField);
  const given = getField(attributes, path);
  const level = recogniseLevel(given);
  if (level !== undefined) attributes = withoutField(attributes, path);
  return {
    time: millisecondsOf(event.timestamp),
    severity: level === undefined ? 0 : (SEVERITIES[level] ?? 0),
    severityText: level === undefined ? '' : String(given),
    ...{ body, attributes, traceId, spanId },
  };
}
