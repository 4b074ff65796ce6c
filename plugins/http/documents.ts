import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type CollectedEvent, serialise, toJson, toJsonLine } from '../../src/sdk/index.ts';

const compress = promisify(gzip);
const LF = 0x0a;

/** How events become a body. */
interface BodyFormat {
  readonly format: 'ndjson' | 'json_array' | 'lines';
  readonly payload: 'event' | 'flat';
  readonly compression: 'none' | 'gzip';
}

export const CONTENT_TYPES: Readonly<Record<BodyFormat['format'], string>> = {
  ndjson: 'application/x-ndjson',
  json_array: 'application/json',
  lines: 'text/plain; charset=utf-8',
};

/** Consecutive events of a call as documents, one a line. */
export interface Documents {
  /** Each document has an LF after it, and none in it. */
  readonly bytes: Buffer;
  readonly count: number;
  /** The position of the first one among the events of the call. */
  readonly first: number;
}

/** The documents of some events. @throws PluginError for an event that JSON cannot represent. */
export function documentsOf(events: readonly CollectedEvent[], format: BodyFormat): Documents {
  const write = format.format === 'lines' ? lineOf : format.payload === 'flat' ? flatLine : toJsonLine;
  return { bytes: Buffer.from(events.map((event) => write(event)).join('')), count: events.length, first: 0 };
}

/** The documents of events that are JSON already. */
export function documentsIn(bytes: Buffer): Documents {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  return { bytes, count, first: 0 };
}

/** The fields of `data` beside `timestamp`. A `timestamp` in `data` wins. */
function flatLine(event: CollectedEvent): string {
  try {
    return `${toJson({ timestamp: event.timestamp, ...event.data })}\n`;
  } catch {
    // The error of `serialise` tells the engine which event it is.
    return `${serialise(event)}\n`;
  }
}

/** A line break inside of a line would make two of it. */
function lineOf(event: CollectedEvent): string {
  const { line } = event.data;
  if (typeof line !== 'string') return toJsonLine(event);
  return `${line.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}\n`;
}

/** Two halves of at least one document each, of two or more. */
export function halves(documents: Documents): readonly [Documents, Documents] {
  return split(documents, Math.ceil(documents.count / 2));
}

/** The first `middle` documents, and the others. */
export function split({ bytes, count, first }: Documents, middle: number): readonly [Documents, Documents] {
  let end = 0;
  for (let n = 0; n < middle; n++) end = bytes.indexOf(LF, end) + 1;
  return [
    { bytes: bytes.subarray(0, end), count: middle, first },
    { bytes: bytes.subarray(end), count: count - middle, first: first + middle },
  ];
}

/** The body of a request. */
export async function bodyOf({ bytes }: Documents, { format, compression }: BodyFormat): Promise<Buffer> {
  const body = format === 'json_array' ? jsonArray(bytes) : bytes;
  return compression === 'gzip' ? compress(body) : body;
}

/** A copy: the memory of the documents may be used for another attempt. */
function jsonArray(bytes: Buffer): Buffer {
  const array = Buffer.concat([Buffer.from('['), bytes]);
  for (let at = array.indexOf(LF); at !== -1; at = array.indexOf(LF, at + 1)) array[at] = 0x2c;
  array[array.length - 1] = 0x5d;
  return array;
}
