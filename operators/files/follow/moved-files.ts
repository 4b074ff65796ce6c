import { dirname, join } from 'node:path';
import { Observable } from 'rxjs';
import { folderModified, listFolder } from './list-folder.ts';
import { type FileId, statFile } from './regular-file.ts';
import { eachLimited } from './scan.ts';

/** Status calls under way at a time. */
const LOOKS_AT_A_TIME = 16;

/** A folder in which files are renamed meanwhile is looked through again, but not without end. */
const MOST_LOOKS = 10;

/** A file by identity, and a path of it. */
export interface PlacedFile {
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
 * Of these files those that are there: at their paths, or elsewhere in the same folder, where rotation renames
 * them. However many are sought, a folder is looked through once, or again if it changes meanwhile. Never errors: `unknown` is
 * told of the files whose folder cannot be listed now, or has gone.
 */
export function findMoved<T extends PlacedFile>(
  files: Iterable<T>,
  unknown: (file: T, error: NodeJS.ErrnoException) => void = () => {},
): Observable<MovedFile<T>> {
  return new Observable((subscriber) => {
    const missing = new Map<string, Map<FileId, T>>();
    const miss = (file: T, next: () => void) =>
      statFile(file.path, (_, status) => {
        if (status?.id === file.id) {
          subscriber.next({ file, path: file.path, modified: status.modified });
        } else {
          const folder = dirname(file.path);
          const others = missing.get(folder) ?? new Map<FileId, T>();
          missing.set(folder, others.set(file.id, file));
        }
        next();
      });
    const look = (path: string, sought: Map<FileId, T>, next: () => void) =>
      statFile(path, (_, status) => {
        if (status !== undefined) {
          const file = sought.get(status.id);
          const { modified } = status;
          if (file !== undefined && sought.delete(file.id)) subscriber.next({ file, path, modified });
        }
        next();
      });
    const search = ([folder, sought]: [string, Map<FileId, T>], next: () => void, looks = MOST_LOOKS) =>
      folderModified(folder, (before) => {
        listFolder(folder, (error, entries) => {
          if (error !== null) for (const file of sought.values()) unknown(file, error);
          const visit = ({ name }: { name: string }, done: () => void) =>
            look(join(folder, name), sought, done);
          eachLimited(entries, LOOKS_AT_A_TIME, visit, () => {
            if (error !== null || sought.size === 0 || looks === 1) next();
            else {
              folderModified(folder, (after) => {
                if (after === before) next();
                else search([folder, sought], next, looks - 1);
              });
            }
          });
        });
      });
    eachLimited(files, LOOKS_AT_A_TIME, miss, () => {
      eachLimited(
        missing,
        1,
        (folder, next) => search(folder, next),
        () => subscriber.complete(),
      );
    });
  });
}
