import { DEEPEST, type Field, type Message, RESOURCE, SCOPE, type Signal, TOO_DEEP } from './messages.ts';
import { BYTES, FIXED32, FIXED64, MalformedMessage, ProtobufReader, VARINT } from './protobuf-reader.ts';
import { commonOf, exactNumber, finite, type RecordJson, Records, type Reserve } from './records.ts';
import { timeText } from './time-text.ts';

/**
 * The records of a request in protobuf, as JSON: objects in between would take twice as long. A malformed record is left out and
 * counted; unknown fields are left out.
 *
 * @throws MalformedMessage if what holds the records is malformed
 */
export function decodeProtobuf(body: Buffer, { record, times }: Signal, reserve: Reserve): Records {
  const records = new Records(reserve);
  const timeFields = times.map((name) => record.byName.get(name)?.position ?? 0);
  const readRecord = (reader: ProtobufReader): RecordJson => {
    const values = readMessage(reader, record, 0);
    const time = timeFields.map((position) => values[position]).find((value) => value !== undefined);
    return { fields: jsonOf(values, record), time: (time as string | undefined)?.slice(1, -1) };
  };
  eachPart(new ProtobufReader(body), 1, (group) => {
    const resource = readGroup(group.copy(), RESOURCE);
    const ofResource = commonOf('resource', resource.common, resource.schemaUrl);
    eachPart(group, 2, (part) => {
      const scope = readGroup(part.copy(), SCOPE);
      records.begin(scope.parts, ofResource, commonOf('scope', scope.common, scope.schemaUrl));
      eachPart(part, 2, (reader) => records.add(() => readRecord(reader)));
    });
  });
  return records;
}

/** Reads the messages in the fields with a number, and skips all others. */
function eachPart(reader: ProtobufReader, number: number, read: (part: ProtobufReader) => void): void {
  while (reader.next()) {
    if (reader.number !== number) {
      reader.skip();
      continue;
    }
    reader.expect(BYTES);
    read(reader.message());
  }
}

/** What a message has in common for its parts as 1, the number of parts as 2 and the URL of a schema as 3. */
function readGroup(reader: ProtobufReader, message: Message) {
  let common = '';
  let parts = 0;
  let schemaUrl = '';
  while (reader.next()) {
    if (reader.number <= 3) reader.expect(BYTES);
    if (reader.number === 1) common = messageJson(reader.message(), message, 0);
    else if (reader.number === 3) schemaUrl = reader.string();
    else {
      if (reader.number === 2) parts++;
      reader.skip();
    }
  }
  return { common, parts, schemaUrl };
}

/** A field as JSON; the items of a list; the attributes by their names. */
type Value = string | string[] | Map<string, string> | undefined;

const messageJson = (reader: ProtobufReader, message: Message, depth: number) =>
  jsonOf(readMessage(reader, message, depth), message);

/** The fields of a message, by their positions. */
function readMessage(reader: ProtobufReader, { byNumber, fields }: Message, depth: number): Value[] {
  const values: Value[] = new Array(fields.length);
  while (reader.next()) {
    const field = byNumber[reader.number];
    if (field === undefined) {
      reader.skip();
      continue;
    }
    const { position, type, isList } = field;
    if (type === 'attributes') {
      reader.expect(BYTES);
      values[position] ??= new Map();
      readKeyValue(reader.message(), values[position] as Map<string, string>, depth);
      continue;
    }
    const value = readField(reader, field, depth);
    if (value === undefined) continue;
    if (isList) {
      values[position] ??= [];
      (values[position] as string[]).push(value);
    } else values[position] = value;
  }
  return values;
}

/** Without braces. */
function jsonOf(values: readonly Value[], { fields }: Message): string {
  let json = '';
  for (let position = 0; position < fields.length; position++) {
    const value = values[position];
    if (value === undefined) continue;
    if (json !== '') json += ',';
    json += (fields[position] as Field).key;
    if (typeof value === 'string') json += value;
    else json += Array.isArray(value) ? `[${value}]` : objectJson(value);
  }
  return json;
}

function objectJson(properties: ReadonlyMap<string, string>): string {
  let json = '';
  for (const [name, value] of properties) json += `${json === '' ? '' : ','}${JSON.stringify(name)}:${value}`;
  return `{${json}}`;
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
function readField(reader: ProtobufReader, { type }: Field, depth: number): string | undefined {
  if (typeof type === 'object') {
    reader.expect(BYTES);
    return `{${messageJson(reader.message(), type, depth)}}`;
  }
  reader.expect(WIRES[type as keyof typeof WIRES]);
  switch (type) {
    case 'string':
      return quoted(reader.string());
    case 'id':
      return quoted(reader.encoded('hex'));
    case 'uint32':
      return nonZero(reader.uint32());
    case 'fixed32':
      return nonZero(reader.fixed32());
    case 'time': {
      const low = reader.fixed32();
      return quoted(timeText(reader.fixed32(), low));
    }
    default:
      return readAny(reader.message(), depth);
  }
}

const quoted = (text: string | undefined) => (text ? JSON.stringify(text) : undefined);
const nonZero = (number: number) => (number === 0 ? undefined : String(number));

function readKeyValue(reader: ProtobufReader, into: Map<string, string>, depth: number): void {
  let key = '';
  let value = 'null';
  while (reader.next()) {
    if (reader.number > 2) {
      reader.skip();
      continue;
    }
    reader.expect(BYTES);
    if (reader.number === 1) key = reader.string();
    else value = readAny(reader.message(), depth);
  }
  into.set(key, value);
}

/** A value as JSON. */
function readAny(reader: ProtobufReader, depth: number): string {
  if (depth > DEEPEST) throw new MalformedMessage(TOO_DEEP);
  let value = 'null';
  while (reader.next()) value = readAnyField(reader, depth) ?? value;
  return value;
}

function readAnyField(reader: ProtobufReader, depth: number): string | undefined {
  switch (reader.number) {
    case 1:
      reader.expect(BYTES);
      return JSON.stringify(reader.string());
    case 2:
      reader.expect(VARINT);
      return String(reader.uint32() !== 0);
    case 3:
      reader.expect(VARINT);
      return JSON.stringify(exactNumber(reader.int64()));
    case 4:
      reader.expect(FIXED64);
      return JSON.stringify(finite(reader.double()));
    case 5: {
      reader.expect(BYTES);
      const list: string[] = [];
      eachPart(reader.message(), 1, (part) => list.push(readAny(part, depth + 1)));
      return `[${list}]`;
    }
    case 6: {
      reader.expect(BYTES);
      const properties = new Map<string, string>();
      eachPart(reader.message(), 1, (part) => readKeyValue(part, properties, depth + 1));
      return objectJson(properties);
    }
    case 7:
      reader.expect(BYTES);
      return JSON.stringify(reader.encoded('base64'));
    default:
      reader.skip();
      return undefined;
  }
}
