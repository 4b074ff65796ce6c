import fs from 'node:fs';
import { toRawPath } from '../../operators/files/follow/file-system.ts';
import type { StateEntry } from '../state/journal.ts';

/** How far a collector has come in a file. */
export interface Checkpoint {
  readonly pipeline: string;
  readonly collector: string;
  /** What names the file whatever its path: device and inode. */
  readonly key: string;
  /** Where it was seen last. */
  readonly path: string;
  /** Bytes. */
  readonly offset: number;
}

/** The checkpoints among what is remembered. */
export function checkpointsOf(entries: readonly StateEntry[]): Checkpoint[] {
  return entries.flatMap(({ pipeline, collector, key, value }) => {
    if (typeof value !== 'object' || value === null || !('offset' in value) || !('path' in value)) return [];
    const { path, offset } = value;
    if (typeof path !== 'string' || typeof offset !== 'number') return [];
    return { pipeline, collector, key, path, offset };
  });
}

/** The size of the file, if it is still at its path; else why that is not known. */
export function sizeNow({ key, path }: Checkpoint): number | 'gone' | 'another file' | 'unreadable' {
  try {
    const { dev, ino, size } = fs.statSync(toRawPath(path), { bigint: true });
    return `${dev}:${ino}` === key ? Number(size) : 'another file';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'unreadable';
  }
}
