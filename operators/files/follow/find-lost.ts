import { closeFile, isMissing } from '../../support/file-system.ts';
import {
  type Emitted,
  emittedFile,
  type FilePosition,
  isPosition,
  startOf,
} from './acknowledged-positions.ts';
import { isPlausible } from './file-fingerprint.ts';
import { type FileId, findFile, inodeOf, openFile } from './file-status.ts';
import { findMoved } from './find-moved.ts';
import { compareFile, compareTail } from './same-file.ts';

interface Store {
  get(id: string): unknown;
  entries(): Iterable<[key: string, value: unknown]>;
}

/**
 * The paths of files of which lines were emitted and not acknowledged, and which no longer have these lines where a next
 * run looks for them: they are gone, were truncated, hold something else, or are not followed any more.
 */
export async function findLost(store: Store, isFollowed: (path: string) => boolean): Promise<string[]> {
  const lost: string[] = [];
  for (const [key, value] of store.entries()) {
    const id = emittedFile(key);
    if (id === undefined || !isEmitted(value)) continue;
    const found = store.get(id);
    const position = isPosition(found) ? found : undefined;
    if (!(await canComeAgain(id, value, position, isFollowed))) lost.push(value.path);
  }
  return lost;
}

async function canComeAgain(
  id: FileId,
  emitted: Emitted,
  position: FilePosition | undefined,
  isFollowed: (path: string) => boolean,
): Promise<boolean> {
  if (emitted.isCutOff) return false;
  const followed = [emitted.path, position?.path, position?.followedAt].filter((path) => path !== undefined);
  if (!followed.some(isFollowed)) return false;
  const path = await pathOf(id, new Set(followed));
  return path !== undefined && holdsEmitted(path, emitted, position);
}

/** Where the file is by now: at one of its paths, in their folders, or at one of them on a device with another number. */
async function pathOf(id: FileId, paths: ReadonlySet<string>): Promise<string | undefined> {
  for (const path of paths) {
    let place: string | undefined;
    await findMoved(
      [{ id, path }],
      (moved) => (place = moved.path),
      () => {},
    );
    if (place !== undefined) return place;
  }
  for (const path of paths) {
    const status = await findFile(path);
    if (status !== undefined && inodeOf(status.id) === inodeOf(id)) return path;
  }
  return undefined;
}

/** Whether a file has all bytes up to where it was emitted. One that cannot be read now is taken to have them. */
async function holdsEmitted(
  path: string,
  { end, tail }: Emitted,
  position: FilePosition | undefined,
): Promise<boolean> {
  let fd: number | undefined;
  try {
    const opened = await openFile(path, { isLinked: false });
    fd = opened.fd;
    const known = { offset: end, tail: tail !== undefined && isPlausible(tail, end) ? tail : undefined };
    if (compareFile(known, opened) !== 'same') return false;
    if (position !== undefined && compareFile(position, { head: opened.head }) !== 'same') return false;
    if (position !== undefined && (await compareTail(fd, startOf(position))) !== 'same') return false;
    return (await compareTail(fd, known)) === 'same';
  } catch (error) {
    return !isMissing(error);
  } finally {
    if (fd !== undefined) closeFile(fd);
  }
}

function isEmitted(value: unknown): value is Emitted {
  if (typeof value !== 'object' || value === null) return false;
  const { path, end } = value as Partial<Emitted>;
  return typeof path === 'string' && typeof end === 'number';
}
