import { statfs } from 'node:fs/promises';
import * as z from 'zod';
import { loggable } from '../../sdk/errors.ts';
import { path } from '../../sdk/schema-parts.ts';
import { systemInformation } from '../system-information.ts';
import { builtIn } from './host-function.ts';

/** The file system that a path lies on. Sizes in bytes. */
export interface DiskUsage {
  /** The path that was asked for, or the place where the file system is mounted. */
  readonly path: string;
  readonly size: number;
  readonly used: number;
  /** What a process without privileges can still write: less than `size` − `used`. */
  readonly available: number;
  /** `used` ÷ (`used` + `available`) × 100, as `df` counts. */
  readonly used_percent: number;
}

// Promises, because `statfs` may wait for a remote disk, and systeminformation offers nothing else.

/** The usage of the file system that a file or folder lies on. */
export async function readDiskUsage(place: string): Promise<DiskUsage> {
  const { bsize, blocks, bfree, bavail } = await statfs(place).catch((error) => {
    throw loggable(error);
  });
  return usage(place, { size: blocks * bsize, used: (blocks - bfree) * bsize, available: bavail * bsize });
}

/** The usage of every mounted file system that holds files. */
export async function readAllDiskUsage(): Promise<DiskUsage[]> {
  const { fsSize } = await systemInformation();
  return (await fsSize()).map(({ mount, ...sizes }) => usage(mount, sizes));
}

function usage(
  place: string,
  { size, used, available }: { size: number; used: number; available: number },
): DiskUsage {
  const writable = used + available;
  return {
    path: place,
    size,
    used,
    available,
    used_percent: writable === 0 ? 0 : (used / writable) * 100,
  };
}

/** `disk.usage(path)`: a list of one {@link DiskUsage}; without a path, of all mounted file systems. */
export const diskUsage = builtIn({
  name: 'disk.usage',
  parameters: z.strictObject({ path: path().optional() }),
  run: async ({ path: place }) => (place === undefined ? readAllDiskUsage() : [await readDiskUsage(place)]),
});
