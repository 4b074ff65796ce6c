import { CODE } from './written-lines-code.ts';

/** Of the memory of the reader: how each line has to start, and then the lines. */
const SOURCE = 64;
/** NULs after the lines: what is looked at together may go beyond them. */
const BEYOND = 64;
const LF = 0x0a;
const BEFORE = '{"timestamp":"';
const AFTER = '","data":{';
const TIMESTAMP_LENGTH = '2026-01-01T00:00:00.000Z'.length;
/** Each one costs more to look at than the lines, and lines that were collected together share one. */
const MOST_TIMESTAMPS = 64;

interface LineReader {
  readonly memory: Buffer;
  /** How many lines `recognise` has recognised. */
  readonly lines: { readonly value: number };
  /** Where the first line starts that is not recognised, or `end`. */
  readonly recognise: (from: number, end: number) => number;
}

let reader: LineReader | 'none' | undefined;
/** Messages that follow each other often hold lines of one batch. */
let lastTimestamp = '';

/**
 * How many events some bytes hold, if they are JSON Lines exactly as `serialise` writes events. The bytes can then be
 * forwarded as they are, and parsed only if something asks for the events.
 *
 * @param bytes in UTF-8, which is not checked.
 * @param isTimestamp whether 24 characters are a timestamp in the form that events have.
 * @returns `undefined` if they were written by something else, which may hold events too; with many timestamps; above a
 * megabyte; and on a processor or in a process without WebAssembly and its vectors.
 */
export function countWrittenEvents(
  bytes: Uint8Array,
  isTimestamp: (text: string) => boolean,
): number | undefined {
  reader ??= lineReader();
  if (reader === 'none') return undefined;
  const { memory, lines, recognise } = reader;
  const end = SOURCE + bytes.length;
  if (end + BEYOND > memory.length || bytes.at(-1) !== LF) return undefined;
  memory.set(bytes, SOURCE);
  memory.fill(0, end, end + BEYOND);
  let count = 0;
  let at = SOURCE;
  for (let timestamps = 0; at < end && timestamps < MOST_TIMESTAMPS; timestamps++) {
    const start = at + BEFORE.length;
    const timestamp = memory.toString('latin1', start, start + TIMESTAMP_LENGTH);
    if (timestamp !== lastTimestamp && !isTimestamp(timestamp)) return undefined;
    lastTimestamp = timestamp;
    memory.write(BEFORE + timestamp + AFTER, 0);
    at = recognise(at, end);
    if (lines.value === 0) return undefined;
    count += lines.value;
  }
  return at === end ? count : undefined;
}

function lineReader(): LineReader | 'none' {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(CODE, 'base64')));
    return {
      memory: Buffer.from((exports.memory as { readonly buffer: ArrayBuffer }).buffer),
      lines: exports.lines as LineReader['lines'],
      recognise: exports.recognise as LineReader['recognise'],
    };
  } catch {
    return 'none';
  }
}
