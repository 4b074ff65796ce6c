import type { ParsedFields } from '../../src/sdk/index.ts';
import { setField } from '../expressions/fields.ts';
import { type Field, type Message, RESOURCE, SCOPE, type Signal } from './messages.ts';
import { BYTES, FIXED32, FIXED64, MalformedMessage, ProtobufReader, VARINT } from './protobuf-reader.ts';

/** Levels of values within values. */
const DEEPEST = 64;
const SECOND = 1_000_000_000n;

/** The records of a request as events hold them, and what could not be read. */
export interface Decoded {
  readonly fields: ParsedFields[];
  /** Records that are malformed. */
  readonly rejected: number;
  /** Why the first of them is. */
  readonly problem: string | undefined;
}

/** Collects the records of requests. Each has its own copies of `resource` and `scope`, which masks change in place. */
class Records {
  readonly fields: ParsedFields[] = [];
  rejected = 0;
  problem: string | undefined;
  readonly #reserve: Reserve;

  constructor(reserve: Reserve) {
    this.#reserve = reserve;
  }

  /** Adds the records of a scope. A request of a few kilobytes may hold thousands, and a large resource for all of them. */
  addAll<T>(items: readonly T[], decode: (item: T) => ParsedFields, parents: Parents): void {
    if (items.length > 0) this.#reserve(items.length * memoryBytes(parents));
    for (const item of items) this.#add(() => decode(item), parents);
  }

  #add(decode: () => ParsedFields, parents: Parents): void {
    try {
      const record = decode();
      for (const [name, parent] of Object.entries(parents)) {
        if (parent !== undefined) record[name] = typeof parent === 'string' ? parent : structuredCopy(parent);
      }
      this.fields.push(record);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.rejected++;
      this.problem ??= error.message;
    }
  }
}

/** Counts the bytes of copies before they are made; throws if they are too many. */
type Reserve = (bytes: number) => void;

interface Parents {
  readonly resource?: ParsedFields | undefined;
  readonly resource_schema_url?: string | undefined;
  readonly scope?: ParsedFields | undefined;
  readonly scope_schema_url?: string | undefined;
}

/** Faster than `structuredClone` for the few attributes of a resource. */
function structuredCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(structuredCopy) as T;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) setField(copy, name, structuredCopy(item));
  return copy as T;
}

/** Of a property or an item beside its text, about. */
const VALUE_BYTES = 32;

/** About what a copy takes. Strings count too: a mask may make another one of each. */
function memoryBytes(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  let bytes = VALUE_BYTES;
  if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) bytes += name.length + memoryBytes(item);
  return bytes;
}

const hasFields = (fields: ParsedFields) => (Object.keys(fields).length > 0 ? fields : undefined);

/**
 * The records of a request in protobuf. A malformed record is left out and counted; unknown fields are left out.
 *
 * @throws MalformedMessage if what holds the records is malformed
 */
export function decodeProtobuf(body: Buffer, { record }: Signal, reserve: Reserve): Decoded {
  const records = new Records(reserve);
  const request = new ProtobufReader(body);
  while (request.next()) {
    if (request.number !== 1) {
      request.skip();
      continue;
    }
    request.expect(BYTES);
    const { own, list: scopes, schemaUrl } = readGroup(request.message(), RESOURCE);
    const resource = hasFields(own);
    for (const scopeReader of scopes) {
      const scope = readGroup(scopeReader, SCOPE);
      const parents = {
        ...{ resource, resource_schema_url: schemaUrl },
        ...{ scope: hasFields(scope.own), scope_schema_url: scope.schemaUrl },
      };
      records.addAll(scope.list, (reader) => readMessage(reader, record, 0), parents);
    }
  }
  return records;
}

/** A message with what its parts have in common as 1, the parts as 2 and the URL of a schema as 3. */
function readGroup(reader: ProtobufReader, common: Message) {
  let own: ParsedFields = {};
  const list: ProtobufReader[] = [];
  let schemaUrl: string | undefined;
  while (reader.next()) {
    if (reader.number > 3) {
      reader.skip();
      continue;
    }
    reader.expect(BYTES);
    if (reader.number === 1) own = readMessage(reader.message(), common, 0);
    else if (reader.number === 2) list.push(reader.message());
    else schemaUrl = reader.string() || undefined;
  }
  return { own, list, schemaUrl };
}

