import { isUtf8 } from 'node:buffer';
import { countLines } from '../../operators/internal.ts';
import { BlockLease, type BlockMemory, LineBlock } from '../../operators/internal-files.ts';
import { isoNow, LineEvents, ParsedEvents, type ParsedFields, type Rows } from '../../src/sdk/index.ts';
import { parseJsonValue } from '../parse/formats.ts';
import type { RequestEvents } from './endpoint.ts';
import { Refusal } from './refusal.ts';

const LF = 0x0a;
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const DEEPEST = 'not JSON, or nested too deeply';

/** Of an event beside its fields. An empty one takes as much, which is many times what it takes in a body. */
const EVENT_BYTES = 100;

/** Any rows. Each has so many bytes of fields that are not in the body. */
export function eventsOf(rows: Rows, addedBytes = 0): RequestEvents {
  return { rows, memoryBytes: rows.size * (EVENT_BYTES + addedBytes) };
}

/** The lines of a text that are not empty. They stay bytes, in the memory of the body. */
export function lineEvents(body: Buffer, source: string, memory: BlockMemory): RequestEvents {
  const text = MARK.equals(body.subarray(0, MARK.length)) ? body.subarray(MARK.length) : body;
  const bytes = text.length === 0 || text.at(-1) === LF ? text : Buffer.concat([text, Buffer.from('\n')]);
  const lease = new BlockLease(memory);
  const block = new LineBlock(bytes, countLines(bytes), { lease }).withoutEmpty;
  const envelope = { timestamp: isoNow(), source, backfill: false, isTruncated: false };
  return { rows: new LineEvents(block, envelope), memoryBytes: 0, release: () => block.release() };
}

/** Events with these data, which nobody else holds. */
export function jsonRows(fields: readonly ParsedFields[], timestamps?: readonly string[]): ParsedEvents {
  return new ParsedEvents(
    fields,
    { timestamp: isoNow(), source: '', backfill: false, isTruncated: false },
    timestamps,
  );
}

/** @throws Refusal if the body is not UTF-8: masks would not see what a sink may */
export function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw new Refusal(400, 'the body is not UTF-8');
  const text = body.toString();
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/**
 * The objects of a body of JSON: one object, an array of objects, or an object a line.
 *
 * @throws Refusal that names the line or item that is not an object
 */
export function jsonObjects(body: Buffer, isJsonLines: boolean): ParsedFields[] {
  const text = textOf(body);
  const whole = isJsonLines ? undefined : parseJsonValue(text);
  if (Array.isArray(whole)) {
    return whole.map((item, index) => expectObject(item, index + 1, 'item'));
  }
  if (isObject(whole)) return [whole];
  const objects: ParsedFields[] = [];
  let position = 0;
  for (let start = 0; start < text.length; ) {
    const lf = text.indexOf('\n', start);
    const end = lf < 0 ? text.length : lf;
    const line = text.slice(start, end);
    position++;
    start = end + 1;
    if (line.trim() === '') continue;
    const value = parseJsonValue(line);
    if (value === undefined)
      throw new Refusal(400, `line ${position} of the body is ${DEEPEST}`, { position });
    objects.push(expectObject(value, position, 'line'));
  }
  return objects;
}

function isObject(value: unknown): value is ParsedFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function expectObject(value: unknown, position: number, what: string): ParsedFields {
  if (isObject(value)) return value;
  throw new Refusal(400, `${what} ${position} of the body is not a JSON object`, { position });
}
