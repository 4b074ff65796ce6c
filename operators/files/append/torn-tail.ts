import { concat, concatMap, defer, type Observable, of } from 'rxjs';
import { readAt } from './file-call.ts';
import { readBackwards, readForwards } from './file-chunks.ts';

const LF = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const OPENING_LIST = 0x5b;
const CLOSING_LIST = 0x5d;
/** How the documents of this package begin, on one line and indented. */
const STARTS = ['{"timestamp":', '{"data":'].map((text) => Buffer.from(text));
const INDENTED_STARTS = ['{\n  "timestamp":', '{\n  "data":'].map((text) => Buffer.from(text));
/** Bytes that are enough to know them. */
const LONGEST_START = 32;

/** What of the end of a file is to stay. */
export interface Tail {
  /** Bytes of the file that stay. Behind them is a document that was never finished, or nothing but zeroes. */
  readonly keep: number;
  /** What stays ends with a newline, or is empty. */
  readonly isTerminated: boolean;
}

/**
 * Looks at the end of a file that is about to be appended to. A document that began like ours and does not end is
 * what a crash left of a write: it was never confirmed, so it will come again and has to go. So have zeroes, which
 * file systems leave after a power cut. All else is somebody's text and stays. The memory it takes does not depend on
 * how long that document is.
 */
export function findTail(fd: number, size: number): Observable<Tail> {
  return emitted<Content>((set) => findContent(fd, size, set)).pipe(
    concatMap((content) =>
      content === undefined ? of({ keep: 0, isTerminated: true }) : tailOf(fd, content),
    ),
  );
}

interface Content {
  /** Where it ends: zeroes follow, or nothing. */
  readonly end: number;
  readonly lastByte: number;
}

function findContent(fd: number, size: number, found: (content: Content) => void): Observable<never> {
  return readBackwards(fd, 0, size, (bytes, position) => {
    let length = bytes.length;
    while (length > 0 && bytes[length - 1] === 0) length--;
    if (length === 0) return false;
    found({ end: position + length, lastByte: bytes[length - 1] as number });
    return true;
  });
}

function tailOf(fd: number, { end, lastByte }: Content): Observable<Tail> {
  const isTerminated = lastByte === LF;
  const stays: Tail = { keep: end, isTerminated };
  return emitted<Lines>((set) => findLines(fd, isTerminated ? end - 1 : end, set)).pipe(
    concatMap((lines) => {
      if (lines === undefined) return of(stays);
      const { start, isLast } = lines;
      const cut: Tail = { keep: start, isTerminated: true };
      return readAt(fd, start, Math.min(LONGEST_START, end - start)).pipe(
        concatMap((head) => {
          if (INDENTED_STARTS.some((begin) => agree(head, begin))) return of(cut);
          if (isTerminated || !isLast || !STARTS.some((begin) => agree(head, begin))) return of(stays);
          if (lastByte !== CLOSING) return of(cut);
          return emitted<true>((set) => findEnd(fd, start, end, set)).pipe(
            concatMap((isWhole) => of(isWhole ? stays : cut)),
          );
        }),
      );
    }),
  );
}

interface Lines {
  /** Where the last line begins that is not indented: a document that lacks its end cannot begin before it. */
  readonly start: number;
  /** No other line follows. */
  readonly isLast: boolean;
}

/** Finds nothing if all lines ahead of `end` are indented. */
function findLines(fd: number, end: number, found: (lines: Lines) => void): Observable<never> {
  let isLast = true;
  let following: number | undefined;
  const isFound = (start: number, first: number | undefined) => {
    if (first !== SPACE) found({ start, isLast });
    isLast = false;
    return first !== SPACE;
  };
  return readBackwards(fd, 0, end, (bytes, position) => {
    for (let at = bytes.lastIndexOf(LF); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(LF, at - 1)) {
      if (isFound(position + at + 1, at + 1 < bytes.length ? bytes[at + 1] : following)) return true;
    }
    following = bytes[0];
    return position === 0 && isFound(0, following);
  });
}

/** Finds the end of a JSON document on one line, if it ends with the part of the file. */
function findEnd(fd: number, start: number, end: number, found: (isWhole: true) => void): Observable<never> {
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  return readForwards(fd, start, end, (bytes, position) => {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      // Zeroes of a power cut, among others.
      if (byte < SPACE) return true;
      if (isString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isString = false;
      } else if (byte === QUOTE) isString = true;
      else if (byte === OPENING || byte === OPENING_LIST) depth++;
      else if (byte === CLOSING || byte === CLOSING_LIST) {
        if (--depth > 0) continue;
        if (position + i + 1 === end) found(true);
        return true;
      }
    }
    return false;
  });
}

/** What a search has found, when it is over. */
function emitted<T>(search: (found: (value: T) => void) => Observable<never>): Observable<T | undefined> {
  return defer(() => {
    let value: T | undefined;
    const found = (result: T) => {
      value = result;
    };
    return concat(
      search(found),
      defer(() => of(value)),
    );
  });
}

/** Whether one is the begin of the other. */
function agree(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}
