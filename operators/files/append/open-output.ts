import fs from 'node:fs';
import { dirname } from 'node:path';
import { fileSystem } from '../../support/file-system.ts';
import { closeFile, fsCall } from '../../support/fs-calls.ts';

/** The default for files: the owner writes, the group reads. The umask can take away more. */
export const FILE_MODE = 0o640;
/** The same for folders. */
const FOLDER_MODE = 0o750;

/** A symbolic link in the place of an output must not decide where events are written. Opening a pipe would block. */
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
  readonly isNew: boolean;
}

/** Opens a regular file for appending, created with its folder if need be. One that exists keeps its permissions. */
export async function openOutput(path: string, mode = FILE_MODE): Promise<OpenOutput> {
  const { fd, isNew } = await openOrCreate(path, mode);
  try {
    const stats = await fsCall<fs.BigIntStats>((done) => fileSystem.fstat(fd, { bigint: true }, done));
    if (stats.isFile()) return { fd, isNew, ...statusOf(stats) };
    throw Object.assign(new Error('it is not a regular file'), { code: 'NOT_A_FILE', syscall: 'open' });
  } catch (error) {
    await closeFile(fd);
    throw error;
  }
}

/** The status of what is at a path, which may be a symbolic link. */
export async function outputStatus(path: string): Promise<OutputStatus> {
  return statusOf(await fsCall<fs.BigIntStats>((done) => fileSystem.lstat(path, { bigint: true }, done)));
}

/** Forces a folder's entries to the disk: without that, a new file can be gone after a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const fd = await open(path, fs.constants.O_RDONLY);
  try {
    await fsCall((done) => fileSystem.fsync(fd, done));
  } finally {
    await closeFile(fd);
  }
}

/**
 * Makes a folder, and those above it, if they are not there. Not `recursive: true` of Node, which never returns where a
 * folder that exists refuses new ones with ENOENT, as /proc does.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOneFolder(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await makeOneFolder(path);
  }
}

async function makeOneFolder(path: string): Promise<void> {
  try {
    await fsCall((done) => fileSystem.mkdir(path, FOLDER_MODE, done));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    const stats = await fsCall<fs.Stats>((done) => fileSystem.stat(path, done)).catch(() =>
      Promise.reject(error),
    );
    if (stats.isDirectory()) return;
    const what = `ENOTDIR: not a directory, mkdir '${path}'`;
    throw Object.assign(new Error(what), { code: 'ENOTDIR', syscall: 'mkdir' });
  }
}

async function openOrCreate(path: string, mode: number): Promise<{ fd: number; isNew: boolean }> {
  try {
    return { fd: await open(path, FLAGS), isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await makeFolder(dirname(path));
  try {
    const fd = await open(path, FLAGS | fs.constants.O_CREAT | fs.constants.O_EXCL, mode);
    return { fd, isNew: true };
  } catch (error) {
    // Another program has just created it, or it is a symbolic link that leads nowhere.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { fd: await open(path, FLAGS), isNew: false };
  }
}

function open(path: string, flags: number, mode?: number): Promise<number> {
  return fsCall<number>((done) => fileSystem.open(path, flags, mode, done));
}

function statusOf({ dev, ino, size }: fs.BigIntStats): OutputStatus {
  return { id: `${dev}:${ino}`, size: Number(size) };
}
