import fs from 'node:fs';
import { catchError, concat, concatMap, EMPTY, ignoreElements, type Observable, throwError } from 'rxjs';
import { fileCall } from './file-call.ts';
import { outputStatus } from './open-output.ts';

/** What file systems without hard links say. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a complete file its final name at once. Errors with EEXIST if there is one of that name already. */
export function takeName(temporary: string, final: string): Observable<never> {
  return concat(
    // Not `rename`, which would replace what is there.
    fileCall((done) => fs.link(temporary, final, done)),
    removeFile(temporary),
  ).pipe(
    ignoreElements(),
    catchError((error: NodeJS.ErrnoException) =>
      NO_LINKS.has(error.code ?? '') ? renameTo(temporary, final) : throwError(() => error),
    ),
  );
}

/** Never errors. */
export function removeFile(path: string): Observable<never> {
  return fileCall((done) => fs.unlink(path, () => done(null))).pipe(ignoreElements());
}

/** Two processes could take the same name in the moment between the look and the renaming. */
function renameTo(temporary: string, final: string): Observable<never> {
  return outputStatus(final).pipe(
    concatMap(() =>
      throwError(() => Object.assign(new Error('EEXIST: file already exists'), { code: 'EEXIST' })),
    ),
    catchError((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT'
        ? fileCall((done) => fs.rename(temporary, final, done)).pipe(concatMap(() => EMPTY))
        : throwError(() => error),
    ),
  );
}
