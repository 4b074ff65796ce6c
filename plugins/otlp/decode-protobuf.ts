import { ByteWriter, viewOf } from '../http/byte-writer.ts';
import { DEEPEST, type Field, type Message, RESOURCE, SCOPE, type Signal, TOO_DEEP } from './messages.ts';
import { BYTES, FIXED64, MalformedMessage, ProtobufReader, VARINT } from './protobuf-reader.ts';
import { commonOf, exactNumber, finite, Records, type Reserve } from './records.ts';
import { timeBytes } from './time-text.ts';

const [QUOTE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];
const [NULL, TRUE, FALSE, NO_NAME] = ['null', 'true', 'false', '""'].map((text) =>
  viewOf(Buffer.from(text)),
) as [DataView, DataView, DataView, DataView];
/** Bytes that fit into a resource or a scope without another allocation. */
const COMMON_BYTES = 512;
/** How much longer records are as JSON, about: names are written out, and numbers have digits. */
const JSON_FACTOR = 2;
/** Names of attributes that are compared with each other. */
const MOST_COMPARED = 64;

/**
 * The records of a request in protobuf, as JSON. Bytes become bytes: strings and objects in between would take three times as
 * long. A malformed record is left out and counted. Unknown fields are left out, but groups, which OTLP does not have, are malformed.
 * If a field is there several times, the last one counts: messages are not merged.
 *
 * @throws MalformedMessage if what holds the records is malformed
 */
export function decodeProtobuf(body: Buffer, { record, times }: Signal, reserve: Reserve): Records {
  const records = new Records(JSON_FACTOR * body.length, reserve);
  const timePositions = times.map((name) => record.byName.get(name)?.position ?? 0);
  const writeRecord = (reader: ProtobufReader): void => {
    const places = findFields(reader, record);
    const json = records.startFields(timeIn(reader, places, timePositions));
    writeFields(json, reader, record, places);
  };
  eachPart(new ProtobufReader(viewOf(body)), 1, (group) => {
    const start = group.position;
    const resource = readGroup(group, RESOURCE);
    const ofResource = commonOf('resource', resource.common, resource.schemaUrl);
    group.position = start;
    eachPart(group, 2, (part) => {
      const start = part.position;
      const scope = readGroup(part, SCOPE);
      records.begin(scope.parts, ofResource, commonOf('scope', scope.common, scope.schemaUrl));
      part.position = start;
      eachPart(part, 2, (reader) => records.add(() => writeRecord(reader)));
    });
  });
  return records;
}

/** Reads the messages in the fields with a number, and skips all others. The place of the last one is `last`, if it is known. */
function eachPart(
  reader: ProtobufReader,
  number: number,
  read: (part: ProtobufReader) => void,
  last = Number.POSITIVE_INFINITY,
): void {
  while (reader.position <= last && reader.next()) {
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
    if (reader.number === 1) {
      const json = new ByteWriter(COMMON_BYTES);
      writeMessage(json, reader.message(), message);
      common = json.done().toString();
    } else if (reader.number === 3) schemaUrl = reader.string();
    else {
      if (reader.number === 2) parts++;
      reader.skip();
    }
  }
  return { common, parts, schemaUrl };
}

/** Where the fields of a message are, by their positions in its table. */
interface Places {
  readonly first: (number | undefined)[];
  readonly last: (number | undefined)[];
}

function findFields(reader: ProtobufReader, { byNumber, fields }: Message): Places {
  const first: Places['first'] = new Array(fields.length);
  const last: Places['last'] = new Array(fields.length);
  for (let place = reader.position; reader.next(); place = reader.position) {
    const field = byNumber[reader.number];
    if (field !== undefined) {
      reader.expect(field.wire);
      first[field.position] ??= place;
      last[field.position] = place;
    }
    reader.skip();
  }
  return { first, last };
}

/** The first time of a record that is known. */
function timeIn(
  reader: ProtobufReader,
  { last }: Places,
  positions: readonly number[],
): DataView | undefined {
  for (const position of positions) {
    const place = last[position];
    const time = place === undefined ? undefined : readTime(reader.goTo(place));
    if (time !== undefined) return time;
  }
  return undefined;
}

function readTime(reader: ProtobufReader): DataView | undefined {
  const low = reader.fixed32();
  return timeBytes(reader.fixed32(), low);
}

/** Writes a message without the braces around it. */
const writeMessage = (json: ByteWriter, reader: ProtobufReader, message: Message) =>
  writeFields(json, reader, message, findFields(reader, message));

function writeFields(json: ByteWriter, reader: ProtobufReader, { fields }: Message, places: Places): void {
  const start = json.length;
  for (let position = 0; position < fields.length; position++) {
    const first = places.first[position];
    const last = places.last[position];
    if (first === undefined || last === undefined) continue;
    const field = fields[position] as Field;
    const before = json.length;
    if (before > start) json.byte(COMMA);
    json.copySmall(field.key);
    if (field.type === 'attributes') {
      reader.position = first;
      writeAttributes(json, reader, field.number, 0, last);
    } else if (field.isList) {
      reader.position = first;
      const type = field.type as Message;
      writeList(json, reader, field.number, (item) => writeObject(json, item, type), last);
    } else if (!writeField(json, reader.goTo(last), field)) json.rewind(before);
  }
}

function writeObject(json: ByteWriter, reader: ProtobufReader, message: Message): void {
  json.byte(OPEN);
  writeMessage(json, reader, message);
  json.byte(CLOSE);
}

