import fs from 'node:fs';
import { HEAD_BYTES } from './fingerprint.ts';
import { toRawPath } from './raw-path.ts';

/** What names a file whatever its path: device and inode, as digits because they may exceed 2^53. */
export type FileId = `${bigint}:${bigint}`;

export interface FileStatus {
  readonly id: FileId;
  /** Bytes. */
  readonly size: number;
}

/** What tells whether a file may have changed since it was last looked at. */
export interface FileChange extends FileStatus {
  /** Nanoseconds; to be compared only. */
  readonly modified: bigint;
  /** When it, its name included, was changed last, and when it was made; 0 where the file system does not tell. */
  readonly changed: bigint;
  readonly born: bigint;
  /** A symbolic link leads to it, which may be led elsewhere without a trace on the file. */
  readonly isLinked: boolean;
}

export interface OpenFile extends FileChange {
  readonly fd: number;
  /** The first bytes of it. */
  readonly head: Buffer;
}

type Callback<T> = (error: NodeJS.ErrnoException | null, result?: T) => void;

const ignore = () => {};

/** The status of the file at a path, symbolic links followed. Errors on anything that is not a regular file. */
export function statFile(path: string, callback: Callback<FileChange>): void {
  if (path.includes('\0')) {
    // fs.stat would throw.
    callback(Object.assign(new Error('a path with a NUL character names no file'), { code: 'ENOENT' }));
    return;
  }
  const done = (isLinked: boolean) => (error: NodeJS.ErrnoException | null, stats?: fs.BigIntStats) => {
    if (stats === undefined) callback(error);
    else if (stats.isFile()) callback(null, statusOf(stats, isLinked));
    else callback(notRegular(stats));
  };
  const raw = toRawPath(path);
  fs.lstat(raw, { bigint: true }, (error, stats) => {
    if (stats?.isSymbolicLink() === true) fs.stat(raw, { bigint: true }, done(true));
    else done(false)(error, stats);
  });
}

/**
 * Opens a regular file for reading; the status is of what was opened, whatever the path leads to by then. Errors if its
 * first bytes cannot be read: without them it cannot be told from another one.
 */
export function openFile(
  path: string,
  { isLinked }: { isLinked: boolean },
  callback: Callback<OpenFile>,
): void {
  // O_NONBLOCK: opening a pipe nobody writes to would hold a thread of the pool for ever.
  fs.open(toRawPath(path), fs.constants.O_RDONLY | fs.constants.O_NONBLOCK, (error, fd) => {
    if (error) {
      callback(error);
      return;
    }
    fs.fstat(fd, { bigint: true }, (failure, stats) => {
      if (failure !== null || !stats.isFile()) {
        closeFile(fd);
        callback(failure ?? notRegular(stats));
        return;
      }
      const head = Buffer.alloc(HEAD_BYTES);
      fs.read(fd, head, 0, HEAD_BYTES, 0, (unreadable, count) => {
        if (unreadable === null) {
          callback(null, { ...statusOf(stats, isLinked), fd, head: head.subarray(0, count) });
        } else {
          closeFile(fd);
          callback(unreadable);
        }
      });
    });
  });
}

/** Closes a descriptor that was only read from: nothing can be lost by an error. */
export function closeFile(fd: number): void {
  fs.close(fd, ignore);
}

function statusOf(stats: fs.BigIntStats, isLinked: boolean): FileChange {
  const { dev, ino, size, mtimeNs: modified, ctimeNs: changed, birthtimeNs: born } = stats;
  return { id: `${dev}:${ino}`, size: Number(size), modified, changed, born, isLinked };
}

function notRegular(stats: fs.BigIntStats): NodeJS.ErrnoException {
  const message = stats.isDirectory()
    ? 'it is a folder; wanted a file, or a pattern of files such as FOLDER/*.log'
    : 'it is not a regular file; wanted one, for of a pipe or a device nothing can be read twice';
  return Object.assign(new Error(message), { code: 'NOT_A_FILE' });
}
