import { dirname } from 'node:path';
import { concatMap, EMPTY, filter, mergeMap, Observable, toArray } from 'rxjs';
import { findStart } from './find-start.ts';
import type { KnownFile } from './follow-settings.ts';
import { isAbsence } from './list-folder.ts';
import { findMoved, type MovedFile } from './moved-files.ts';
import { closeFile, type OpenFile, openFile } from './regular-file.ts';

type NotNow = (file: KnownFile, path: string, error?: NodeJS.ErrnoException) => void;

/** A file that is renamed again whenever it is to be opened is looked for again, but not without end. */
const MOST_RENAMES = 10;

/** A file of an earlier run that was renamed since, open. */
export interface EarlierFile {
  /** As it was known, with the path that it had. */
  readonly known: KnownFile;
  readonly path: string;
  readonly opened: OpenFile;
}

/**
 * Of the files of earlier runs those that were renamed since in their folders, most by rotation, in their order.
 * `notNow` is told of those that may be renamed yet, because they are at their paths, and of those that are there, or
 * may be, and cannot be opened now.
 */
export function earlierFiles(files: Iterable<KnownFile>, notNow: NotNow): Observable<EarlierFile> {
  return findMoved(files, (file, error) => notNow(file, dirname(file.path), error)).pipe(
    filter(({ file, path }) => {
      if (path === file.path) notNow(file, path);
      return path !== file.path;
    }),
    toArray(),
    mergeMap(inOrder),
    concatMap((moved) => openEarlier(moved, notNow)),
  );
}

/** Opens a file where it was found, or, if it was renamed again in between, where it is by then. */
function openEarlier(
  { file, path }: MovedFile<KnownFile>,
  notNow: NotNow,
  renames = 0,
): Observable<EarlierFile> {
  return new Observable((subscriber) => {
    const searchAgain = () => {
      const again$ = findMoved([file], (_, error) => notNow(file, dirname(file.path), error)).pipe(
        mergeMap((moved) => {
          if (moved.path !== file.path && renames < MOST_RENAMES)
            return openEarlier(moved, notNow, renames + 1);
          notNow(file, moved.path);
          return EMPTY;
        }),
      );
      subscriber.add(again$.subscribe(subscriber));
    };
    openFile(path, { isLinked: false }, (error, opened) => {
      if (opened === undefined) {
        if (error !== null && isAbsence(error)) searchAgain();
        else {
          if (error !== null) notNow(file, path, error);
          subscriber.complete();
        }
        return;
      }
      if (opened.id !== file.id) {
        closeFile(opened.fd);
        searchAgain();
        return;
      }
      const end = (isSame: boolean) => {
        if (isSame && !subscriber.closed) subscriber.next({ known: file, path, opened });
        else closeFile(opened.fd);
        subscriber.complete();
      };
      // Any file of the folder may have got an inode that was given up.
      if (!file.isSame(opened.head)) end(false);
      else {
        findStart(opened.fd, file.start, 0, (failure, start) => {
          end(failure !== null || start !== undefined);
        });
      }
    });
  });
}

/**
 * Those that were followed at one path by age, and each behind those that were followed where it is by now. Files that
 * took each other's paths have no order.
 */
function inOrder(files: readonly MovedFile<KnownFile>[]): Iterable<MovedFile<KnownFile>> {
  const sorted = [...files].sort(byAge);
  const followedAt = new Map<string, MovedFile<KnownFile>[]>();
  for (const moved of sorted) {
    const { path } = moved.file;
    const group = followedAt.get(path);
    if (group === undefined) followedAt.set(path, [moved]);
    else group.push(moved);
  }
  const visited = new Set<MovedFile<KnownFile>>();
  const ordered = new Set<MovedFile<KnownFile>>();
  const visit = (moved: MovedFile<KnownFile>) => {
    if (visited.has(moved)) return;
    visited.add(moved);
    for (const before of followedAt.get(moved.path) ?? []) visit(before);
    ordered.add(moved);
  };
  for (const moved of sorted) visit(moved);
  return ordered;
}

/** Whoever wrote to a file may have gone on when it was renamed, so that its time tells less than its sequence. */
function byAge(a: MovedFile<KnownFile>, b: MovedFile<KnownFile>): number {
  const bySequence = a.file.sequence - b.file.sequence;
  return bySequence === 0 ? Number(a.modified - b.modified) : bySequence;
}
