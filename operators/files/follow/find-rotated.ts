import { basename, dirname, join } from 'node:path';
import { closeFile } from '../../support/file-system.ts';
import {
  type FileChange,
  type FileId,
  findFile,
  listFolder,
  type OpenFile,
  openFile,
  readSpan,
} from './file-status.ts';
import { MOST_LOOKS } from './find-moved.ts';

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

/** The file that was at a path before. */
interface LastAtPath {
  readonly id: FileId;
  /** When it was changed last, as last seen at the path; nanoseconds, to be compared only. */
  readonly nextSince: bigint;
}

interface RotationOptions {
  isExcluded(path: string): boolean;
  /** Whether it is followed, or was until it was read. */
  isKnown(file: FileChange): boolean;
  /** That of the file that was there before, as long as it is open. */
  descriptor(): number | undefined;
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
  last: LastAtPath,
  { isExcluded, isKnown, descriptor }: RotationOptions,
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
    if (await isCopy(sibling, descriptor)) closeFile(sibling.fd);
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
async function isCopy({ fd, size }: OpenFile, descriptor: () => number | undefined): Promise<boolean> {
  const isEqual = async (from: number, to: number) => {
    // It may be closed meanwhile. Then nothing can be read, or the bytes of another file, which differ.
    const last = descriptor();
    if (last === undefined) return false;
    const expected = await readSpan(last, from, to).catch(() => undefined);
    const bytes = await readSpan(fd, from, to).catch(() => undefined);
    return bytes !== undefined && expected?.equals(bytes) === true;
  };
  if (size < COPIED_BYTES || !(await isEqual(0, Math.min(size, COMPARED_BYTES)))) return false;
  return isEqual(Math.max(0, size - COMPARED_BYTES), size);
}
