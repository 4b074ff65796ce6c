import { Buffer } from 'node:buffer';
import { isoNow, WrittenEvents, WrittenFields } from '../../src/sdk/index.ts';
import { ByteWriter, viewOf } from '../http/byte-writer.ts';
import { MalformedMessage } from './protobuf-reader.ts';

/** What the records of a resource or a scope have in common: fields as JSON, without braces. */
export interface Common {
  readonly json: Buffer;
  /** About what a copy of the values takes: `json` has six bytes for a control character. */
  readonly memory: number;
}

/** Counts bytes; throws if they are too many. `what` starts the message that says so. */
export type Reserve = (bytes: number, what: string) => void;

/**
 * @param name `resource` or `scope`.
 * @param fields as JSON, without braces.
 * @param schemaUrl empty if there is none.
 */
export function commonOf(name: string, fields: string, schemaUrl: string): Common {
  const own = fields === '' ? '' : `"${name}":{${fields}}`;
  const url = schemaUrl === '' ? '' : `"${name}_schema_url":${JSON.stringify(schemaUrl)}`;
  const json = [own, url].filter(Boolean).join();
  return { json: Buffer.from(json), memory: memoryBytes(JSON.parse(`{${json}}`)) };
}

/** A number of 64 bits; as a string if JavaScript does not have it exactly. */
export const exactNumber = (value: number | bigint) =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);

/** A number that JSON can represent; NaN and the infinities as strings. */
export const finite = (value: number) => (Number.isFinite(value) ? value : String(value));

/** Of a property or an item beside its text, about. */
const VALUE_BYTES = 32;

/** About what a copy takes. Strings count too: a mask may make another one of each. */
function memoryBytes(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  let bytes = VALUE_BYTES;
  if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) bytes += name.length + memoryBytes(item);
  return bytes;
}

/** Of a timestamp, without its zone. */
const MILLISECONDS_LENGTH = '1970-01-01T00:00:00.000'.length;
const BEFORE_TIMESTAMP = viewOf(Buffer.from('{"timestamp":"'));
const BEFORE_FIELDS = viewOf(Buffer.from('Z","data":{'));
const AFTER_FIELDS = viewOf(Buffer.from('},"backfill":false}\n'));
const COMMA = 0x2c;

/** Writes the records of a request as events, in JSON. A record that is malformed is left out and counted. */
export class Records {
  /** Records that are malformed. */
  rejected = 0;
  /** Why the first of them is. */
  problem: string | undefined;
  readonly #expectedBytes: number;
  readonly #reserve: Reserve;
  readonly #now = isoNow();
  readonly #nowBytes = viewOf(Buffer.from(this.#now));
  readonly #json = new ByteWriter(0);
  #size = 0;
  #common: readonly Buffer[] = [];
  #commonBytes = 0;
  /** Of the records, without resources and scopes. */
  #ownBytes = 0;
  #reservedBytes = 0;
  #fieldsStart = 0;

  /** `expectedBytes`: about those of all records as JSON, without resources and scopes. */
  constructor(expectedBytes: number, reserve: Reserve) {
    this.#expectedBytes = expectedBytes;
    this.#reserve = reserve;
  }

  /**
   * Starts `count` records of one resource and one scope. The memory of their copies is reserved first: a request of a few
   * kilobytes may hold thousands of records of a large resource.
   */
  begin(count: number, resource: Common, scope: Common): void {
    this.#common = [resource.json, scope.json];
    this.#commonBytes = resource.json.length + scope.json.length;
    const copy = Math.max(this.#commonBytes, resource.memory + scope.memory);
    if (count === 0) return;
    this.#reserve(count * copy, 'resource and scope, repeated for each record, are');
    this.#reserveOwn(this.#expectedBytes);
    const left = Math.max(0, this.#expectedBytes - this.#ownBytes);
    this.#json.reserve(left + count * this.#commonBytes);
  }

  /** Adds a record. `write` calls `startFields`, and writes the fields as JSON, without the braces around them. */
  add(write: () => void): void {
    const json = this.#json;
    const start = json.length;
    try {
      write();
      for (const common of this.#common) {
        if (common.length === 0) continue;
        if (json.length > this.#fieldsStart) json.byte(COMMA);
        json.copy(common);
      }
      json.copySmall(AFTER_FIELDS);
      this.#size++;
      this.#ownBytes += json.length - start - this.#commonBytes;
      this.#reserveOwn(this.#ownBytes);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      json.rewind(start);
      this.rejected++;
      this.problem ??= error.message;
    }
  }

  /** Has reserved so many bytes for the records, without resources and scopes. */
  #reserveOwn(bytes: number): void {
    if (bytes <= this.#reservedBytes) return;
    this.#reserve(bytes - this.#reservedBytes, 'the records as JSON are');
    this.#reservedBytes = bytes;
  }

  /** Where the fields of a record are to be written. Its time is as `timeText` writes it. */
  startFields(time: DataView = this.#nowBytes): ByteWriter {
    const json = this.#json;
    json.copySmall(BEFORE_TIMESTAMP);
    json.copySmall(time, 0, MILLISECONDS_LENGTH);
    json.copySmall(BEFORE_FIELDS);
    this.#fieldsStart = json.length;
    return json;
  }

  /** The events of all records. */
  rows(): WrittenFields {
    const envelope = { timestamp: this.#now, source: '', backfill: false, isTruncated: false };
    return new WrittenFields(new WrittenEvents(this.#json.done(), this.#size), envelope);
  }
}
