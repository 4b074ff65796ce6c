import { basename, dirname, join } from 'node:path';
import { hasFingerprint } from './fingerprint.ts';
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
/** A file that begins with as many bytes of another one is a copy of it. */
const COPIED_BYTES = 64;

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
          if (isOver || looks === 1) done(inOrder([...found.values()], last));
          else look(looks - 1);
        },
      );
    });
  look(MOST_LOOKS);
}

/** As rotation moves them: `name.2` before `name.10`. So none is missed that is moved on while others are looked at. */
function upwards(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function inOrder(found: readonly Sibling[], last: FollowedFile): readonly OpenFile[] {
  const originals = found.filter((opened) => !isCopy(opened, last));
  for (const opened of found) if (!originals.includes(opened)) closeFile(opened.fd);
  return originals.sort(byAge);
}

/** The clock of a file system ticks every few milliseconds: of files of one tick, a higher number is older, a date younger. */
function byAge(one: Sibling, other: Sibling): number {
  if (one.born !== other.born) return one.born < other.born ? -1 : 1;
  const isNumbered = NUMBER.test(one.path) && NUMBER.test(other.path);
  return isNumbered ? upwards(other.path, one.path) : upwards(one.path, other.path);
}

function isCopy({ head }: OpenFile, { head: { fingerprint } }: FollowedFile): boolean {
  return fingerprint.length >= COPIED_BYTES && hasFingerprint(head, fingerprint);
}
