import { dirname } from 'node:path';
import { closeFile, isMissing } from '../../support/file-system.ts';
import { type OpenFile, openFile } from './file-status.ts';
import { findMoved, MOST_LOOKS, type MovedFile } from './find-moved.ts';
import type { KnownFile } from './follow-settings.ts';
import { compareTail } from './same-file.ts';

/** A file of an earlier run that was renamed since, open. */
export interface EarlierFile {
  /** The file under its earlier path. */
  readonly known: KnownFile;
  readonly path: string;
  readonly opened: OpenFile;
}

type NotNow = (file: KnownFile, path: string, error?: NodeJS.ErrnoException) => void;

/**
 * Of the files of earlier runs those that were renamed since in their folders, mostly by rotation, in their order.
 * `notNow` gets those that may be renamed later, because they are at their paths, and those that are there, or may be, and
 * cannot be opened now.
 */
export async function* earlierFiles(files: Iterable<KnownFile>, notNow: NotNow): AsyncGenerator<EarlierFile> {
  const moved: MovedFile<KnownFile>[] = [];
  const found = (one: MovedFile<KnownFile>) => {
    if (one.path === one.file.path) notNow(one.file, one.path);
    else moved.push(one);
  };
  await findMoved(files, found, (file, error) => notNow(file, dirname(file.path), error));
  for (const { file, path } of inOrder(moved)) {
    const earlier = await openEarlier(file, path, notNow);
    if (earlier !== undefined) yield earlier;
  }
}

/** Opens a file where it was found, or, if it was renamed again in between, where it is by then. */
async function openEarlier(
  known: KnownFile,
  foundAt: string,
  notNow: NotNow,
): Promise<EarlierFile | undefined> {
  let path = foundAt;
  for (let renames = 0; renames <= MOST_LOOKS; renames++) {
    let opened: OpenFile | undefined;
    try {
      opened = await openFile(path, { isLinked: false });
      if (opened.id === known.id) {
        if (await holdsWhatWasRead(opened, known)) return { known, path, opened };
        closeFile(opened.fd);
        return undefined;
      }
      closeFile(opened.fd);
    } catch (error) {
      if (!isMissing(error)) {
        notNow(known, path, error as NodeJS.ErrnoException);
        return undefined;
      }
    }
    const places: string[] = [];
    const found = (moved: MovedFile<KnownFile>) => places.push(moved.path);
    await findMoved([known], found, (_, error) => notNow(known, dirname(known.path), error));
    const [place] = places;
    if (place === undefined) return undefined;
    if (place === known.path) break;
    path = place;
  }
  notNow(known, path);
  return undefined;
}

/** Any file of the folder may have got an inode that was given up. */
async function holdsWhatWasRead({ fd, head }: OpenFile, known: KnownFile): Promise<boolean> {
  if (!known.isSame(head)) return false;
  // One that cannot be read now is taken for the same: reading it tells why.
  return compareTail(fd, known.start).then(
    (verdict) => verdict === 'same',
    () => true,
  );
}

/**
 * Files that were followed at the same path, by age, and each file after the earlier files of its current path. Files
 * that took each other's paths have no order.
 */
function inOrder(files: readonly MovedFile<KnownFile>[]): Iterable<MovedFile<KnownFile>> {
  const sorted = [...files].sort(bySequence);
  const followedAt = new Map<string, MovedFile<KnownFile>[]>();
  for (const moved of sorted) {
    const { path } = moved.file;
    followedAt.set(path, [...(followedAt.get(path) ?? []), moved]);
  }
  const visited = new Set<MovedFile<KnownFile>>();
  const ordered: MovedFile<KnownFile>[] = [];
  const visit = (moved: MovedFile<KnownFile>) => {
    if (visited.has(moved)) return;
    visited.add(moved);
    for (const before of followedAt.get(moved.path) ?? []) visit(before);
    ordered.push(moved);
  };
  for (const moved of sorted) visit(moved);
  return ordered;
}

/** A program may have gone on writing to a file that was renamed, so its time tells less than its sequence. */
function bySequence(a: MovedFile<KnownFile>, b: MovedFile<KnownFile>): number {
  return a.file.sequence - b.file.sequence || Number(a.modified - b.modified);
}
