import { Buffer } from 'node:buffer';
import { isoNow, WrittenEvents, WrittenFields } from '../../src/sdk/index.ts';
import { ByteWriter } from '../http/byte-writer.ts';
import { MalformedMessage } from './protobuf-reader.ts';

/** A record as JSON. */
export interface RecordJson {
  /** Its fields, without the braces around them. */
  readonly fields: string;
  /** Its time, as `timeText` writes it. */
  readonly time: string | undefined;
}

/** What the records of a resource or a scope have in common: fields as JSON, without braces. */
export interface Common {
  readonly json: string;
  /** The bytes of `json`, and about those of a copy of the values: `json` has six bytes for a control character. */
  readonly bytes: number;
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
  const json = joined(own, url);
  return { json, bytes: Buffer.byteLength(json), memory: memoryBytes(JSON.parse(`{${json}}`)) };
}

const joined = (one: string, other: string) => (one === '' || other === '' ? one + other : `${one},${other}`);

/** A number of 64 bits; as a string if JavaScript does not have it exactly. */
export const exactNumber = (value: number | bigint) =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);

/** JSON has no others. */
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

/** A request of a hundred records. */
const CAPACITY = 64 * 1024;

/** Writes the records of a request as events, in JSON. A record that is malformed is left out and counted. */
export class Records {
  /** Records that are malformed. */
  rejected = 0;
  /** Why the first of them is. */
  problem: string | undefined;
  readonly #reserve: Reserve;
  readonly #now = isoNow();
  readonly #documents = new ByteWriter(CAPACITY);
  #size = 0;
  #common = '';
  #commonBytes = 0;

  constructor(reserve: Reserve) {
    this.#reserve = reserve;
  }

  /**
   * Starts `count` records of one resource and one scope. The memory of their copies is reserved first: a request of a few
   * kilobytes may hold thousands of records of a large resource.
   */
  begin(count: number, resource: Common, scope: Common): void {
    this.#commonBytes = resource.bytes + scope.bytes;
    const copy = Math.max(this.#commonBytes, resource.memory + scope.memory);
    if (count > 0) this.#reserve(count * copy, 'resource and scope, repeated for each record, are');
    this.#common = joined(resource.json, scope.json);
  }

  add(read: () => RecordJson): void {
    try {
      const { fields, time } = read();
      const timestamp = time === undefined ? this.#now : `${time.slice(0, 23)}Z`;
      const start = this.#documents.length;
      this.#documents.text(
        `{"timestamp":"${timestamp}","data":{${joined(fields, this.#common)}},"backfill":false}\n`,
      );
      this.#size++;
      this.#reserve(this.#documents.length - start - this.#commonBytes, 'the records as JSON are');
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.rejected++;
      this.problem ??= error.message;
    }
  }

  /** The events of all records. */
  rows(): WrittenFields {
    const envelope = { timestamp: this.#now, source: '', backfill: false, isTruncated: false };
    return new WrittenFields(new WrittenEvents(this.#documents.done(), this.#size), envelope);
  }
}
