import { asyncScheduler } from 'rxjs';
import { type Fingerprint, fingerprintOf, isPlausible, type TailChecksum } from './file-fingerprint.ts';
import { type FileId, inodeOf } from './file-status.ts';
import { nameBeforeRotation } from './find-rotated.ts';
import type { KnownFile, Positions } from './follow-settings.ts';
import type { LineBatch } from './line-block.ts';
import { compareFile } from './same-file.ts';
import type { FoundFile, StartPosition } from './start-position.ts';

/** Where one file is acknowledged up to: JSON. */
export type FilePosition = {
  /** Bytes. */
  readonly offset: number;
  /** The last line was taken without a terminator: one at `offset` belongs to it. */
  readonly isUnterminated: boolean;
  /** Where the file was seen last. */
  readonly path: string;
  /** Where it was followed: another path if it was renamed since, and is not read to its end. */
  readonly followedAt: string;
  readonly fingerprint: Fingerprint;
  /** The number of the file among all that were followed. */
  readonly sequence: number;
  /** Milliseconds since 1970: when following started and it was not there; null if it was. */
  readonly missingSince: number | null;
  /** The checksum of the bytes before `offset`. */
  readonly tail?: TailChecksum;
  /** Nothing was acknowledged yet, and `offset` may lie inside a line: reading starts at the beginning of that line. */
  readonly mayBeInLine?: true;
  /** Lines that end at or before this offset were there when the file was first followed; none without it. */
  readonly backfillEnd?: number;
  /** Bytes in the file when it was last seen, if they are more than `offset`. */
  readonly size?: number;
  /** It is missing, and was not reported, because it may be in a folder that cannot be listed now. */
  readonly isUnsure?: true;
};

/** A file of an earlier run that is not there any more, or no longer holds what was read of it. */
export interface GoneFile {
  /** Where it was seen last. */
  readonly path: string;
  /** Bytes that were acknowledged. */
  readonly offset: number;
  /** Bytes that it had more when it was last seen; what was written since is not known. */
  readonly unread: number;
  /** Its identity is that of a file with other content: it was truncated, or deleted and its inode used again. */
  readonly isReplaced: boolean;
}

/** How far the lines of one file were emitted, while some of them are not acknowledged: JSON. */
export type Emitted = {
  readonly path: string;
  /** Bytes. */
  readonly end: number;
  /** The checksum of the bytes before `end`. */
  readonly tail?: TailChecksum;
  /** The file was truncated since: lines are among them that it no longer has. */
  readonly isCutOff?: true;
};

const EMITTED = 'emitted ';

/** The key of how far a file was emitted, beside that of its position. */
export function emittedKey(id: FileId): string {
  return `${EMITTED}${id}`;
}

/** The file of such a key; undefined for another one. */
export function emittedFile(key: string): FileId | undefined {
  return key.startsWith(EMITTED) ? (key.slice(EMITTED.length) as FileId) : undefined;
}

/** What positions are kept in, by file; a Map, or something that outlives the process. */
interface PositionStore {
  get(id: string): unknown;
  set(id: string, position: FilePosition): void;
  delete(id: string): void;
  entries(): Iterable<[id: string, position: unknown]>;
  /** Where `set` takes effect only when lines are delivered for good: this one takes effect before any of them is. */
  note?(key: string, emitted: Emitted | undefined): void;
}

export interface AcknowledgedPositionsOptions {
  /** Read files that are there from their start. */
  readonly backfill: boolean;
  /**
   * Whether a file of this path was followed before, or would have been had it been there: then one that is not known
   * has come since, and all of it is new. Default: yes, if anything is known.
   */
  readonly wasFollowed?: (path: string) => boolean;
  /** Whether a file of this path would be followed now: no other is looked for if it was renamed. Default: yes. */
  readonly isFollowed?: (path: string) => boolean;
  /** Called once for each file of an earlier run that is found to be gone or replaced. */
  readonly onGone?: (files: readonly GoneFile[]) => void;
}

/** Milliseconds that the position of a file is kept for that is not there: a mount may be late, an archive restored. */
const KEPT_FOR = 7 * 24 * 3600 * 1000;
/** Positions of files that are not there: of more, those that are missing the longest are forgotten. */
const MOST_MISSING = 100_000;

