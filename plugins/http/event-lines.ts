import { Buffer } from 'node:buffer';
import { type CollectedEvent, parseJson } from '../../src/sdk/index.ts';
import { hasBytes } from '../has-bytes.ts';
import { ByteWriter } from './byte-writer.ts';
import { flatLine } from './documents.ts';

const [LF, QUOTE, BACKSLASH, COMMA, COLON] = [0x0a, 0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const BEFORE_TIMESTAMP = Buffer.from('{"timestamp":"');
const BEFORE_DATA = Buffer.from('","data":{');

/**
 * Finds the parts of events in lines of JSON, as `serialise` writes them, without parsing them: the text of `timestamp`, and
 * what is between the braces of `data`.
 *
 * @example
 * const lines = new EventLines(Buffer.from('{"timestamp":"2026-01-01T00:00:00.000Z","data":{"n":1}}\n'));
 * lines.next(); // true
 * lines.bytes.toString('utf8', lines.dataStart, lines.dataEnd); // '"n":1'
 */
export class EventLines {
  readonly bytes: Buffer;
  /** Of the current event, from 0 on. */
  position = -1;
  /** Whether its parts were found. Otherwise it has to be parsed. */
  isPlain = false;
  timestampStart = 0;
  timestampEnd = 0;
  dataStart = 0;
  dataEnd = 0;
  /** Whether `data` has the field that the constructor got. */
  hasField = false;
  /** The text of that field as JSON, without the quotes, if it is a string. Otherwise both are 0. */
  textStart = 0;
  textEnd = 0;
  readonly #field: Buffer | undefined;
  #start = 0;
  #end = 0;
  #timestamp: Buffer = Buffer.alloc(0);
  #timestampText = '';

  /** @param field the name of a field to look for in `data`. */
  constructor(bytes: Buffer, field?: string) {
    this.bytes = bytes;
    this.#field = field === undefined ? undefined : Buffer.from(JSON.stringify(field));
  }

  /** Goes to the next event. Returns whether there is one. */
  next(): boolean {
    this.#start = this.#end;
    if (this.#start >= this.bytes.length) return false;
    this.position++;
    this.isPlain = this.#findParts();
    this.#end = this.bytes.indexOf(LF, this.isPlain ? this.dataEnd : this.#start) + 1;
    return true;
  }

  /** Of the current event. Lines that were read together have the same one, which is decoded once. */
  get timestamp(): string {
    const { bytes, timestampStart: start, timestampEnd: end } = this;
    if (end - start !== this.#timestamp.length || !hasBytes(bytes, this.#timestamp, start)) {
      this.#timestamp = bytes.subarray(start, end);
      this.#timestampText = this.#timestamp.toString();
    }
    return this.#timestampText;
  }

  /** The current event, parsed. */
  event(): CollectedEvent {
    return parseJson(this.bytes.toString('utf8', this.#start, this.#end)) as CollectedEvent;
  }

  #findParts(): boolean {
    const { bytes } = this;
    if (!hasBytes(bytes, BEFORE_TIMESTAMP, this.#start)) return false;
    this.timestampStart = this.#start + BEFORE_TIMESTAMP.length;
    let at = this.timestampStart;
    while (bytes[at] !== QUOTE) if (at >= bytes.length || bytes[at++] === BACKSLASH) return false;
    this.timestampEnd = at;
    if (!hasBytes(bytes, BEFORE_DATA, at)) return false;
    this.dataStart = at + BEFORE_DATA.length;
    return this.#findEndOfData();
  }

  /** Strings are stepped over, because they may have braces. */
  #findEndOfData(): boolean {
    const { bytes } = this;
    const { length } = bytes;
    let depth = 1;
    let isName = true;
    let isField = false;
    this.hasField = false;
    this.textStart = 0;
    this.textEnd = 0;
    for (let at = this.dataStart; at < length; at++) {
      switch (bytes[at]) {
        case QUOTE: {
          const start = at;
          for (at++; at < length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
          if (isName) {
            isField = depth === 1 && this.#field !== undefined && hasBytes(bytes, this.#field, start);
            this.hasField ||= isField;
          } else if (isField) {
            this.textStart = start + 1;
            this.textEnd = at;
          }
          break;
        }
        case COMMA:
          isName = true;
          break;
        case COLON:
          isName = false;
          break;
        case OPEN:
        case OPEN_LIST:
          depth++;
          isField = false;
          break;
        case CLOSE:
        case CLOSE_LIST:
          if (--depth > 0) break;
          this.dataEnd = at;
          return true;
      }
    }
    return false;
  }
}

/** The events of lines of JSON. */
export function eventsIn(bytes: Buffer): readonly CollectedEvent[] {
  const lines = new EventLines(bytes);
  const events: CollectedEvent[] = [];
  while (lines.next()) events.push(lines.event());
  return events;
}

/**
 * What `flatLine` makes of events, of those that `serialise` wrote.
 *
 * @param timestamp the name of the field for the timestamp.
 * @param writeHead writes what stands in front of each document.
 */
export function flatLines(
  bytes: Buffer,
  timestamp: string,
  writeHead?: (writer: ByteWriter, position: number) => void,
): { readonly bytes: Buffer; readonly count: number } {
  const lines = new EventLines(bytes, timestamp);
  // The head takes about as much as the rest of the envelope, which is left out.
  const writer = new ByteWriter(bytes.length + (bytes.length >> 1));
  const beforeTimestamp = Buffer.from(`{${JSON.stringify(timestamp)}:"`);
  while (lines.next()) {
    writeHead?.(writer, lines.position);
    if (!lines.isPlain) {
      writer.text(flatLine(lines.event(), timestamp));
      continue;
    }
    const isEmpty = lines.dataStart === lines.dataEnd;
    if (lines.hasField) {
      writer.byte(OPEN);
    } else {
      writer.copy(beforeTimestamp);
      writer.copy(bytes, lines.timestampStart, lines.timestampEnd);
      writer.byte(QUOTE);
      if (!isEmpty) writer.byte(COMMA);
    }
    writer.copy(bytes, lines.dataStart, lines.dataEnd);
    writer.byte(CLOSE);
    writer.byte(LF);
  }
  return { bytes: writer.done(), count: lines.position + 1 };
}
