import { Buffer } from 'node:buffer';
import { viewOf } from '../http/byte-writer.ts';
import { BYTES, FIXED32, FIXED64, VARINT } from './protobuf-reader.ts';

// The messages of OTLP 1 that logs and traces consist of, as in opentelemetry-proto. One table serves protobuf and JSON.

/** How a field is written. Its value in an event is given in brackets. */
export type FieldType =
  | 'string'
  /** Bytes of an id [hexadecimal digits]. */
  | 'id'
  | 'uint32'
  | 'fixed32'
  /** Nanoseconds since 1970 [a time as in ISO 8601, with 9 digits of a second]. */
  | 'time'
  /** A list of keys and values [an object]. */
  | 'attributes'
  /** A value of any type [what JSON has; bytes are base64]. */
  | 'any'
  | Message;

export interface Field {
  /** As in an event. */
  readonly name: string;
  /** The name and a colon, as in the JSON of an event. */
  readonly key: DataView;
  /** As in OTLP's JSON. */
  readonly json: string;
  readonly number: number;
  /** How protobuf writes its type. */
  readonly wire: number;
  /** Among the fields of its message. */
  readonly position: number;
  readonly type: FieldType;
  readonly isList: boolean;
}

export interface Message {
  readonly fields: readonly Field[];
  readonly byNumber: readonly (Field | undefined)[];
  readonly byName: ReadonlyMap<string, Field>;
}

/** Of the types that are no bytes. */
const WIRES: Readonly<Record<string, number>> = { uint32: VARINT, fixed32: FIXED32, time: FIXED64 };

type Definition = readonly [number: number, type: FieldType | readonly [Message], json?: string];

/** Fields by their names in events, in the order of their numbers. The name in JSON is the same in camel case, unless it is given. */
function message(definitions: Readonly<Record<string, Definition>>): Message {
  const fields = Object.entries(definitions).map(([name, [number, type, json]], position): Field => {
    const isList = Array.isArray(type);
    return {
      ...{ name, number, position, isList, key: viewOf(Buffer.from(`${JSON.stringify(name)}:`)) },
      wire: WIRES[String(type)] ?? BYTES,
      type: isList ? (type as readonly [Message])[0] : (type as FieldType),
      json: json ?? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    };
  });
  const byNumber: (Field | undefined)[] = [];
  for (const field of fields) byNumber[field.number] = field;
  return { fields, byNumber, byName: new Map(fields.map((field) => [field.name, field])) };
}

export const RESOURCE = message({ attributes: [1, 'attributes'], dropped_attributes_count: [2, 'uint32'] });

export const SCOPE = message({
  name: [1, 'string'],
  version: [2, 'string'],
  attributes: [3, 'attributes'],
  dropped_attributes_count: [4, 'uint32'],
});

export const LOG_RECORD = message({
  time: [1, 'time', 'timeUnixNano'],
  severity_number: [2, 'uint32'],
  severity_text: [3, 'string'],
  body: [5, 'any'],
  attributes: [6, 'attributes'],
  dropped_attributes_count: [7, 'uint32'],
  flags: [8, 'fixed32'],
  trace_id: [9, 'id'],
  span_id: [10, 'id'],
  observed_time: [11, 'time', 'observedTimeUnixNano'],
  event_name: [12, 'string'],
});

const SPAN_EVENT = message({
  time: [1, 'time', 'timeUnixNano'],
  name: [2, 'string'],
  attributes: [3, 'attributes'],
  dropped_attributes_count: [4, 'uint32'],
});

const SPAN_LINK = message({
  trace_id: [1, 'id'],
  span_id: [2, 'id'],
  trace_state: [3, 'string'],
  attributes: [4, 'attributes'],
  dropped_attributes_count: [5, 'uint32'],
  flags: [6, 'fixed32'],
});

const STATUS = message({ message: [2, 'string'], code: [3, 'uint32'] });

export const SPAN = message({
  trace_id: [1, 'id'],
  span_id: [2, 'id'],
  trace_state: [3, 'string'],
  parent_span_id: [4, 'id'],
  name: [5, 'string'],
  kind: [6, 'uint32'],
  start_time: [7, 'time', 'startTimeUnixNano'],
  end_time: [8, 'time', 'endTimeUnixNano'],
  attributes: [9, 'attributes'],
  dropped_attributes_count: [10, 'uint32'],
  events: [11, [SPAN_EVENT]],
  dropped_events_count: [12, 'uint32'],
  links: [13, [SPAN_LINK]],
  dropped_links_count: [14, 'uint32'],
  status: [15, STATUS],
  flags: [16, 'fixed32'],
});

/** Levels of values within values. */
export const DEEPEST = 64;
export const TOO_DEEP = `a value is nested deeper than ${DEEPEST} levels`;

/** What a request holds: records of a scope of a resource, the same for logs and for traces but for their names. */
export interface Signal {
  readonly record: Message;
  readonly path: string;
  /** Names in JSON. In protobuf, all three have the same numbers. */
  readonly json: { readonly resources: string; readonly scopes: string; readonly records: string };
  /** The count of `partialSuccess`. */
  readonly rejected: string;
  /** The times of a record that become the timestamp of its event: the first one that it has. */
  readonly times: readonly string[];
}

export const LOGS: Signal = {
  record: LOG_RECORD,
  path: '/v1/logs',
  json: { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords' },
  rejected: 'rejectedLogRecords',
  times: ['time', 'observed_time'],
};

export const TRACES: Signal = {
  record: SPAN,
  path: '/v1/traces',
  json: { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans' },
  rejected: 'rejectedSpans',
  times: ['start_time', 'end_time'],
};