/**
 * Stores the acknowledged offset of each file, so that following can resume there without losing a line.
 * `store` outlives a run, and a run with the same store resumes. A file is identified by device, inode, its first bytes
 * and those before the offset; if they differ, it is another file, and read from its beginning. If a remount changed the
 * number of the device, path and inode identify the file.
 *
 * @example
 * const store = new Map();
 * const positions = new AcknowledgedPositions(store, { backfill: true });
 * fs.writeFileSync(`${folder}/app.log`, 'one\ntwo\n');
 * const batch$ = followFiles([`${folder}/app.log`], { positions, once: true });
 * await lastValueFrom(batch$.pipe(tap((batch) => positions.acknowledge(batch))));
 * [...store.values()].map(({ offset }) => offset); // [8]
 */
export class AcknowledgedPositions implements Positions {
  readonly #store: PositionStore;
  readonly #backfill: boolean;
  readonly #wasFollowed: (path: string) => boolean;
  readonly #isFollowed: (path: string) => boolean;
  readonly #onGone: (files: readonly GoneFile[]) => void;
  /** Files that are gone, and where they end, while their last lines are not acknowledged. */
  readonly #leaving = new Map<FileId, StartPosition & { isDeleted?: boolean }>();
  /** The highest that was given. */
  #sequence: number;
  /** How far files are emitted, and in how many batches that are not acknowledged. */
  readonly #emitted = new Map<FileId, { emitted: Emitted; batches: number }>();
  /** The files with a position, by their inode alone: a device may have another number after a remount. */
  readonly #byInode = new Map<string, FileId[]>();