function readMessage(reader: ProtobufReader, { byNumber }: Message, depth: number): ParsedFields {
  const fields: ParsedFields = {};
  while (reader.next()) {
    const field = byNumber[reader.number];
    if (field === undefined) {
      reader.skip();
      continue;
    }
    const { name, type, isList } = field;
    if (type === 'attributes') {
      reader.expect(BYTES);
      fields[name] ??= {};
      readKeyValue(reader.message(), fields[name] as ParsedFields, depth);
      continue;
    }
    const value = readField(reader, field, depth);
    if (isList) {
      fields[name] ??= [];
      (fields[name] as unknown[]).push(value);
    } else if (value !== undefined) fields[name] = value;
  }
  return fields;
}

const WIRES = {
  string: BYTES,
  id: BYTES,
  any: BYTES,
  uint32: VARINT,
  fixed32: FIXED32,
  time: FIXED64,
} as const;

/** Undefined for the value that a field has which is not there. */
function readField(reader: ProtobufReader, { type }: Field, depth: number): unknown {
  if (typeof type === 'object') {
    reader.expect(BYTES);
    return readMessage(reader.message(), type, depth);
  }
  reader.expect(WIRES[type as keyof typeof WIRES]);
  switch (type) {
    case 'string':
      return reader.string() || undefined;
    case 'id':
      return reader.bytes().toString('hex') || undefined;
    case 'uint32':
      return reader.uint32() || undefined;
    case 'fixed32':
      return reader.fixed32() || undefined;
    case 'time':
      return timeText(reader.fixed64());
    default:
      return readAny(reader.message(), depth);
  }
}

function readKeyValue(reader: ProtobufReader, into: ParsedFields, depth: number): void {
  let key = '';
  let value: unknown = null;
  while (reader.next()) {
    if (reader.number > 2) {
      reader.skip();
      continue;
    }
    reader.expect(BYTES);
    if (reader.number === 1) key = reader.string();
    else value = readAny(reader.message(), depth);
  }
  setField(into, key, value);
}

function readAny(reader: ProtobufReader, depth: number): unknown {
  if (depth > DEEPEST) throw new MalformedMessage(TOO_DEEP);
  let value: unknown = null;
  while (reader.next()) value = readAnyField(reader, depth) ?? value;
  return value;
}

function readAnyField(reader: ProtobufReader, depth: number): unknown {
  switch (reader.number) {
    case 1:
      reader.expect(BYTES);
      return reader.string();
    case 2:
      reader.expect(VARINT);
      return reader.uint32() !== 0;
    case 3:
      reader.expect(VARINT);
      return exactNumber(reader.bigint());
    case 4:
      reader.expect(FIXED64);
      return finite(reader.double());
    case 5: {
      reader.expect(BYTES);
      const list: unknown[] = [];
      eachPart(reader.message(), (part) => list.push(readAny(part, depth + 1)));
      return list;
    }
    case 6: {
      reader.expect(BYTES);
      const object: ParsedFields = {};
      eachPart(reader.message(), (part) => readKeyValue(part, object, depth + 1));
      return object;
    }
    case 7:
      reader.expect(BYTES);
      return reader.bytes().toString('base64');
    default:
      reader.skip();
      return undefined;
  }
}

function eachPart(reader: ProtobufReader, read: (part: ProtobufReader) => void): void {
  while (reader.next()) {
    if (reader.number !== 1) {
      reader.skip();
      continue;
    }
    reader.expect(BYTES);
    read(reader.message());
  }
}

const TOO_DEEP = `a value is nested deeper than ${DEEPEST} levels`;

const exactNumber = (value: bigint) =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
/** JSON has no others. */
const finite = (value: number) => (Number.isFinite(value) ? value : String(value));

/** Undefined for 0, which means that the time is not known. */
export function timeText(nanoseconds: bigint): string | undefined {
  if (nanoseconds === 0n) return undefined;
  const seconds = nanoseconds / SECOND;
  const fraction = String(nanoseconds % SECOND).padStart(9, '0');
  // The largest number that 64 bits hold is in the year 2554.
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}

