import fs from 'node:fs';

/** What names a file whatever its path: device and inode, as digits because they may exceed 2^53. */
export type FileId = `${bigint}:${bigint}`;

export interface FileStatus {
  readonly id: FileId;
  /** Bytes. */
  readonly size: number;
}

export interface OpenFile extends FileStatus {
  readonly fd: number;
}

type Callback<T> = (error: NodeJS.ErrnoException | null, result?: T) => void;

const ignore = () => {};

/** The status of the file at a path, symbolic links followed. Errors on anything that is not a regular file. */
export function statFile(path: string, callback: Callback<FileStatus>): void {
  if (path.includes('\0')) {
    // fs.stat would throw.
    callback(Object.assign(new Error('a path with a NUL character names no file'), { code: 'ENOENT' }));
    return;
  }
  fs.stat(path, { bigint: true }, (error, stats) => {
    if (error) callback(error);
    else if (stats.isFile()) callback(null, statusOf(stats));
    else callback(notRegular(path));
  });
}

/** Opens a regular file for reading; the status is of what was opened, whatever the path leads to by then. */
export function openFile(path: string, callback: Callback<OpenFile>): void {
  // O_NONBLOCK: opening a pipe nobody writes to would hold a thread of the pool for ever.
  fs.open(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK, (error, fd) => {
    if (error) {
      callback(error);
      return;
    }
    fs.fstat(fd, { bigint: true }, (failure, stats) => {
      if (failure === null && stats.isFile()) {
        callback(null, { ...statusOf(stats), fd });
        return;
      }
      closeFile(fd);
      callback(failure ?? notRegular(path));
    });
  });
}

/** Closes a descriptor that was only read from: nothing can be lost by an error. */
export function closeFile(fd: number): void {
  fs.close(fd, ignore);
}

function statusOf(stats: fs.BigIntStats): FileStatus {
  return { id: `${stats.dev}:${stats.ino}`, size: Number(stats.size) };
}

function notRegular(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${path} is not a regular file`), { code: 'NOT_A_FILE' });
}
