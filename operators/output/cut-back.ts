import fs from 'node:fs';
import { dirname, join } from 'node:path';
import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  type Observable,
  of,
  take,
  throwError,
} from 'rxjs';
import { counted } from '../counted.ts';
import { fileCall } from './file-call.ts';
import { type FileMark, HEAD_BYTES, headDigest } from './file-mark.ts';
import { readAt } from './mend-tail.ts';
import { closeOutput, openOutput, outputStatus } from './open-output.ts';
import { writeError } from './write-error.ts';

/**
 * Cuts off what lies past a mark, in the file that the mark was made of, wherever in its folder that is by now.
 * Emits the bytes that were cut off, if any.
 *
 * Errors, permanently, if there is no such file, if it is shorter than the mark, or if it begins otherwise.
 */
export function cutBack(mark: FileMark): Observable<number> {
  return findMarked(mark).pipe(
    concatMap((path) => {
      if (path !== undefined) return cutFile(path, mark);
      // Nothing of it was confirmed: it may never have been made.
      if (mark.length === 0) return EMPTY;
      return refuse(
        mark,
        'it is gone, and what lies past its confirmed length cannot be cut off; bring it back',
      );
    }),
    catchError((error) =>
      throwError(() => (error.permanent === true ? error : writeError(mark.path, error))),
    ),
  );
}

/** The path of the file with this identity; undefined if there is none in its folder. */
function findMarked({ id, path }: FileMark): Observable<string | undefined> {
  const folder = dirname(path);
  const names$ = fileCall<string[]>((done) => fs.readdir(folder, done)).pipe(
    catchError(unlessMissing<string[]>([])),
  );
  const others$ = names$.pipe(concatMap((names) => names.map((name) => join(folder, name))));
  return concat(of(path), others$).pipe(
    concatMap((candidate) =>
      outputStatus(candidate).pipe(
        filter((status) => status.id === id),
        concatMap(() => of(candidate)),
        catchError(unlessMissing(undefined)),
        filter((found) => found !== undefined),
      ),
    ),
    take(1),
    defaultIfEmpty(undefined),
  );
}

function cutFile(path: string, mark: FileMark): Observable<number> {
  return openOutput(path).pipe(
    concatMap(({ fd, size }) =>
      concat(
        readAt(fd, 0, Math.min(HEAD_BYTES, mark.length)).pipe(
          concatMap((head) => {
            if (size < mark.length)
              return refuse(mark, `it has ${counted(size, 'byte')}, of ${mark.length} that were confirmed`);
            if (headDigest(head, mark.length) !== mark.head)
              return refuse(mark, 'it begins otherwise than it did');
            if (size === mark.length) return EMPTY;
            return concat(
              fileCall((done) => fs.ftruncate(fd, mark.length, done)).pipe(ignoreElements()),
              fileCall((done) => fs.fdatasync(fd, done)).pipe(ignoreElements()),
              of(size - mark.length),
            );
          }),
          catchError((error) =>
            concat(
              closeOutput(fd),
              throwError(() => error),
            ),
          ),
        ),
        defer(() => closeOutput(fd)),
      ),
    ),
  );
}

function refuse({ path }: FileMark, why: string): Observable<never> {
  const text = `cannot go on with ${path} exactly once: ${why}, or forget the pipeline's state to begin anew`;
  return throwError(() =>
    Object.assign(new Error(text), { code: 'OUTPUT_CHANGED', permanent: true, loggable: true }),
  );
}

function unlessMissing<T>(instead: T): (error: NodeJS.ErrnoException) => Observable<T> {
  return (error) =>
    error.code === 'ENOENT' || error.code === 'ENOTDIR' ? of(instead) : throwError(() => error);
}
