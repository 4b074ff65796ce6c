import fs from 'node:fs';
import { dirname } from 'node:path';
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  type Observable,
  throwError,
} from 'rxjs';
import { fileCall } from './file-call.ts';

/** Events may be nobody else's business: the owner writes, the group reads. The umask can take away more. */
const FOLDER_MODE = 0o750;

/**
 * Makes a folder, and those above it, if they are not there. Not `recursive: true` of Node, which never comes back
 * where a folder that is there refuses new ones by ENOENT, as /proc does.
 */
export function makeFolder(path: string): Observable<never> {
  return make(path).pipe(
    catchError((error: NodeJS.ErrnoException) => {
      const parent = dirname(path);
      if (error.code !== 'ENOENT' || parent === path) return throwError(() => error);
      return concat(
        makeFolder(parent),
        defer(() => make(path)),
      );
    }),
  );
}

/** Makes one folder, or finds it. */
function make(path: string): Observable<never> {
  return fileCall((done) => fs.mkdir(path, FOLDER_MODE, done)).pipe(
    ignoreElements(),
    catchError((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? throwError(() => error) : findFolder(path, error),
    ),
  );
}

function findFolder(path: string, error: NodeJS.ErrnoException): Observable<never> {
  return fileCall<fs.Stats>((done) => fs.stat(path, done)).pipe(
    catchError(() => throwError(() => error)),
    concatMap((stats) => {
      if (stats.isDirectory()) return EMPTY;
      const what = `ENOTDIR: not a directory, mkdir '${path}'`;
      return throwError(() => Object.assign(new Error(what), { code: 'ENOTDIR', syscall: 'mkdir' }));
    }),
  );
}
