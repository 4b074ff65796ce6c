import { concatMap, defer, mergeMap, Observable, retry, tap, toArray } from 'rxjs';
import type { KnownFile, Positions } from './follow-settings.ts';
import { isShortage } from './list-folder.ts';
import { findMoved, type MovedFile } from './moved-files.ts';
import { closeFile, type OpenFile, openFile } from './regular-file.ts';

/** Milliseconds after which it is tried again where no descriptor was left. */
const SHORTAGE_MS = 250;

/** A file of an earlier run that was renamed since, open. */
export interface EarlierFile {
  /** As it was known, with the path that it had. */
  readonly known: KnownFile;
  readonly path: string;
  readonly opened: OpenFile;
}

/** The files of earlier runs that were renamed since in their folders, most by rotation, in their order. */
export function earlierFiles(positions: Positions): Observable<EarlierFile> {
  return movedFiles(positions).pipe(
    mergeMap(inOrder),
    concatMap(({ file, path }) =>
      new Observable<EarlierFile>((subscriber) => {
        openFile(path, { isLinked: false }, (error, opened) => {
          if (error !== null && isShortage(error)) {
            subscriber.error(error);
            return;
          }
          // Any file of the folder may have got an inode that was given up.
          const isSame = opened?.id === file.id && file.isSame(opened.head);
          if (opened === undefined || !isSame || subscriber.closed) {
            if (opened !== undefined) closeFile(opened.fd);
          } else {
            subscriber.next({ known: file, path, opened });
          }
          subscriber.complete();
        });
      }).pipe(retry({ delay: SHORTAGE_MS })),
    ),
  );
}

function movedFiles(positions: Positions): Observable<MovedFile<KnownFile>[]> {
  return defer(() => {
    let shortage: Error | undefined;
    const unknown = (_: KnownFile, error: Error) => {
      if (isShortage(error)) shortage = error;
    };
    const check = () => {
      if (shortage !== undefined) throw shortage;
    };
    return findMoved(positions.known?.() ?? [], unknown).pipe(toArray(), tap(check));
  }).pipe(retry({ delay: SHORTAGE_MS }));
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
