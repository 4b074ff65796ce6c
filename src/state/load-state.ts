import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../errors.ts';
import type { Logger } from '../models/index.ts';
import { readElsewhere } from './read-elsewhere.ts';
import { FORMAT, type StateEntry } from './record.ts';
import { readCopy, type StateCopy } from './state-copy.ts';

/** The files of a state folder. */
export interface StatePaths {
  readonly store: string;
  /** Made at a stop: the whole of the store. */
  readonly closed: string;
  /** Made every few seconds, flushed to the disk. */
  readonly backup: string;
}

export function statePaths(folder: string): StatePaths {
  const path = (name: string) => join(folder, name);
  return { store: path('state.mdb'), closed: path('state.closed'), backup: path('state.backup') };
}

/**
 * The last good state of a folder: the copy of a clean stop; else the store itself; else the last backup, which is
 * some seconds old, so that lines come twice rather than never. What is broken is kept aside, and said.
 *
 * @throws MillraceError if a later version of millrace wrote it
 */
export async function loadState(paths: StatePaths, boot: string, logger: Logger): Promise<StateEntry[]> {
  const closed = goodCopy(paths.closed, logger);
  if (closed !== undefined) {
    if (digest(paths.store) !== closed.header.store) {
      const instead = 'Nothing is lost: going on with the copy that was made when it was closed';
      keepAside(paths.store, 'it is not as it was left', instead, logger);
    }
    return closed.entries;
  }
  const backup = goodCopy(paths.backup, logger);
  const instead =
    backup === undefined
      ? 'There is no good copy: all files are new ones, and `backfill` decides where they begin'
      : `Going on with the copy of ${timeOf(paths.backup)}: lines since then come twice`;
  if (!fs.existsSync(paths.store)) {
    if (backup !== undefined) logger.warn(`${paths.store} is missing. ${instead}`);
    return backup?.entries ?? [];
  }
  // LMDB writes to its lock, which may be a symbolic link that somebody put there.
  fs.rmSync(`${paths.store}-lock`, { force: true });
  const content = await readElsewhere(paths.store);
  if ('damage' in content) {
    keepAside(paths.store, content.damage, instead, logger);
    return backup?.entries ?? [];
  }
  checkFormat(paths.store, content.header.format);
  if (content.header.boot === boot || backup === undefined) return content.entries;
  logger.warn(`${paths.store} may lack what was not flushed before the machine went down. ${instead}`);
  return backup.entries;
}

/** The digest of a file; of none if there is none. */
export function digest(path: string): string {
  return fs.existsSync(path) ? createHash('sha256').update(fs.readFileSync(path)).digest('hex') : '';
}

function goodCopy(path: string, logger: Logger): StateCopy | undefined {
  const copy = readCopy(path);
  if (copy === 'damaged') {
    keepAside(path, 'it does not match its checksums', 'Looking at the other copies', logger);
    return undefined;
  }
  if (copy !== undefined) checkFormat(path, copy.header.format);
  return copy;
}

function checkFormat(path: string, format: number): void {
  if (format <= FORMAT) return;
  throw new MillraceError(
    'MILLRACE_STATE_FORMAT',
    `${path} has format ${format}, and this millrace knows formats up to ${FORMAT}: a later version wrote it; ` +
      'use that version, or another state folder',
  );
}

/** Renames what is broken, so that it can be looked at, and says what happens instead. */
function keepAside(path: string, damage: string, instead: string, logger: Logger): void {
  if (!fs.existsSync(path)) {
    logger.warn(`${path} is missing. ${instead}`);
    return;
  }
  let number = 1;
  while (fs.existsSync(`${path}.broken-${number}`)) number++;
  const aside = `${path}.broken-${number}`;
  fs.renameSync(path, aside);
  logger.error(`${path} is broken: ${damage}. It is kept as ${aside}. ${instead}`);
}

function timeOf(path: string): string {
  return new Date(fs.statSync(path).mtimeMs).toISOString();
}
