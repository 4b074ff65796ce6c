import fs from 'node:fs';
import { catchError, concatMap, map, type Observable, of, throwError } from 'rxjs';
import { fileCall } from './file-call.ts';
import { findTail } from './torn-tail.ts';

export interface MendedTail {
  /** Bytes in the file now. */
  readonly length: number;
  /** The file is empty or ends with a newline. */
  readonly isTerminated: boolean;
}

/** Cuts off what a crash left of a write at the end of an open file: see {@link findTail}. */
export function mendTail(fd: number, size: number): Observable<MendedTail> {
  return findTail(fd, size).pipe(
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