/** Returns false if the value is the default, which is left out. */
function writeField(json: ByteWriter, reader: ProtobufReader, { type }: Field): boolean {
  if (typeof type === 'object') {
    writeObject(json, reader.message(), type);
    return true;
  }
  const start = json.length;
  switch (type) {
    case 'string':
      reader.copyString(json);
      return json.length > start + NO_NAME.byteLength;
    case 'id':
      reader.copyHex(json);
      return json.length > start + NO_NAME.byteLength;
    case 'uint32':
      return writeNonZero(json, reader.uint32());
    case 'fixed32':
      return writeNonZero(json, reader.fixed32());
    case 'time': {
      const time = readTime(reader);
      if (time === undefined) return false;
      json.byte(QUOTE);
      json.copySmall(time);
      json.byte(QUOTE);
      return true;
    }
    default:
      writeAny(json, reader.message(), 0);
      return true;
  }
}

function writeNonZero(json: ByteWriter, number: number): boolean {
  json.number(number);
  return number !== 0;
}

/** Writes the messages in the fields with a number. The place of the last one is `last`, if it is known. */
function writeList(
  json: ByteWriter,
  reader: ProtobufReader,
  number: number,
  write: (item: ProtobufReader) => void,
  last?: number,
): void {
  json.byte(OPEN_LIST);
  const start = json.length;
  const writeItem = (item: ProtobufReader): void => {
    if (json.length > start) json.byte(COMMA);
    write(item);
  };
  eachPart(reader, number, writeItem, last);
  json.byte(CLOSE_LIST);
}

/** Writes attributes as an object. Of those with the same name, the last one counts, in the place of the first one. */
function writeAttributes(
  json: ByteWriter,
  reader: ProtobufReader,
  number: number,
  depth: number,
  last?: number,
): void {
  json.byte(OPEN);
  const start = json.length;
  const write = (attribute: ProtobufReader): void => {
    if (json.length > start) json.byte(COMMA);
    writeAttribute(json, attribute, depth);
  };
  const { position } = reader;
  const areDistinct = haveDistinctNames(reader, number, last);
  reader.position = position;
  if (areDistinct) eachPart(reader, number, write, last);
  else {
    const byName = new Map<string, ProtobufReader>();
    eachPart(reader, number, (attribute) => byName.set(nameOf(attribute), attribute), last);
    for (const attribute of byName.values()) write(attribute);
  }
  json.byte(CLOSE);
}

/** Whether attributes are few and no two have the same name. False if it is not clear. */
function haveDistinctNames(reader: ProtobufReader, number: number, last?: number): boolean {
  const hashes: number[] = [];
  let areDistinct = true;
  const compare = (attribute: ProtobufReader): void => {
    if (!areDistinct) return;
    const { name } = findAttribute(attribute);
    const hash = name === undefined ? 0 : attribute.goTo(name).hash();
    areDistinct = hashes.length < MOST_COMPARED && !hashes.includes(hash);
    hashes.push(hash);
  };
  eachPart(reader, number, compare, last);
  return areDistinct;
}

function findAttribute(reader: ProtobufReader) {
  let name: number | undefined;
  let value: number | undefined;
  for (let place = reader.position; reader.next(); place = reader.position) {
    if (reader.number <= 2) reader.expect(BYTES);
    if (reader.number === 1) name = place;
    else if (reader.number === 2) value = place;
    reader.skip();
  }
  return { name, value };
}

function nameOf(attribute: ProtobufReader): string {
  const { position } = attribute;
  const { name } = findAttribute(attribute);
  const text = name === undefined ? '' : attribute.goTo(name).string();
  attribute.position = position;
  return text;
}

function writeAttribute(json: ByteWriter, reader: ProtobufReader, depth: number): void {
  const { name, value } = findAttribute(reader);
  if (name === undefined) json.copySmall(NO_NAME);
  else reader.goTo(name).copyString(json);
  json.byte(COLON);
  if (value === undefined) json.copySmall(NULL);
  else writeAny(json, reader.goTo(value).message(), depth);
}

/** How the members of a value are written, by their numbers. */
const ANY_WIRES = [undefined, BYTES, VARINT, VARINT, FIXED64, BYTES, BYTES, BYTES];

/** Writes a value. Of its members, the last one counts. */
function writeAny(json: ByteWriter, reader: ProtobufReader, depth: number): void {
  if (depth > DEEPEST) throw new MalformedMessage(TOO_DEEP);
  let last: number | undefined;
  for (let place = reader.position; reader.next(); place = reader.position) {
    const wire = ANY_WIRES[reader.number];
    if (wire !== undefined) {
      reader.expect(wire);
      last = place;
    }
    reader.skip();
  }
  if (last === undefined) json.copySmall(NULL);
  else writeMember(json, reader.goTo(last), depth);
}

function writeMember(json: ByteWriter, reader: ProtobufReader, depth: number): void {
  switch (reader.number) {
    case 1:
      reader.copyString(json);
      break;
    case 2:
      json.copySmall(Number(reader.int64()) === 0 ? FALSE : TRUE);
      break;
    case 3:
      writeInteger(json, reader.int64());
      break;
    case 4:
      json.text(JSON.stringify(finite(reader.double())));
      break;
    case 5:
      writeList(json, reader.message(), 1, (item) => writeAny(json, item, depth + 1));
      break;
    case 6:
      writeAttributes(json, reader.message(), 1, depth + 1);
      break;
    default:
      json.text(JSON.stringify(reader.base64()));
  }
}

function writeInteger(json: ByteWriter, value: number | bigint): void {
  if (typeof value === 'number') json.number(value);
  else json.text(JSON.stringify(exactNumber(value)));
}
