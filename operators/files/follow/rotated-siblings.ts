import { basename, dirname, join } from 'node:path';
import { readSpan } from './find-start.ts';
import type { FollowedFile } from './followed-file.ts';
import { listFolder } from './list-folder.ts';
import {
  closeFile,
  type FileChange,
  type FileId,
  type OpenFile,
  openFile,
  statFile,
} from './regular-file.ts';
import { eachLimited } from './scan.ts';

/** What rotation adds to the name of a file: a number, or a date. */
const SUFFIX = /^[.-]\d[\d._T:-]*$/;
const ROTATED = /[.-]\d[\d._T:-]*$/;
/** A file with fewer bytes is not taken for a copy: it may hold only what each of them begins with. */
const COPIED_BYTES = 64;
/** So many bytes are compared at the beginning and at the end of what may be a copy. */
const COMPARED_BYTES = 64 * 1024;

/** More digits are a date. */
const NUMBER = /[.-]\d{1,4}$/;
/** A rotation that goes on meanwhile moves names: the folder is looked through again, but not without end. */
const MOST_LOOKS = 10;

type Sibling = OpenFile & { readonly path: string };

export interface RotationOptions {
  isExcluded(path: string): boolean;
  isKnown(id: FileId): boolean;
}

/**
 * The files that were at the path of `last` after it, and were rotated away before they were seen: its siblings
 * `name.1`, `name-DATE` and such, open, the oldest first. They are younger than the last look at `last`: archives of
 * before, and copies of it, are not among them.
 */
export function findRotated(
  path: string,
  last: FollowedFile,
  { isExcluded, isKnown }: RotationOptions,
  done: (found: readonly OpenFile[]) => void,
): void {
  const { nextSince } = last;
  const folder = dirname(path);
  const name = basename(path);
  const found = new Map<FileId, Sibling>();
  const isNew = ({ id, born }: FileChange) =>
    born > 0n && born >= nextSince && id !== last.id && !isKnown(id) && !found.has(id);
  const visit = (sibling: string, missed: () => void, next: () => void) =>
    statFile(sibling, (_, status) => {
      if (status === undefined || status.isLinked || !isNew(status)) {
        next();
        return;
      }
      missed();
      // By its name, it may be another one by now.
      openFile(sibling, status, (_error, opened) => {
        if (opened !== undefined && isNew(opened)) found.set(opened.id, { ...opened, path: sibling });
        else if (opened !== undefined) closeFile(opened.fd);
        next();
      });
    });
  const look = (looks: number) =>
    listFolder(folder, (_, entries) => {
      const siblings = entries
        .map((entry) => entry.name)
        .filter((other) => other.startsWith(name) && SUFFIX.test(other.slice(name.length)))
        .sort(upwards)
        .map((other) => join(folder, other))
        .filter((sibling) => !isExcluded(sibling));
      let isOver = true;
      const missed = () => {
        isOver = false;
      };
      eachLimited(
        siblings,
        1,
        (sibling, next) => visit(sibling, missed, next),
        () => {
          if (isOver || looks === 1) leaveOutCopies([...found.values()], last, done);
          else look(looks - 1);
        },
      );
    });
  look(MOST_LOOKS);
}

/** The path that a file had if this one was given to it by rotation. */
export function nameBeforeRotation(path: string): string {
  return path.replace(ROTATED, '');
}

/** As rotation moves them: `name.2` before `name.10`. So none is missed that is moved on while others are looked at. */
function upwards(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function leaveOutCopies(
  found: readonly Sibling[],
  last: FollowedFile,
  done: (originals: readonly OpenFile[]) => void,
): void {
  const originals: Sibling[] = [];
  const visit = (sibling: Sibling, next: () => void) =>
    isCopy(sibling, last, (isOne) => {
      if (isOne) closeFile(sibling.fd);
      else originals.push(sibling);
      next();
    });
  eachLimited(found, 1, visit, () => done(originals.sort(byAge)));
}

/** The clock of a file system ticks every few milliseconds: of files of one tick, a higher number is older, a date younger. */
function byAge(one: Sibling, other: Sibling): number {
  if (one.born !== other.born) return one.born < other.born ? -1 : 1;
  const isNumbered = NUMBER.test(one.path) && NUMBER.test(other.path);
  return isNumbered ? upwards(other.path, one.path) : upwards(one.path, other.path);
}

/**
 * Whether a file holds what `last` begins with, and nothing else. If `last` is not open, that is not known, and the
 * file is read: lines that come twice are better than lines that are lost.
 */
function isCopy({ fd, size }: OpenFile, last: FollowedFile, done: (isCopy: boolean) => void): void {
  const compare = (from: number, to: number, next: () => void) => {
    // It may be closed meanwhile. Then nothing can be read, or the bytes of another file, which differ.
    if (last.fd === undefined) {
      done(false);
      return;
    }
    readSpan(last.fd, from, to, (_, expected) => {
      readSpan(fd, from, to, (_error, bytes) => {
        if (bytes !== undefined && expected?.equals(bytes) === true) next();
        else done(false);
      });
    });
  };
  if (size < COPIED_BYTES) done(false);
  else {
    compare(0, Math.min(size, COMPARED_BYTES), () => {
      compare(Math.max(0, size - COMPARED_BYTES), size, () => done(true));
    });
  }
}
