import fs from 'node:fs';
import type { StartPosition } from './followed-file.ts';
import { matchesChecksum } from './tail-digest.ts';

const LF = 0x0a;
/** Bytes of the first look back; each further one takes twice as many. */
const FIRST_LOOK = 4 * 1024;
const LONGEST_LOOK = 1024 * 1024;

/** Where reading starts, once the bytes before it were looked at. */
export interface FoundStart {
  readonly offset: number;
  /** The line there began out of reach: reading starts behind the next newline. */
  readonly isInLine: boolean;
}

type Done = (error: Error | null, start?: FoundStart) => void;

/**
 * Looks at the bytes before `start`: whether they are still those of its checksum, and, if it may lie inside a line,
 * where that line begins, at most `maxLineBytes` before. Calls back without a start if the bytes are others, or fewer.
 */
export function findStart(
  fd: number,
  start: Pick<StartPosition, 'offset' | 'tail' | 'mayBeInLine'>,
  maxLineBytes: number,
  done: Done,
): void {
  const { offset, tail, mayBeInLine = false } = start;
  const place = () => {
    if (mayBeInLine) findLineStart(fd, offset, Math.max(0, offset - maxLineBytes), done);
    else done(null, { offset, isInLine: false });
  };
  if (tail === undefined) {
    place();
    return;
  }
  readSpan(fd, tail.from, offset, (error, bytes) => {
    if (error !== null) done(error);
    else if (bytes !== undefined && matchesChecksum(bytes, tail)) place();
    else done(null);
  });
}

function findLineStart(fd: number, offset: number, least: number, done: Done): void {
  const look = (end: number, length: number) => {
    const from = Math.max(least, end - length);
    readSpan(fd, from, end, (error, bytes) => {
      const lf = bytes?.lastIndexOf(LF) ?? -1;
      if (error !== null || bytes === undefined) done(error);
      else if (lf !== -1) done(null, { offset: from + lf + 1, isInLine: false });
      else if (from === 0) done(null, { offset: 0, isInLine: false });
      else if (from === least) done(null, { offset, isInLine: true });
      else look(from, Math.min(2 * length, LONGEST_LOOK));
    });
  };
  look(offset, FIRST_LOOK);
}

/** Reads the bytes from `from` to `to`. Calls back without bytes if there are fewer by now. */
export function readSpan(
  fd: number,
  from: number,
  to: number,
  done: (error: Error | null, bytes?: Buffer) => void,
): void {
  const bytes = Buffer.allocUnsafe(to - from);
  fs.read(fd, bytes, 0, bytes.length, from, (error, count) => {
    if (error !== null) done(error);
    else if (count === bytes.length) done(null, bytes);
    else done(null);
  });
}
