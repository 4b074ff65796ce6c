import fs from 'node:fs';
import { dirname } from 'node:path';
import { catchError, concat, concatMap, defer, ignoreElements, map, type Observable, throwError } from 'rxjs';
import { fileCall } from './file-call.ts';
import { makeFolder } from './make-folder.ts';

/** The default: the owner writes, the group reads. The umask can take away more. */
export const FILE_MODE = 0o640;

/** Whoever puts a symbolic link in the place of an output must not choose what is written to. A pipe would block. */
const FLAGS = fs.constants.O_RDWR | fs.constants.O_APPEND | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;

/** Device and inode, as digits because they may exceed 2^53. */
export type OutputId = `${bigint}:${bigint}`;

export interface OutputStatus {
  readonly id: OutputId;
  /** Bytes. */
  readonly size: number;
}

export interface OpenOutput extends OutputStatus {
  readonly fd: number;
  /** It was made just now. */
  readonly isNew: boolean;
}

/** Opens a regular file for appending, created with its folder if need be. One that exists keeps its permissions. */
export function openOutput(path: string, mode = FILE_MODE): Observable<OpenOutput> {
  return open(path, FLAGS).pipe(
    map((fd) => ({ fd, isNew: false })),
    catchError((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? create(path, mode) : throwError(() => error),
    ),
    concatMap(({ fd, isNew }) =>
      fileCall<fs.BigIntStats>((done) => fs.fstat(fd, { bigint: true }, done)).pipe(
        map((stats) => {
          if (stats.isFile()) return { fd, isNew, ...statusOf(stats) };
          throw Object.assign(new Error('it is not a regular file'), { code: 'NOT_A_FILE', syscall: 'open' });
        }),
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

/** The status of what is at a path, which may be a symbolic link. */
export function outputStatus(path: string): Observable<OutputStatus> {
  return fileCall<fs.BigIntStats>((done) => fs.lstat(path, { bigint: true }, done)).pipe(map(statusOf));
}

/** The status of an open file. */
export function openStatus(fd: number): Observable<OutputStatus> {
  return fileCall<fs.BigIntStats>((done) => fs.fstat(fd, { bigint: true }, done)).pipe(map(statusOf));
}

/** Never errors: all that was written was confirmed, or reported as failed, before. */
export function closeOutput(fd: number): Observable<never> {
  return fileCall((done) => fs.close(fd, () => done(null))).pipe(ignoreElements());
}

/** Forces a folder's entries to the disk: without that, a new file can be gone after a power cut. */
export function syncFolder(path: string): Observable<never> {
  return open(path, fs.constants.O_RDONLY).pipe(
    concatMap((fd) =>
      fileCall((done) => fs.fsync(fd, done)).pipe(
        concatMap(() => closeOutput(fd)),
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

function create(path: string, mode: number): Observable<{ fd: number; isNew: boolean }> {
  return concat(
    makeFolder(dirname(path)),
    defer(() => open(path, FLAGS | fs.constants.O_CREAT | fs.constants.O_EXCL, mode)),
  ).pipe(
    map((fd) => ({ fd, isNew: true })),
    // Somebody else has just made it, or it is a symbolic link that leads nowhere.
    catchError((error: NodeJS.ErrnoException) =>
      error.code === 'EEXIST' && error.syscall === 'open'
        ? open(path, FLAGS).pipe(map((fd) => ({ fd, isNew: false })))
        : throwError(() => error),
    ),
  );
}

function open(path: string, flags: number, mode?: number): Observable<number> {
  return fileCall<number>((done) => fs.open(path, flags, mode, done));
}

function statusOf({ dev, ino, size }: fs.BigIntStats): OutputStatus {
  return { id: `${dev}:${ino}`, size: Number(size) };
}