  constructor(store: PositionStore, options: AcknowledgedPositionsOptions) {
    this.#store = store;
    const positions = [...this.#positions()];
    const isAnythingKnown = positions.length > 0;
    this.#sequence = positions.reduce((highest, [, { sequence }]) => Math.max(highest, sequence), 0);
    for (const [id] of positions) this.#index(id);
    // Of an earlier run: those lines are emitted again.
    for (const [key] of [...store.entries()]) {
      if (emittedFile(key) === undefined) continue;
      if (store.note === undefined) store.delete(key);
      else store.note(key, undefined);
    }
    const { backfill, wasFollowed = () => isAnythingKnown, isFollowed = () => true } = options;
    this.#onGone = options.onGone ?? (() => {});
    this.#backfill = backfill;
    this.#wasFollowed = wasFollowed;
    this.#isFollowed = isFollowed;
  }

  startAt(file: FoundFile): StartPosition {
    const { id, path, size, head } = file;
    const position = this.#get(id);
    const end = this.#leaving.get(id);
    this.#leaving.delete(id);
    const isKnown = position !== undefined;
    const known = isKnown && canResume(position, file) ? position : this.#takeRemounted(file);
    if (known !== undefined) {
      const followedAt = this.#isFollowed(path) ? path : known.followedAt;
      const { size: _, isUnsure: __, ...position } = known;
      const seen = sizeBeyond(known.offset, size);
      this.#store.set(id, { ...position, ...seen, path, followedAt, missingSince: null });
      if (!isKnown) this.#index(id);
      const { backfillEnd = 0 } = known;
      // What is not acknowledged yet is under way, and must not come twice.
      if (end !== undefined && end.offset <= size)
        return { ...end, fingerprint: known.fingerprint, backfillEnd };
      return startOf(known);
    }
    if (isKnown) this.#reportGone([position], { isReplaced: true });
    // A file of that identity with other content has been truncated or replaced: all of it is new.
    const isNew = !file.existed || position !== undefined || this.#backfill || this.#wasFollowed(path);
    const wasThere = file.existed && position === undefined && !this.#wasFollowed(path);
    const start = {
      offset: isNew ? 0 : size,
      isUnterminated: false,
      backfillEnd: wasThere ? size : 0,
      ...(!isNew && { mayBeInLine: true as const }),
    };
    if (position === undefined) this.#index(id);
    this.#store.set(id, {
      ...start,
      ...sizeBeyond(start.offset, size),
      path,
      followedAt: path,
      fingerprint: fingerprintOf(head ?? Buffer.alloc(0)),
      sequence: ++this.#sequence,
      missingSince: null,
    });
    return start;
  }

  /** A file that was not read of yet is known by its first bytes, and by those before the offset, from now on. */
  recognised(id: FileId, fingerprint: Fingerprint, start?: Pick<StartPosition, 'offset' | 'tail'>): void {
    const known = this.#get(id);
    if (known === undefined) return;
    const isHeadNew = known.fingerprint.length === 0 && fingerprint.length > 0;
    const tail = known.tail === undefined && known.offset === start?.offset ? start.tail : undefined;
    if (!isHeadNew && tail === undefined) return;
    this.#store.set(id, { ...known, ...(isHeadNew && { fingerprint }), ...(tail && { tail }) });
  }

  /**
   * Notes how far a file is emitted, in a store that can note it: so it is known after a crash whether the file still has
   * the lines that may have been delivered. To be called before the lines are emitted.
   */
  emitted({ id, path, startOffset, endOffset: end, tail, isCutOff = false }: LineBatch): void {
    if (this.#store.note === undefined) return;
    const last = this.#emitted.get(id);
    const wasCutOff = isCutOff || last?.emitted.isCutOff === true || startOffset < (last?.emitted.end ?? 0);
    const emitted: Emitted = { path, end, ...(tail && { tail }), ...(wasCutOff && { isCutOff: true }) };
    this.#emitted.set(id, { emitted, batches: (last?.batches ?? 0) + 1 });
    this.#store.note(emittedKey(id), emitted);
  }

  /** To be called in the order of emission, when nothing more has to be done for the lines. */
  acknowledge(batch: LineBatch): void {
    const { id, path, endOffset, fingerprint, backfill, isCutOff = false } = batch;
    this.#forgetEmitted(id);
    const end = this.#leaving.get(id);
    const isAtEnd = end !== undefined && endOffset >= end.offset;
    if (isAtEnd) this.#leaving.delete(id);
    if (isAtEnd && end.isDeleted) {
      this.#delete(id);
      return;
    }
    const known = this.#get(id);
    if (known === undefined) this.#index(id);
    const { isUnterminated, tail } = isCutOff ? { isUnterminated: false, tail: undefined } : batch;
    this.#store.set(id, {
      offset: isCutOff ? 0 : endOffset,
      isUnterminated,
      path,
      followedAt: known?.followedAt ?? path,
      // One of no bytes would match any file.
      fingerprint: fingerprint.length > 0 ? fingerprint : (known?.fingerprint ?? fingerprint),
      sequence: known?.sequence ?? 0,
      missingSince: known?.missingSince ?? null,
      ...(tail && { tail }),
      ...(backfill && known?.backfillEnd && { backfillEnd: known.backfillEnd }),
      ...sizeBeyond(isCutOff ? 0 : endOffset, known?.size),
    });
  }

  /** Keeps how long a file is that is not read to its end. */
  seen(id: FileId, size: number): void {
    const known = this.#get(id);
    if (known !== undefined && size > known.offset && size !== known.size) {
      this.#store.set(id, { ...known, size });
    }
  }

  /** Its position is kept as long as between two runs: the folder may be mounted again, or get its name back. */
  forget(id: FileId, end: StartPosition): void {
    const known = this.#get(id);
    if (known === undefined) return;
    if (known.offset < end.offset) this.#leaving.set(id, end);
    this.#store.set(id, { ...known, missingSince: asyncScheduler.now() });
  }

  deleted(id: FileId): void {
    const end = this.#leaving.get(id);
    if (end !== undefined) this.#leaving.set(id, { ...end, isDeleted: true });
    else if (this.#get(id)?.missingSince !== null) this.#delete(id);
  }

  #forgetEmitted(id: FileId): void {
    const last = this.#emitted.get(id);
    if (last === undefined) return;
    last.batches--;
    if (last.batches > 0) return;
    this.#emitted.delete(id);
    this.#store.delete(emittedKey(id));
  }

  /** The position of a file that was at the same path of another device, and forgets it there. */
  #takeRemounted(file: FoundFile): FilePosition | undefined {
    for (const id of this.#byInode.get(inodeOf(file.id)) ?? []) {
      const position = id === file.id ? undefined : this.#get(id);
      if (position === undefined || position.path !== file.path || !canResume(position, file)) continue;
      this.#delete(id);
      return position;
    }
    return undefined;
  }

  #index(id: FileId): void {
    const inode = inodeOf(id);
    const ids = this.#byInode.get(inode) ?? [];
    if (!ids.includes(id)) this.#byInode.set(inode, [...ids, id]);
  }

  #delete(id: FileId): void {
    this.#store.delete(id);
    const inode = inodeOf(id);
    const others = (this.#byInode.get(inode) ?? []).filter((other) => other !== id);
    if (others.length === 0) this.#byInode.delete(inode);
    else this.#byInode.set(inode, others);
  }

  *known(): Iterable<KnownFile> {
    for (const [id, position] of this.#positions()) {
      const { sequence } = position;
      const path = this.#placeOf(position);
      if (path === undefined) continue;
      yield {
        id,
        path,
        sequence,
        isSame: (head) => compareFile(position, { head }) === 'same',
        start: startOf(position),
      };
    }
  }

  /** All files that there are were found: the others are missing, and forgotten if they have been for 7 days. */
  found(isThere: (id: FileId) => boolean, mayBeThere: (id: FileId) => boolean = () => false): void {
    const now = asyncScheduler.now();
    const missing: [id: FileId, since: number][] = [];
    const gone: FilePosition[] = [];
    for (const [id, position] of [...this.#positions()]) {
      if (isThere(id) || this.#leaving.has(id)) continue;
      const missingSince = position.missingSince ?? now;
      missing.push([id, missingSince]);
      if (position.missingSince !== null && !position.isUnsure) continue;
      const isUnsure = mayBeThere(id);
      const { isUnsure: _, ...others } = position;
      this.#store.set(id, { ...others, missingSince, ...(isUnsure && { isUnsure }) });
      if (!isUnsure) gone.push(position);
    }
    this.#reportGone(gone, { isReplaced: false });
    missing.sort(([, one], [, other]) => other - one);
    for (const [i, [id, since]] of missing.entries()) {
      if (i >= MOST_MISSING || now - since > KEPT_FOR) this.#delete(id);
    }
  }

  /** Leaves out those that would not be followed now. */
  #reportGone(positions: readonly FilePosition[], { isReplaced }: Pick<GoneFile, 'isReplaced'>): void {
    const gone = positions
      .filter((position) => this.#placeOf(position) !== undefined)
      .map(({ path, offset, size = offset }) => ({ path, offset, unread: size - offset, isReplaced }));
    if (gone.length > 0) this.#onGone(gone);
  }

  /** Where a file was followed, if a file there would be followed now. */
  #placeOf({ followedAt }: FilePosition): string | undefined {
    // One that was rotated away before it was seen is known by its rotated name only.
    return [followedAt, nameBeforeRotation(followedAt)].find((name) => this.#isFollowed(name));
  }

  #get(id: FileId): FilePosition | undefined {
    const found = this.#store.get(id);
    return isPosition(found) ? found : undefined;
  }

  *#positions(): Iterable<[FileId, FilePosition]> {
    for (const [id, position] of this.#store.entries()) {
      if (isPosition(position)) yield [id as FileId, position];
    }
  }
}

function sizeBeyond(offset: number, size = 0): Pick<FilePosition, 'size'> {
  return size > offset ? { size } : {};
}

/** A checksum that cannot be one is none. */
export function startOf(position: FilePosition): StartPosition {
  const { offset, tail, backfillEnd = 0 } = position;
  return { ...position, backfillEnd, tail: tail && isPlausible(tail, offset) ? tail : undefined };
}

function canResume(position: FilePosition, found: FoundFile): boolean {
  return compareFile(position, found) === 'same';
}

/** The store may hold other things as well. */
export function isPosition(value: unknown): value is FilePosition {
  if (typeof value !== 'object' || value === null) return false;
  const { offset, path, followedAt, fingerprint } = value as Partial<FilePosition>;
  const hasPaths = typeof path === 'string' && typeof followedAt === 'string';
  return typeof offset === 'number' && hasPaths && typeof fingerprint?.hash === 'string';
}
