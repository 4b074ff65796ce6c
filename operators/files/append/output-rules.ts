import fs from 'node:fs';
import { dirname } from 'node:path';
import { writeError } from './write-error.ts';

/** The default for files: the owner writes, the group reads. The umask can take away more. */
export const FILE_MODE = 0o640;
/** The permissions of folders that are created. */
export const FOLDER_MODE = 0o750;

const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

/** A symbolic link in the place of an output must not decide what is written to. Opening a pipe would block. */
export const OUTPUT_FLAGS = O_NOFOLLOW | O_NONBLOCK;
/** To append to a file, which is created if it is not there. */
export const APPEND_FLAGS = OUTPUT_FLAGS | O_WRONLY | O_CREAT | O_APPEND;

/**
 * Opens a regular file for appending, created with its folder if need be. One that exists keeps its permissions.
 *
 * @throws an error of {@link writeError}
 */
export function openToAppendSync(path: string): number {
  try {
    makeFolderSync(dirname(path), FOLDER_MODE);
    const descriptor = fs.openSync(path, APPEND_FLAGS, FILE_MODE);
    if (fs.fstatSync(descriptor).isFile()) return descriptor;
    fs.closeSync(descriptor);
    throw Object.assign(new Error('it is not a regular file'), { code: 'NOT_A_FILE', syscall: 'open' });
  } catch (error) {
    throw writeError(path, error as NodeJS.ErrnoException);
  }
}

/**
 * Makes a folder, and those above it, if they are not there. Not `recursive: true` of Node, which never returns where a
 * folder that exists refuses new ones with ENOENT, as /proc does.
 */
export function makeFolderSync(path: string, mode: number): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolderSync(parent, mode);
  try {
    fs.mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
