import { dirname } from 'node:path';
import { concatMap, filter, mergeMap, Observable, toArray } from 'rxjs';
import { findStart } from './find-start.ts';
import type { KnownFile } from './follow-settings.ts';
import { findMoved, type MovedFile } from './moved-files.ts';
import { closeFile, type OpenFile, openFile } from './regular-file.ts';

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
export function earlierFiles(
  files: Iterable<KnownFile>,
  notNow: (file: KnownFile, path: string, error?: NodeJS.ErrnoException) => void,
): Observable<EarlierFile> {
  return findMoved(files, (file, error) => notNow(file, dirname(file.path), error)).pipe(
    filter(({ file, path }) => {
      if (path === file.path) notNow(file, path);
      return path !== file.path;
    }),
    toArray(),
    mergeMap(inOrder),
    concatMap(
      ({ file, path }) =>
        new Observable<EarlierFile>((subscriber) => {
          openFile(path, { isLinked: false }, (error, opened) => {
            if (opened === undefined) {
              if (error !== null) notNow(file, path, error);
              subscriber.complete();
              return;
            }
            const end = (isSame: boolean) => {
              if (isSame && !subscriber.closed) subscriber.next({ known: file, path, opened });
              else closeFile(opened.fd);
              subscriber.complete();
            };
            // Any file of the folder may have got an inode that was given up.
            if (opened.id !== file.id || !file.isSame(opened.head)) end(false);
            else {
              findStart(opened.fd, file.start, 0, (failure, start) => {
                end(failure !== null || start !== undefined);
              });
            }
          });
        }),
    ),
  );
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
