import fs from 'node:fs';
import type { StartPosition } from './followed-file.ts';
import { checksumOf, matchesChecksum, STRETCH, type TailChecksum } from './tail-digest.ts';

const LF = 0x0a;
/** Each look back for the begin of a line takes twice as many bytes as the one before, up to so many. */
const LONGEST_LOOK = 1024 * 1024;

/** Where reading starts, once the bytes before it were looked at. */
export interface FoundStart {
  readonly offset: number;
  /** The line there began out of reach: reading starts behind the next newline. */
  readonly isInLine: boolean;
  /** What stands before `offset`: 8 KiB if there is as much, less if the begin of a line was looked for. */
  readonly before: Buffer;
  /** The checksum of the bytes before where it was looked for; undefined at the begin of the file. */
  readonly tail: TailChecksum | undefined;
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
  const stretchFrom = Math.max(0, offset - STRETCH);
  const from = Math.min(tail?.from ?? offset, stretchFrom);
  readSpan(fd, from, offset, (error, bytes) => {
    const isSame =
      bytes !== undefined && (tail === undefined || matchesChecksum(bytes.subarray(tail.from - from), tail));
    if (error !== null || !isSame) {
      done(error);
      return;
    }
    const before = bytes.subarray(stretchFrom - from);
    const found = { offset, isInLine: false, before, tail: checksumOf(before, offset) };
    if (mayBeInLine) findLineStart(fd, found, Math.max(0, offset - maxLineBytes), done);
    else done(null, found);
  });
}

/** Where the line begins that `start` may lie in, if that is not before `least`. */
function findLineStart(fd: number, start: FoundStart, least: number, done: Done): void {
  const look = (from: number, bytes: Buffer) => {
    const lf = bytes.lastIndexOf(LF);
    if (lf !== -1) done(null, { ...start, offset: from + lf + 1, before: bytes.subarray(0, lf + 1) });
    else if (from === 0) done(null, { ...start, offset: 0, before: bytes.subarray(0, 0) });
    else if (from === least) done(null, { ...start, isInLine: true });
    else {
      const next = Math.max(least, from - Math.min(2 * bytes.length, LONGEST_LOOK));
      readSpan(fd, next, from, (error, earlier) => {
        if (error !== null || earlier === undefined) done(error);
        else look(next, earlier);
      });
    }
  };
  const { offset, before } = start;
  const from = Math.max(least, offset - before.length);
  look(from, before.subarray(before.length - (offset - from)));
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
