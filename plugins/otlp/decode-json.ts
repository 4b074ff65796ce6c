import type { ParsedFields } from '../../src/sdk/index.ts';
import { setField } from '../expressions/fields.ts';
import { viewOf } from '../http/byte-writer.ts';
import { DEEPEST, type Field, type Message, RESOURCE, SCOPE, type Signal, TOO_DEEP } from './messages.ts';
import { MalformedMessage } from './protobuf-reader.ts';
import { commonOf, exactNumber, finite, Records, type Reserve } from './records.ts';
import { timeText } from './time-text.ts';

/**
 * The records of a request in OTLP's JSON: names in camel case, ids in hexadecimal digits, numbers of 64 bits as strings.
 *
 * @throws MalformedMessage if what holds the records is malformed
 */
export function decodeJson(request: unknown, { record, json, times }: Signal, reserve: Reserve): Records {
  const records = new Records(0, reserve);
  const all = objectOf(request);
  const groups = member(all, json.resources);
  if (groups === undefined && Object.keys(all).length > 0)
    throw new MalformedMessage(`\`${json.resources}\` is missing`);
  for (const group of listOf(groups)) {
    const { resource, ...inGroup } = objectOf(group);
    const resourceUrl = text(member(inGroup, 'schemaUrl'));
    const ofResource = commonOf('resource', fieldsJson(resource, RESOURCE), resourceUrl);
    for (const part of listOf(member(inGroup, json.scopes))) {
      const { scope, ...inScope } = objectOf(part);
      const items = listOf(member(inScope, json.records));
      const scopeUrl = text(member(inScope, 'schemaUrl'));
      records.begin(items.length, ofResource, commonOf('scope', fieldsJson(scope, SCOPE), scopeUrl));
      for (const item of items) {
        records.add(() => {
          const fields = fromJson(item, record);
          const time = times.map((name) => fields[name]).find((value) => value !== undefined);
          const json = records.startFields(
            time === undefined ? undefined : viewOf(Buffer.from(time as string)),
          );
          json.text(withoutBraces(fields));
        });
      }
    }
  }
  return records;
}

const withoutBraces = (fields: ParsedFields) => JSON.stringify(fields).slice(1, -1);

const fieldsJson = (value: unknown, message: Message) =>
  value === undefined ? '' : withoutBraces(fromJson(value, message));

function fromJson(value: unknown, { fields }: Message): ParsedFields {
  const object = objectOf(value);
  const result: ParsedFields = {};
  for (const field of fields) {
    const found = member(object, field.json);
    if (found === undefined || found === null) continue;
    const read = field.isList
      ? listOf(found).map((item) => fieldFromJson(item, field))
      : fieldFromJson(found, field);
    if (read !== undefined) result[field.name] = read;
  }
  return result;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** A member by its name. Some senders write the names of protobuf, and JSON's mapping of protobuf has receivers take both. */
const member = (object: JsonObject, name: string) => object[name] ?? object[snakeCase(name)];

const snakeCases = new Map<string, string>();

function snakeCase(name: string): string {
  let known = snakeCases.get(name);
  if (known === undefined) {
    known = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeCases.set(name, known);
  }
  return known;
}

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
      const number = integerOf(value, name);
      if (number < 0n || number >= 1n << 32n)
        throw new MalformedMessage(`\`${name}\` is not a number of 32 bits`);
      return Number(number) || undefined;
    }
    case 'time': {
      const time = integerOf(value, name);
      if (time < 0n || time >= 1n << 64n)
        throw new MalformedMessage(`\`${name}\` is not a number of nanoseconds`);
      return timeText(Number(time >> 32n), Number(BigInt.asUintN(32, time)));
    }
    case 'attributes':
      return attributesOf(value, 0);
    default:
      return anyFromJson(value, 0);
  }
}

/** A whole number, or its digits as a string. */
function integerOf(value: unknown, name: string): bigint {
  const isInteger = typeof value === 'string' ? /^-?\d{1,20}$/.test(value) : Number.isSafeInteger(value);
  if (!isInteger) throw new MalformedMessage(`\`${name}\` is not a whole number`);
  return BigInt(value as string | number);
}

function attributesOf(value: unknown, depth: number): ParsedFields {
  const attributes: ParsedFields = {};
  for (const item of listOf(value)) {
    const { key, value } = objectOf(item);
    setField(attributes, text(key), anyFromJson(value, depth));
  }
  return attributes;
}

/** How the members of a value are read. One of them is there. */
const VALUES: Readonly<Record<string, (value: unknown, depth: number) => unknown>> = {
  stringValue: text,
  boolValue: (value) => {
    if (typeof value === 'boolean') return value;
    throw new MalformedMessage('a `boolValue` is not true or false');
  },
  intValue: (value) => exactNumber(BigInt.asIntN(64, integerOf(value, 'intValue'))),
  doubleValue: (value) => {
    // What JavaScript does not have exactly came as a string, and JSON has no NaN.
    if (
      typeof value === 'number' ||
      (typeof value === 'string' && /^(?:NaN|-?Infinity|-?\d[\d.eE+-]*)$/.test(value))
    )
      return finite(Number(value));
    throw new MalformedMessage('a `doubleValue` is not a number');
  },
  arrayValue: (value, depth) => listOf(objectOf(value).values).map((item) => anyFromJson(item, depth + 1)),
  kvlistValue: (value, depth) => attributesOf(objectOf(value).values, depth + 1),
  bytesValue: (value) => {
    if (typeof value === 'string' && /^[\w+/-]*={0,2}$/.test(value)) return value;
    throw new MalformedMessage('a `bytesValue` is not base64');
  },
};

function anyFromJson(value: unknown, depth: number): unknown {
  if (depth > DEEPEST) throw new MalformedMessage(TOO_DEEP);
  if (value === undefined || value === null) return null;
  const any = objectOf(value);
  for (const [name, read] of Object.entries(VALUES)) {
    const found = member(any, name);
    if (found !== undefined && found !== null) return read(found, depth);
  }
  if (Object.values(any).some((own) => own !== null))
    throw new MalformedMessage('a value has none of the known members, such as `stringValue`');
  return null;
}

function objectOf(value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
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
