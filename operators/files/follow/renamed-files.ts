import { basename, dirname, join } from 'node:path';
import { closeFile, isMissing } from '../../support/file-system.ts';
import {
  eachLimited,
  type FileChange,
  type FileId,
  findFile,
  folderStatus,
  listFolder,
  type OpenFile,
  openFile,
  readSpan,
} from './file-system.ts';
import { findStart } from './find-start.ts';
import type { KnownFile } from './follow-settings.ts';
import type { FollowedFile } from './followed-files.ts';

// Rotation renames files in their folder. Three searches find them: followed files by identity, files of an earlier run
// with what was known of them, and files that came and were renamed between two looks.

/** Status calls under way at a time. */
const LOOKS_AT_A_TIME = 16;
/** A folder in which files are renamed meanwhile is looked through again, but not without end. */
const MOST_LOOKS = 10;

/** A file by identity, and a path of it. */
interface PlacedFile {
  readonly id: FileId;
  readonly path: string;
}

/** Where a file is by now: its own path, or another one. */
interface MovedFile<T> {
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
  return findStart(fd, known.start, 0).then(
    (start) => start !== undefined,
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

/** What rotation adds to the name of a file: a number, or a date. */
const SUFFIX = /[.-]\d[\d._T:-]*$/;
/** More digits are a date. */
const NUMBER = /[.-]\d{1,4}$/;
/** A file with fewer bytes is not taken for a copy: it may hold only what each of them starts with. */
const COPIED_BYTES = 64;
/** The number of bytes that are compared at the start and at the end of what may be a copy. */
const COMPARED_BYTES = 64 * 1024;

/** The path is the one where it was seen last. */
type Sibling = OpenFile & { path: string };

interface RotationOptions {
  isExcluded(path: string): boolean;
  /** Whether it is followed, or was until it was read. */
  isKnown(file: FileChange): boolean;
}

/** The path that a file had if this one was given to it by rotation. */
export function nameBeforeRotation(path: string): string {
  return path.replace(SUFFIX, '');
}

/**
 * The files that were at the path of `last` after it, and were rotated away before they were seen: its siblings
 * `name.1`, `name-DATE` and such, open, the oldest first. They are younger than the last look at `last`: older archives,
 * and copies of it, are not among them.
 */
export async function findRotated(
  path: string,
  last: FollowedFile,
  { isExcluded, isKnown }: RotationOptions,
): Promise<readonly OpenFile[]> {
  const { nextSince } = last;
  const folder = dirname(path);
  const name = basename(path);
  const found = new Map<FileId, Sibling>();
  const isNew = (file: FileChange) => {
    const { id, born } = file;
    return born > 0n && born >= nextSince && id !== last.id && !isKnown(file);
  };
  const isSibling = (other: string) =>
    other.startsWith(name) && other.slice(name.length).search(SUFFIX) === 0;
  let isOver = false;
  for (let looks = 0; looks < MOST_LOOKS && !isOver; looks++) {
    isOver = true;
    const entries = await listFolder(folder).catch(() => []);
    const names = entries.map((entry) => entry.name).filter(isSibling);
    const siblings = names.sort(upwards).map((other) => join(folder, other));
    for (const sibling of siblings.filter((sibling) => !isExcluded(sibling))) {
      const status = await findFile(sibling);
      if (status === undefined || status.isLinked || !isNew(status)) continue;
      const one = found.get(status.id);
      if (one?.path === sibling) continue;
      // Paths seen before and after a rotation do not tell which file is older, so all are looked at again.
      isOver = false;
      if (one !== undefined) {
        one.path = sibling;
        continue;
      }
      const opened = await openFile(sibling, status).catch(() => undefined);
      // It may have been renamed meanwhile, and another file has its name.
      if (opened !== undefined && isNew(opened) && !found.has(opened.id))
        found.set(opened.id, { ...opened, path: sibling });
      else if (opened !== undefined) closeFile(opened.fd);
    }
  }
  const originals: Sibling[] = [];
  for (const sibling of found.values()) {
    if (await isCopy(sibling, last)) closeFile(sibling.fd);
    else originals.push(sibling);
  }
  return originals.sort(byAge);
}

/** The order in which rotation moves files: `name.2` before `name.10`. So a file that moves in the meantime is not missed. */
function upwards(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** The clock of a file system ticks every few milliseconds: of files of one tick, a higher number is older, a date younger. */
function byAge(one: Sibling, other: Sibling): number {
  if (one.born !== other.born) return one.born < other.born ? -1 : 1;
  const isNumbered = NUMBER.test(one.path) && NUMBER.test(other.path);
  return isNumbered ? upwards(other.path, one.path) : upwards(one.path, other.path);
}

/**
 * Whether a file holds what `last` starts with, and nothing else. If `last` is not open, that is not known, and the file
 * is read: duplicate lines are better than lost ones.
 */
async function isCopy({ fd, size }: OpenFile, last: FollowedFile): Promise<boolean> {
  const isEqual = async (from: number, to: number) => {
    // It may be closed meanwhile. Then nothing can be read, or the bytes of another file, which differ.
    if (last.fd === undefined) return false;
    const expected = await readSpan(last.fd, from, to).catch(() => undefined);
    const bytes = await readSpan(fd, from, to).catch(() => undefined);
    return bytes !== undefined && expected?.equals(bytes) === true;
  };
  if (size < COPIED_BYTES || !(await isEqual(0, Math.min(size, COMPARED_BYTES)))) return false;
  return isEqual(Math.max(0, size - COMPARED_BYTES), size);
}