/**
 * The records of a request in OTLP's JSON: names in camel case, ids in hexadecimal digits, numbers of 64 bits as strings.
 *
 * @throws MalformedMessage if what holds the records is malformed
 */
export function decodeJson(request: unknown, { record, json }: Signal, reserve: Reserve): Decoded {
  const records = new Records(reserve);
  for (const group of listOf(objectOf(request)[json.resources])) {
    const { resource: own, schemaUrl, [json.scopes]: scopes } = objectOf(group);
    const resource = hasFields(own === undefined ? {} : fromJson(own, RESOURCE));
    for (const part of listOf(scopes)) {
      const { scope, schemaUrl: scopeUrl, [json.records]: list } = objectOf(part);
      const scopeFields = scope === undefined ? {} : fromJson(scope, SCOPE);
      const parents = {
        ...{ resource, resource_schema_url: text(schemaUrl) || undefined },
        ...{ scope: hasFields(scopeFields), scope_schema_url: text(scopeUrl) || undefined },
      };
      records.addAll(listOf(list), (item) => fromJson(item, record), parents);
    }
  }
  return records;
}

function fromJson(value: unknown, { fields }: Message): ParsedFields {
  const object = objectOf(value);
  const result: ParsedFields = {};
  for (const field of fields) {
    // Some senders write the names of protobuf.
    const found = object[field.json] ?? object[snakeCase(field.json)];
    if (found === undefined || found === null) continue;
    const read = field.isList
      ? listOf(found).map((item) => fieldFromJson(item, field))
      : fieldFromJson(found, field);
    if (read !== undefined) result[field.name] = read;
  }
  return result;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function fieldFromJson(value: unknown, { type, name }: Field): unknown {
  if (typeof type === 'object') return fromJson(value, type);
  switch (type) {
    case 'string':
      return text(value) || undefined;
    case 'id': {
      const id = text(value);
      if (!/^(?:[0-9a-f]{2})*$/i.test(id)) throw new MalformedMessage(`\`${name}\` is not hexadecimal`);
      return id.toLowerCase() || undefined;
    }
    case 'uint32':
    case 'fixed32': {
      const number = typeof value === 'string' && value !== '' ? Number(value) : value;
      if (!Number.isInteger(number)) throw new MalformedMessage(`\`${name}\` is not a whole number`);
      return (number as number) || undefined;
    }
    case 'time': {
      const digits = String(value);
      if (!/^\d{1,20}$/.test(digits) || BigInt(digits) >= 1n << 64n)
        throw new MalformedMessage(`\`${name}\` is not a number of nanoseconds`);
      return timeText(BigInt(digits));
    }
    case 'attributes':
      return attributesOf(value);
    default:
      return anyFromJson(value);
  }
}

function attributesOf(value: unknown): ParsedFields {
  const attributes: ParsedFields = {};
  for (const item of listOf(value)) {
    const { key, value } = objectOf(item);
    setField(attributes, text(key), anyFromJson(value));
  }
  return attributes;
}

function anyFromJson(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const any = objectOf(value);
  if (any.stringValue !== undefined) return text(any.stringValue);
  if (any.boolValue !== undefined) return any.boolValue === true;
  if (any.intValue !== undefined) {
    const digits = String(any.intValue);
    if (!/^-?\d{1,19}$/.test(digits)) throw new MalformedMessage('an `intValue` is not a whole number');
    return exactNumber(BigInt(digits));
  }
  if (any.doubleValue !== undefined) {
    const { doubleValue } = any;
    return typeof doubleValue === 'number' ? finite(doubleValue) : text(doubleValue);
  }
  if (any.arrayValue !== undefined) return listOf(objectOf(any.arrayValue).values).map(anyFromJson);
  if (any.kvlistValue !== undefined) return attributesOf(objectOf(any.kvlistValue).values);
  if (any.bytesValue !== undefined) return text(any.bytesValue);
  return null;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new MalformedMessage('an object was expected');
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new MalformedMessage('a list was expected');
}

function text(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new MalformedMessage('a string was expected');
}
