import { dirname, join } from 'node:path';
import { eachLimited, type FileId, findFile, folderStatus, listFolder } from './file-status.ts';

/** Status calls under way at a time. */
const LOOKS_AT_A_TIME = 16;
/** A folder in which files are renamed meanwhile is looked through again, but not without end. */
export const MOST_LOOKS = 10;

/** A file by identity, and a path of it. */
interface PlacedFile {
  readonly id: FileId;
  readonly path: string;
}

/** Where a file is by now: its own path, or another one. */
export interface MovedFile<T> {
  readonly file: T;
  readonly path: string;
  /** When it was last modified; nanoseconds, to be compared only. */
  readonly modified: bigint;
}

/**
 * Finds files by identity, at their paths or elsewhere in the same folders. However many are searched for, each folder is
 * listed once, or again if it changes meanwhile. Never rejects: `unknown` gets the files whose folder cannot be listed now,
 * or is gone.
 */
export async function findMoved<T extends PlacedFile>(
  files: Iterable<T>,
  found: (moved: MovedFile<T>) => void,
  unknown: (file: T, error: NodeJS.ErrnoException) => void,
): Promise<void> {
  const missing = new Map<string, Map<FileId, T>>();
  await eachLimited(files, LOOKS_AT_A_TIME, async (file) => {
    const status = await findFile(file.path);
    if (status?.id === file.id) {
      found({ file, path: file.path, modified: status.modified });
      return;
    }
    const folder = dirname(file.path);
    const others = missing.get(folder) ?? new Map<FileId, T>();
    missing.set(folder, others.set(file.id, file));
  });
  for (const [folder, sought] of missing) {
    try {
      await searchFolder(folder, sought, found);
    } catch (error) {
      for (const file of sought.values()) unknown(file, error as NodeJS.ErrnoException);
    }
  }
}

/** Takes the files that are found out of `sought`. */
async function searchFolder<T extends PlacedFile>(
  folder: string,
  sought: Map<FileId, T>,
  found: (moved: MovedFile<T>) => void,
): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS && sought.size > 0; looks++) {
    const before = await folderStatus(folder);
    await eachLimited(await listFolder(folder), LOOKS_AT_A_TIME, async ({ name }) => {
      const path = join(folder, name);
      const status = await findFile(path);
      const file = status && sought.get(status.id);
      if (file === undefined || status === undefined) return;
      sought.delete(file.id);
      found({ file, path, modified: status.modified });
    });
    if ((await folderStatus(folder))?.modified === before?.modified) return;
  }
}
