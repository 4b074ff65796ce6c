const LF = 0x0a;
const SPACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
/** How the documents of this package begin, on one line and indented. */
const STARTS = ['{"timestamp":', '{"data":'].map((text) => Buffer.from(text));
const INDENTED_STARTS = ['{\n  "timestamp":', '{\n  "data":'].map((text) => Buffer.from(text));

/** What of the end of a file is to stay. */
export interface Tail {
  /** Bytes of the buffer that stay. Behind them is a document that was never finished, or nothing but zeroes. */
  readonly keep: number;
  /** What stays ends with a newline, or is empty. */
  readonly isTerminated: boolean;
}

/**
 * Looks at the end of a file that is about to be appended to. A document that began like ours and does not end is
 * what a crash left of a write: it was never confirmed, so it will come again and has to go. So have zeroes, which
 * file systems leave after a power cut. All else is somebody's text and stays.
 *
 * @param end the last bytes of the file
 * @param isAll they are the whole of it
 * @returns undefined if more has to be seen
 */
export function judgeTail(end: Buffer, isAll: boolean): Tail | undefined {
  let length = end.length;
  while (length > 0 && end[length - 1] === 0) length--;
  if (length === 0) return isAll ? { keep: 0, isTerminated: true } : undefined;
  const content = end.subarray(0, length);
  const isTerminated = content[length - 1] === LF;
  const lineStart = startOfLine(content, isTerminated ? length - 1 : length);
  if (lineStart === 0 && !isAll) return undefined;
  const line = content.subarray(lineStart, isTerminated ? length - 1 : length);
  const stays = { keep: length, isTerminated };
  if (!isTerminated && STARTS.some((start) => agree(line, start)) && !isDocument(line)) {
    return { keep: lineStart, isTerminated: true };
  }
  if (!isInsideDocument(line)) return stays;
  const start = startOfDocument(content, lineStart, isAll);
  if (start === undefined) return undefined;
  return start === -1 ? stays : { keep: start, isTerminated: true };
}

/** Where the line begins that ends at `end`, its newline not counted. */
function startOfLine(content: Buffer, end: number): number {
  return end === 0 ? 0 : content.lastIndexOf(LF, end - 1) + 1;
}

/** Whether one is the begin of the other. */
function agree(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}

function isDocument(line: Buffer): boolean {
  if (line[line.length - 1] !== CLOSING) return false;
  try {
    JSON.parse(line.toString());
    return true;
  } catch {
    return false;
  }
}

/** Whether an indented document that has such a line must go on. */
function isInsideDocument(line: Buffer): boolean {
  return line[0] === SPACE || (line.length === 1 && line[0] === OPENING);
}

/** The begin of the indented document that a line belongs to; -1 if it belongs to none, undefined if it is not seen. */
function startOfDocument(content: Buffer, lineStart: number, isAll: boolean): number | undefined {
  for (let start = lineStart; ; start = startOfLine(content, start - 1)) {
    if (start === 0 && !isAll) return undefined;
    if (content[start] === OPENING) {
      return INDENTED_STARTS.some((begin) => agree(content.subarray(start), begin)) ? start : -1;
    }
    if (start === 0 || content[start] !== SPACE) return -1;
  }
}
