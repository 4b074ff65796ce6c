import { Buffer } from 'node:buffer';
import { type Field, type Message, RESOURCE, SCOPE } from './messages.ts';
import type { Fields, Origin, OtlpRecord } from './otlp-record.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/** Deeper values become null. */
const DEEPEST = 64;

interface ScopeGroup {
  readonly origin: Origin;
  readonly records: OtlpRecord[];
}

/** Records of the same resource, by their scopes. */
interface ResourceGroup {
  readonly origin: Origin;
  readonly scopes: Map<string, ScopeGroup>;
}

/** The records by their resources and scopes, in the order in which these come first. */
function groupsOf(records: readonly OtlpRecord[]): ResourceGroup[] {
  const resources = new Map<string, ResourceGroup>();
  const texts = new Map<Fields, string>();
  const keyOf = (fields: Fields | undefined, message: Message, url = ''): string => {
    if (fields === undefined) return url;
    let text = texts.get(fields);
    if (text === undefined) {
      text = JSON.stringify(jsonMessage(fields, message));
      texts.set(fields, text);
    }
    return text + url;
  };
  let last: { readonly of: Origin; readonly records: OtlpRecord[] } | undefined;
  for (const record of records) {
    const { origin } = record;
    if (last?.of === origin) {
      last.records.push(record);
      continue;
    }
    const { scopes } = entryOf(
      resources,
      keyOf(origin.resource, RESOURCE, origin.resource_schema_url),
      () => ({
        origin,
        scopes: new Map<string, ScopeGroup>(),
      }),
    );
    const scope = entryOf(scopes, keyOf(origin.scope, SCOPE, origin.scope_schema_url), () => ({
      origin,
      records: [],
    }));
    scope.records.push(record);
    last = { of: origin, records: scope.records };
  }
  return [...resources.values()];
}

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** A request with records of one signal. Fields are written from the last one on. */
export function encodeProtobuf(records: readonly OtlpRecord[]): Buffer {
  const writer = new ProtobufWriter(256 * (records.length + 1));
  for (const { origin, scopes } of groupsOf(records).toReversed()) {
    writeResource(writer, origin, () => {
      for (const scope of [...scopes.values()].toReversed()) {
        writeScope(writer, scope.origin, () => {
          for (const { fields, signal } of scope.records.toReversed())
            writeMessage(writer, RECORDS, fields, signal.record);
        });
      }
    });
  }
  return writer.done();
}

/** The number of the field with the records of a scope. */
export const RECORDS = 2;

/** A request with records of one origin that are encoded already, each as a field {@link RECORDS}. */
export function encodeRequest(records: Buffer, origin: Origin): Buffer {
  const writer = new ProtobufWriter(records.length + 1024);
  writeResource(writer, origin, () => writeScope(writer, origin, () => writer.encoded(records)));
  return writer.done();
}

/** The fields of a message, without its number and its length. */
export function encodeFields(values: Fields, message: Message): Buffer {
  const writer = new ProtobufWriter(256);
  writeFields(writer, values, message);
  return writer.done();
}

function writeResource(writer: ProtobufWriter, origin: Origin, writeScopes: () => void): void {
  writer.message(1, () => {
    if (origin.resource_schema_url !== undefined) writer.string(3, origin.resource_schema_url);
    writeScopes();
    writeMessage(writer, 1, origin.resource, RESOURCE);
  });
}

function writeScope(writer: ProtobufWriter, origin: Origin, writeRecords: () => void): void {
  writer.message(2, () => {
    if (origin.scope_schema_url !== undefined) writer.string(3, origin.scope_schema_url);
    writeRecords();
    writeMessage(writer, 1, origin.scope, SCOPE);
  });
}

function writeMessage(
  writer: ProtobufWriter,
  number: number,
  values: Fields | undefined,
  message: Message,
): void {
  if (values !== undefined) writer.message(number, () => writeFields(writer, values, message));
}

function writeFields(writer: ProtobufWriter, values: Fields, { fields }: Message): void {
  for (let n = fields.length - 1; n >= 0; n--) {
    const field = fields[n] as Field;
    const value = values[field.name];
    if (value !== undefined) writeField(writer, field, value);
  }
}

function writeField(writer: ProtobufWriter, { number, type, isList }: Field, value: unknown): void {
  if (typeof type === 'object') {
    const items = isList ? (value as readonly Fields[]) : [value as Fields];
    for (const item of items.toReversed()) writeMessage(writer, number, item, type);
    return;
  }
  if (type === 'string') writer.string(number, value as string);
  else if (type === 'id') writer.hex(number, value as string);
  else if (type === 'uint32') writer.integer(number, value as number);
  else if (type === 'fixed32') writer.fixed32(number, value as number);
  else if (type === 'time') writer.fixed64(number, value as bigint);
  else if (type === 'attributes') writeAttributes(writer, number, value as Fields, 0);
  else writer.message(number, () => writeValue(writer, plain(value), 0));
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: Fields, depth: number): void {
  const names = Object.keys(attributes);
  for (let n = names.length - 1; n >= 0; n--) {
    const name = names[n] as string;
    const value = plain(attributes[name]);
    if (value === undefined) continue;
    writer.message(field, () => {
      writer.message(2, () => writeValue(writer, value, depth));
      writer.string(1, name);
    });
  }
}

function writeValue(writer: ProtobufWriter, value: unknown, depth: number): void {
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
  } else writer.message(6, () => writeAttributes(writer, 1, value as Fields, depth + 1));
}

/** The same request in JSON. */
export function encodeJson(records: readonly OtlpRecord[]): Buffer {
  const names = records[0]?.signal.json;
  if (names === undefined) return Buffer.from('{}');
  const resources = groupsOf(records).map(({ origin, scopes }) => ({
    ...(origin.resource !== undefined && { resource: jsonMessage(origin.resource, RESOURCE) }),
    [names.scopes]: [...scopes.values()].map((scope) => ({
      ...(scope.origin.scope !== undefined && { scope: jsonMessage(scope.origin.scope, SCOPE) }),
      [names.records]: scope.records.map(({ fields, signal }) => jsonMessage(fields, signal.record)),
      schemaUrl: scope.origin.scope_schema_url,
    })),
    schemaUrl: origin.resource_schema_url,
  }));
  return Buffer.from(JSON.stringify({ [names.resources]: resources }));
}

function jsonMessage(values: Fields, { fields }: Message): object {
  const object: Record<string, unknown> = {};
  for (const field of fields) {
    const value = values[field.name];
    if (value !== undefined) object[field.json] = jsonField(field, value);
  }
  return object;
}

function jsonField({ type, isList }: Field, value: unknown): unknown {
  if (typeof type === 'object') {
    return isList
      ? (value as readonly Fields[]).map((item) => jsonMessage(item, type))
      : jsonMessage(value as Fields, type);
  }
  if (type === 'time') return String(value);
  if (type === 'attributes') return jsonAttributes(value as Fields, 0);
  return type === 'any' ? jsonValue(plain(value), 0) : value;
}

function jsonAttributes(attributes: Fields, depth: number): unknown[] {
  return Object.entries(attributes).flatMap(([key, given]) => {
    const value = plain(given);
    return value === undefined ? [] : [{ key, value: jsonValue(value, depth) }];
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
  return { kvlistValue: { values: jsonAttributes(value as Fields, depth + 1) } };
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
