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
  map,
  type Observable,
  of,
  take,
  throwError,
} from 'rxjs';
import { counted } from '../../support/counted.ts';
import { fileCall, readAt } from './file-call.ts';
import { type FileMark, HEAD_BYTES, headDigest } from './file-mark.ts';
import { closeOutput, openOutput, outputStatus } from './open-output.ts';
import { writeError } from './write-error.ts';

/**
 * Cuts off what lies past a mark, in the file that the mark was made of, wherever in its folder that is by now, or in a
 * copy of it that somebody has put back at its path. Emits the bytes that were cut off, if any, or that the file is
 * gone of which nothing was confirmed.
 *
 * Errors, permanently, if there is no such file, if it is shorter than the mark, or if it begins otherwise.
 */
export function cutBack(mark: FileMark): Observable<number | 'gone'> {
  return findMarked(mark).pipe(
    concatMap((path) => {
      if (path !== undefined) return cutFile(path, mark);
      // A power cut may have taken it with all that was in it.
      if (mark.length === 0) return of('gone' as const);
      return refuse(mark, 'it is gone');
    }),
    catchError((error) =>
      throwError(() => (error.permanent === true ? error : writeError(mark.path, error))),
    ),
  );
}

/** The path of the file with this identity, or else of a copy of it at its path; undefined if there is neither. */
function findMarked({ id, path, length, head }: FileMark): Observable<string | undefined> {
  const folder = dirname(path);
  const names$ = fileCall<string[]>((done) => fs.readdir(folder, done)).pipe(
    catchError(unlessMissing<string[]>([])),
  );
  const others$ = names$.pipe(concatMap((names) => names.map((name) => join(folder, name))));
  const same$ = concat(of(path), others$).pipe(
    concatMap((candidate) =>
      outputStatus(candidate).pipe(
        filter((status) => status.id === id),
        map(() => candidate),
        catchError(unlessMissing(undefined)),
        filter((found) => found !== undefined),
      ),
    ),
  );
  const copy$ = outputStatus(path).pipe(
    filter(({ size }) => length > 0 && size >= length),
    concatMap(() => headOf(path, length)),
    filter((found) => found === head),
    map(() => path),
    catchError(unlessMissing(undefined)),
  );
  return concat(same$, copy$).pipe(take(1), defaultIfEmpty(undefined));
}

/** The digest of the first bytes of a file, as far as a mark of this length knows them. */
function headOf(path: string, length: number): Observable<string> {
  return openOutput(path).pipe(
    concatMap(({ fd }) =>
      readAt(fd, 0, Math.min(HEAD_BYTES, length)).pipe(
        concatMap((head) => concat(closeOutput(fd), of(headDigest(head, length)))),
        catchError((error) =>
          concat(
            closeOutput(fd),
            throwError(() => error),
          ),
        ),
      ),
    ),
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

function refuse({ path, length }: FileMark, why: string): Observable<never> {
  const text =
    `cannot go on with ${path} exactly once: ${why}. Its first ${counted(length, 'byte')} were committed; what follows ` +
    'them was not, has to be cut off, and is written again. If the file was moved or compressed, put it back at ' +
    `${path}, uncompressed, and start again. If it is lost, run the pipeline once with \`exactly_once: false\`: it ` +
    'goes on behind the last commit in a new file, and what was written after that commit is written a second time';
  return throwError(() =>
    Object.assign(new Error(text), { code: 'OUTPUT_CHANGED', permanent: true, loggable: true }),
  );
}

function unlessMissing<T>(instead: T): (error: NodeJS.ErrnoException) => Observable<T> {
  return (error) =>
    error.code === 'ENOENT' || error.code === 'ENOTDIR' ? of(instead) : throwError(() => error);
}
