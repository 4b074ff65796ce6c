import { createRequire } from 'node:module';
import { isNativeError } from 'node:util/types';
import { MillraceError } from '../errors.ts';

/** What of lmdb is used; loaded only when there is a state folder. */
export type Lmdb = Pick<typeof import('lmdb'), 'open'>;

/** What it has for `require` is there in half the time of the other. @throws MillraceError if it does not load */
export function loadLmdb(): Lmdb {
  try {
    return createRequire(import.meta.url)('lmdb');
  } catch (error) {
    const [reason] = isNativeError(error) ? error.message.split('\n') : ['an unknown error'];
    throw new MillraceError(
      'MILLRACE_STATE_LMDB',
      `cannot load lmdb, which keeps the state: ${reason}; install the packages anew on this ` +
        'machine (lmdb has native code for each platform), or run without a state',
      { cause: error },
    );
  }
}

/** Where it is, for another process to load. */
export const lmdbPath = (): string => createRequire(import.meta.url).resolve('lmdb');

/**
 * A run loads lmdb when its first event is out. What keeps it from loading is to be said before: as good as always,
 * that its native code was installed for another kind of machine.
 *
 * @throws MillraceError if it does not load
 */
export function expectLmdb(): void {
  try {
    createRequire(lmdbPath()).resolve(`@lmdb/lmdb-${process.platform}-${process.arch}`);
  } catch {
    // It may have been compiled on this machine.
    loadLmdb();
  }
}
