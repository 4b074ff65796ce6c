import type { ParsedFields } from '../../src/sdk/index.ts';
import { setField } from '../expressions/fields.ts';
import { type Field, type Message, RESOURCE, SCOPE, type Signal } from './messages.ts';
import { MalformedMessage } from './protobuf-reader.ts';
import { commonOf, exactNumber, finite, Records, type Reserve } from './records.ts';
import { timeText } from './time-text.ts';

/**
 * The records of a request in OTLP's JSON: names in camel case, ids in hexadecimal digits, numbers of 64 bits as strings.
 *
 * @throws MalformedMessage if what holds the records is malformed
 */
export function decodeJson(request: unknown, { record, json, times }: Signal, reserve: Reserve): Records {
  const records = new Records(reserve);
  for (const group of listOf(objectOf(request)[json.resources])) {
    const { resource, schemaUrl, [json.scopes]: scopes } = objectOf(group);
    const ofResource = commonOf('resource', fieldsJson(resource, RESOURCE), text(schemaUrl));
    for (const part of listOf(scopes)) {
      const { scope, schemaUrl: scopeUrl, [json.records]: list } = objectOf(part);
      const items = listOf(list);
      records.begin(items.length, ofResource, commonOf('scope', fieldsJson(scope, SCOPE), text(scopeUrl)));
      for (const item of items) {
        records.add(() => {
          const fields = fromJson(item, record);
          const time = times.map((name) => fields[name]).find((value) => value !== undefined);
          return { fields: withoutBraces(fields), time: time as string | undefined };
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
      return timeText(Number(BigInt(digits) >> 32n), Number(BigInt.asUintN(32, BigInt(digits))));
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
