import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { loggable } from '../../sdk/errors.ts';
import { path } from '../../sdk/schema-parts.ts';
import { defineBeacon, interval, type Reader, type Reading } from './beacon.ts';

/** A file or folder as it was found; undefined if there was none. */
type Found = BigIntStats | undefined;

/** A promise, because a file may lie on a remote disk. */
async function find(place: string): Promise<Found> {
  try {
    // In nanoseconds: a file may be written twice within a millisecond.
    return await stat(place, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw loggable(error as Error);
  }
}

function reading(place: string, change: string, found: Found): Reading {
  const state = found === undefined ? {} : { size: Number(found.size), modified: found.mtime.toISOString() };
  return { tail: [place, change], data: { path: place, change, ...state } };
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.mtimeNs === b.mtimeNs && a.size === b.size && a.ino === b.ino;
}

/** Compares a path with the round before; the first round only remembers. */
function watch(place: string): Reader {
  let before: { readonly found: Found } | undefined;
  return async () => {
    const found = await find(place);
    const last = before;
    before = { found };
    if (last === undefined) return [];
    if (last.found === undefined) return found === undefined ? [] : [reading(place, 'created', found)];
    if (found === undefined) return [reading(place, 'deleted', found)];
    return isSame(last.found, found) ? [] : [reading(place, 'modified', found)];
  };
}

/**
 * `file_watch/<path>/created`, `…/modified` and `…/deleted`: changes of files and folders, with `size` in bytes
 * and the time when it was `modified`. Changes between two rounds are seen as one.
 */
export const file_watch = defineBeacon({
  name: 'file_watch',
  schema: z.strictObject({ interval: interval(1), paths: z.array(path()).min(1) }),
  readers: ({ paths }) => [...new Set(paths)].map(watch),
});
