import type { CollectedEvent } from '../../src/sdk/index.ts';
import { addFields, type FieldPath, getField, setField, withoutField } from '../expressions/fields.ts';
import { millisecondsOf } from '../http/timestamps.ts';
import { recogniseLevel } from '../parse/level.ts';
import {
  type Field,
  LOG_RECORD,
  LOGS,
  type Message,
  RESOURCE,
  SCOPE,
  type Signal,
  SPAN,
  TRACES,
} from './messages.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A log record or a span before it is encoded. Fields are named as in events; times are nanoseconds since 1970. */
export interface OtlpRecord {
  readonly signal: Signal;
  readonly fields: Fields;
  readonly origin: Origin;
}

/** Where a record is from. Records of the same origin are sent together. */
export interface Origin {
  readonly resource?: Fields | undefined;
  readonly resource_schema_url?: string | undefined;
  readonly scope?: Fields | undefined;
  readonly scope_schema_url?: string | undefined;
}

/** How records are made of events that are no records of OTLP. */
export interface LogMapping {
  /** The field with the level. */
  readonly severity: FieldPath;
  readonly origin: Origin;
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
const NANOSECONDS = 1_000_000n;
const NO_FIELDS: Fields = {};

/**
 * The record of an event. Events of the collector `otlp` become the records that they were. Of other events, `line` or else
 * `message` is the body, `trace_id` and `span_id` are the ids, and all other fields are attributes.
 *
 * @throws PluginError, permanent, if the event has no valid timestamp and needs one.
 */
export function otlpRecord(event: CollectedEvent, mapping: LogMapping): OtlpRecord {
  const signal = signalOf(event.data);
  if (signal === undefined) {
    const now = nanosecondsOf(event);
    const fields = logFields({ time: now, observed_time: now, attributes: {} }, event.data, mapping.severity);
    return { signal: LOGS, fields, origin: mapping.origin };
  }
  const { origin, others } = originOf(event.data, mapping.origin);
  const { known, rest } = knownFields(others, signal.record);
  if (signal === TRACES) return { signal, fields: withAttributes(known, rest), origin };
  const isTimed = known.time !== undefined || known.observed_time !== undefined;
  const timed = isTimed ? known : { ...known, observed_time: nanosecondsOf(event) };
  return { signal, fields: logFields(timed, rest, mapping.severity), origin };
}

/** @throws PluginError, permanent, if it is not a date. */
export const nanosecondsOf = ({ timestamp }: Pick<CollectedEvent, 'timestamp'>) =>
  BigInt(millisecondsOf(timestamp)) * NANOSECONDS;

const PARENTS = ['resource', 'resource_schema_url', 'scope', 'scope_schema_url'];
const namesOf = ({ fields }: Message) => fields.map(({ name }) => name);
const NAMES = {
  log: new Set([...namesOf(LOG_RECORD), ...PARENTS]),
  span: new Set([...namesOf(SPAN), ...PARENTS]),
};
/** Fields that say which record it is, beside the times of a span. Other events have ids, flags and times as well. */
const OF_LOGS = ['body', 'severity_number', 'severity_text', 'event_name', 'time', 'observed_time'];
const OF_SPANS = ['parent_span_id', 'name', 'kind', 'events', 'links', 'status', 'trace_state'];

/**
 * The signal of an event of the collector `otlp`. It has a resource, or no field that OTLP does not have. A processor may have
 * added fields to one with a resource, and a mask may have changed any value.
 */
function signalOf(data: Fields): Signal | undefined {
  const has = (name: string) => data[name] !== undefined;
  const hasResource = isObject(data.resource) && isObject(data.resource.attributes);
  const isAll = (names: ReadonlySet<string>) => Object.keys(data).every((name) => names.has(name));
  if (hasResource || isAll(NAMES.span)) {
    const isTimed = timeOf(data.start_time) !== undefined || timeOf(data.end_time) !== undefined;
    if (isTimed && !has('time') && !has('observed_time')) return TRACES;
    if (hasResource) return OF_SPANS.some(has) && !OF_LOGS.some(has) ? TRACES : LOGS;
  }
  const isLog = OF_LOGS.some(has) || isObject(data.attributes) || isObject(data.scope);
  return isLog && isAll(NAMES.log) ? LOGS : undefined;
}

/** The origin of a record, and its own fields. What it does not say of the resource is that of `own`. */
function originOf(data: Fields, own: Origin): { readonly origin: Origin; readonly others: Fields } {
  const { resource, resource_schema_url, scope, scope_schema_url, ...others } = data;
  const invalid: Record<string, unknown> = {};
  const valid = (name: string, value: unknown, message: Message): Fields | undefined => {
    if (isObject(value)) return messageFields(value, message);
    if (value !== undefined) invalid[name] = value;
    return undefined;
  };
  const url = (name: string, value: unknown): string | undefined => {
    if (typeof value === 'string') return value;
    if (value !== undefined) invalid[name] = value;
    return undefined;
  };
  const origin = {
    resource: valid('resource', resource, RESOURCE) ?? own.resource,
    resource_schema_url: url('resource_schema_url', resource_schema_url),
    scope: valid('scope', scope, SCOPE),
    scope_schema_url: url('scope_schema_url', scope_schema_url),
  };
  return { origin, others: { ...others, ...invalid } };
}

/** The fields of a log record. `rest` has what is to find its place: at last, it becomes an attribute. */
function logFields(known: Fields, rest: Fields, severityField: FieldPath): Fields {
  const fields: Record<string, unknown> = { ...known };
  const taken: string[] = [];
  const take = (into: string, name: string, form?: RegExp): void => {
    const value = rest[name];
    if (fields[into] !== undefined || typeof value !== 'string' || form?.test(value) === false) return;
    taken.push(name);
    fields[into] = value;
  };
  take('body', 'line');
  take('body', 'message');
  take('trace_id', 'trace_id', TRACE_ID);
  take('span_id', 'span_id', SPAN_ID);
  const attributes = taken.length === 0 ? rest : withoutNames(rest, taken);
  if (fields.severity_number !== undefined || fields.severity_text !== undefined)
    return withAttributes(fields, attributes);
  const given = getField(attributes, severityField);
  const level = given === undefined ? undefined : recogniseLevel(given);
  if (level === undefined) return withAttributes(fields, attributes);
  fields.severity_number = SEVERITIES[level] ?? 0;
  fields.severity_text = String(given);
  return withAttributes(fields, withoutField(attributes, severityField));
}

function withoutNames(fields: Fields, names: readonly string[]): Fields {
  const others: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (!names.includes(name)) setField(others, name, fields[name]);
  return others;
}

function withAttributes(fields: Fields, rest: Fields): Fields {
  if (Object.keys(rest).length === 0) return fields;
  const attributes = (fields.attributes ?? NO_FIELDS) as Fields;
  if (Object.keys(attributes).length === 0) return { ...fields, attributes: rest };
  const all: Record<string, unknown> = {};
  addFields(all, attributes);
  addFields(all, rest);
  return { ...fields, attributes: all };
}

/** The fields of a part of a record. What OTLP does not have becomes an attribute, so that it is not lost. */
function messageFields(value: Fields, message: Message): Fields {
  const { known, rest } = knownFields(value, message);
  return message.byName.has('attributes') ? withAttributes(known, rest) : known;
}

/** The fields that a message has, with values of their types, and the others. */
function knownFields(value: Fields, message: Message): { readonly known: Fields; readonly rest: Fields } {
  const known: Record<string, unknown> = {};
  let rest = NO_FIELDS;
  for (const [name, given] of Object.entries(value)) {
    const field = message.byName.get(name);
    const valid = field === undefined ? undefined : fieldValue(given, field);
    if (valid !== undefined) known[name] = valid;
    else if (given !== undefined) rest = { ...rest, [name]: given };
  }
  return { known, rest };
}

/** Undefined if the value is not of the type of the field, such as an id that was masked. */
function fieldValue(value: unknown, { name, type, isList }: Field): unknown {
  if (typeof type === 'object') {
    if (!isList) return isObject(value) ? messageFields(value, type) : undefined;
    const isValid = Array.isArray(value) && value.every(isObject);
    return isValid ? value.map((item: Fields) => messageFields(item, type)) : undefined;
  }
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'id':
      return isId(value, name.endsWith('trace_id') ? 32 : 16) ? value : undefined;
    case 'uint32':
    case 'fixed32':
      return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32
        ? value
        : undefined;
    case 'time':
      return timeOf(value);
    case 'attributes':
      return isObject(value) ? value : undefined;
    default:
      return value;
  }
}

const isId = (value: unknown, digits: number): boolean =>
  typeof value === 'string' && value.length === digits && /^[\da-f]*$/i.test(value);

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

/** Nanoseconds since 1970. Undefined if it is not a time. */
function timeOf(value: unknown): bigint | undefined {
  const [, seconds, fraction = ''] = typeof value === 'string' ? (TIME.exec(value) ?? []) : [];
  const time = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`);
  if (!(time >= 0)) return undefined;
  const nanoseconds = BigInt(time) * NANOSECONDS + BigInt(fraction.padEnd(9, '0'));
  return nanoseconds < 1n << 64n ? nanoseconds : undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
