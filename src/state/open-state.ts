import fs from 'node:fs';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { makeFolderSync, OUTPUT_FLAGS } from '../../operators/internal-files.ts';
import { type Logger, silentLogger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { FolderLock } from './folder-lock.ts';
import type { StateEntry } from './journal.ts';
import { findState, loadState } from './load-state.ts';
import { JournalStateStore, type StateStore } from './state-store.ts';

interface OpenStateOptions {
  /** Told what was broken and what could not be written. Default: silent. */
  readonly logger?: Logger;
}

/**
 * Opens the state folder, made if need be, for this process alone: what collectors remember over restarts, such as
 * how far files were read. Give it to a Manager, and close it when the Manager has stopped.
 *
 * A damaged journal is kept aside as `….broken-<n>`, and the newest good copy is used instead.
 *
 * @throws MillraceError if the folder cannot be used, is held by another process, or was written by a version of
 * millrace whose state cannot be read
 * @example
 * const state = await openState(folder);
 * const files = state.of('main', 'access_log');
 * files.set('1:2', { offset: 42 });
 * state.entries();
 * // [{ pipeline: 'main', collector: 'access_log', key: '1:2', value: { offset: 42 } }]
 * await state.close();
 */
export async function openState(
  folder: string,
  { logger = silentLogger }: OpenStateOptions = {},
): Promise<StateStore> {
  const lock = await takeFolder(folder);
  try {
    return new JournalStateStore(folder, lock, logger, loadState(folder, logger));
  } catch (error) {
    lock.release();
    throw error instanceof MillraceError ? error : unusable(folder, error);
  }
}

/**
 * What a run would start with, whether or not a process is using the folder. Nothing is changed.
 *
 * @throws MillraceError if the folder cannot be read, or was written by a version of millrace whose state cannot be read
 * @example
 * const state = await openState(folder);
 * await readState(folder); // []
 * await state.close();
 */
export async function readState(folder: string): Promise<readonly StateEntry[]> {
  try {
    return findState(folder).entries;
  } catch (error) {
    throw error instanceof MillraceError ? error : unusable(folder, error);
  }
}

async function takeFolder(folder: string): Promise<FolderLock> {
  try {
    makeFolderSync(folder, 0o700);
    const lock = await FolderLock.take(folder);
    tightenFiles(folder);
    return lock;
  } catch (error) {
    throw error instanceof MillraceError ? error : unusable(folder, error);
  }
}

/** Takes away what others may do to state files, such as those that were restored from a backup. */
function tightenFiles(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isFile() || !/^(?:state|lock)\./.test(entry.name)) continue;
    let file: number | undefined;
    try {
      file = fs.openSync(join(folder, entry.name), fs.constants.O_RDONLY | OUTPUT_FLAGS);
      if ((fs.fstatSync(file).mode & 0o077) !== 0) fs.fchmodSync(file, 0o600);
    } catch {
      // Another user's: this process cannot, and did not make it.
    } finally {
      if (file !== undefined) fs.closeSync(file);
    }
  }
}

function unusable(folder: string, cause: unknown): MillraceError {
  const reason = isNativeError(cause) ? explained(cause, folder) : 'an unknown error';
  return new MillraceError(
    'MILLRACE_STATE_FOLDER',
    `cannot use the state folder ${folder}: ${reason}; give a writable folder on a local disk`,
    { cause },
  );
}

function explained({ message, code, path }: NodeJS.ErrnoException, folder: string): string {
  return code === 'EEXIST' ? `${path === folder ? 'it' : path} is a file, not a folder` : message;
}
