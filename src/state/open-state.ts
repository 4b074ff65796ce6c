import fs from 'node:fs';
import { dirname } from 'node:path';
import { isNativeError } from 'node:util/types';
import { MillraceError } from '../errors.ts';
import { type Logger, silentLogger } from '../models/index.ts';
import { FolderLock } from './folder-lock.ts';
import { expectLmdb, loadLmdb } from './lmdb.ts';
import { LmdbStateStore } from './lmdb-state-store.ts';
import { loadState, statePaths } from './load-state.ts';
import { readElsewhere } from './read-elsewhere.ts';
import type { StateEntry } from './record.ts';
import type { StateStore } from './state-store.ts';

export interface OpenStateOptions {
  /** Told what was broken and what could not be written. Default: silent. */
  readonly logger?: Logger;
}

/**
 * Opens the state folder, made if need be, for this process alone: what collectors remember over restarts, such as
 * how far files were read. Give it to a Manager, and close it when the Manager has stopped.
 *
 * A store that was torn, zeroed or truncated is kept aside as `….broken-<n>` and the last good copy is used instead.
 *
 * @throws MillraceError if the folder cannot be used, is held by another process, or is of a later version, and if lmdb
 * does not load on this machine
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
  expectLmdb();
  const lock = await takeFolder(folder);
  try {
    const paths = statePaths(folder);
    const boot = bootId();
    const entries = await loadState(paths, boot, logger);
    // From here on it is not that of a clean stop any more.
    if (fs.existsSync(paths.closed)) fs.renameSync(paths.closed, paths.backup);
    return new LmdbStateStore({ lmdb: loadLmdb, folder, paths, boot, lock, logger }, entries);
  } catch (error) {
    lock.release();
    throw error instanceof MillraceError ? error : unusable(folder, error);
  }
}

/**
 * What a state folder holds now, whether or not a process is using it. Nothing is changed.
 *
 * @throws MillraceError if it cannot be read
 * @example
 * const state = await openState(folder);
 * await readState(folder); // []
 * await state.close();
 */
export async function readState(folder: string): Promise<StateEntry[]> {
  const { store } = statePaths(folder);
  if (!fs.existsSync(store)) return [];
  const content = await readElsewhere(store);
  if ('entries' in content) return content.entries;
  throw new MillraceError(
    'MILLRACE_STATE_FOLDER',
    `cannot read ${store}: ${content.damage}; the next run repairs it from the last good copy`,
  );
}

async function takeFolder(folder: string): Promise<FolderLock> {
  try {
    makeFolder(folder);
    return await FolderLock.take(folder);
  } catch (error) {
    throw error instanceof MillraceError ? error : unusable(folder, error);
  }
}

/** Not `recursive: true` of Node, which never comes back where a folder refuses new ones by ENOENT, as /proc does. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    fs.mkdirSync(path, 0o700);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unusable(folder: string, cause: unknown): MillraceError {
  const reason = isNativeError(cause) ? explained(cause) : 'an unknown error';
  return new MillraceError(
    'MILLRACE_STATE_FOLDER',
    `cannot use the state folder ${folder}: ${reason}; give a folder on a local disk that this process may write to`,
    { cause },
  );
}

function explained({ message, code }: NodeJS.ErrnoException): string {
  return code === 'EEXIST' ? 'it is a file, not a folder' : message;
}

/** What the kernel calls this boot; empty where it does not tell, and then a store that was not closed is not trusted. */
function bootId(): string {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
