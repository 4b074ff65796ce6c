import fs from 'node:fs';
import { catchError, concatMap, map, type Observable, of, throwError } from 'rxjs';
import { fileCall } from './file-call.ts';
import { judgeTail, type Tail } from './torn-tail.ts';

const FIRST_LOOK = 64 * 1024;
/** A line longer than this is not looked at: it stays, and gets a newline. */
const LONGEST_LOOK = 64 * 1024 * 1024;

export interface MendedTail {
  /** Bytes in the file now. */
  readonly length: number;
  /** The file is empty or ends with a newline. */
  readonly isTerminated: boolean;
}

/** Cuts off what a crash left of a write at the end of an open file: see {@link judgeTail}. */
export function mendTail(fd: number, size: number): Observable<MendedTail> {
  return lookAtTail(fd, size, FIRST_LOOK).pipe(
    concatMap(({ keep, isTerminated }) => {
      if (keep === size) return of({ length: size, isTerminated });
      return fileCall((done) => fs.ftruncate(fd, keep, done)).pipe(
        map(() => ({ length: keep, isTerminated })),
        // A file that may only be appended to (chattr +a) keeps what it has.
        catchError((error: NodeJS.ErrnoException) =>
          error.code === 'EPERM' ? of({ length: size, isTerminated: false }) : throwError(() => error),
        ),
      );
    }),
  );
}

/** Twice as much each time, so that a long line is not read over and over. */
function lookAtTail(fd: number, size: number, length: number): Observable<Tail> {
  if (size === 0) return of({ keep: 0, isTerminated: true });
  const isAll = length >= size;
  const start = isAll ? 0 : size - length;
  return readAt(fd, start, size - start).pipe(
    concatMap((end) => {
      const tail = judgeTail(end, isAll);
      if (tail !== undefined) return of({ ...tail, keep: start + tail.keep });
      if (length < LONGEST_LOOK) return lookAtTail(fd, size, length * 2);
      return of({ keep: size, isTerminated: end[end.length - 1] === 0x0a });
    }),
  );
}

/** Up to `length` bytes; less if the file ends before. */
export function readAt(fd: number, position: number, length: number): Observable<Buffer> {
  const bytes = Buffer.alloc(length);
  const rest = (read: number): Observable<Buffer> =>
    fileCall<number>((done) => fs.read(fd, bytes, read, length - read, position + read, done)).pipe(
      concatMap((count) =>
        count === 0 || read + count === length ? of(bytes.subarray(0, read + count)) : rest(read + count),
      ),
    );
  return rest(0);
}
