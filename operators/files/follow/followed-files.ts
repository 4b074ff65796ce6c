import { counted } from '../../support/counted.ts';
import { closeFile } from '../../support/file-system.ts';
import { LruMap } from '../../support/lru-map.ts';
import { ChangeWatches } from './change-watches.ts';
import type { Descriptors } from './descriptors.ts';
import type { EarlierFile } from './earlier-files.ts';
import type { FileChange, FileId, OpenFile } from './file-system.ts';
import type { FollowSettings } from './follow-settings.ts';
import { FollowedFile } from './followed-file.ts';
import type { ReadPump } from './read-pump.ts';
import type { Seen, Sighting } from './sighting.ts';
import type { StartPosition } from './start-position.ts';

/**
 * Polls that skip a quiet file whose watch works: one in five looks at it all the same, for changes that a watch does not
 * show, such as writes to a network file system from another machine.
 */
const SKIPPED_POLLS = 4;
/** Quiet files that a poll looks at. If there are more than in the polls above, they are looked at less often. */
const LOOKS_PER_POLL = 200;
/** Files that are remembered after they had gone. */
const GONE_FILES = 1000;
const ADVICE = 'let logrotate rename files instead';

interface FollowedFilesParts {
  readonly settings: FollowSettings;
  readonly descriptors: Descriptors;
  readonly pump: ReadPump;
  /** A watched file has changed, or may have been moved. */
  changed(file: FollowedFile, mayHaveMoved: boolean): void;
}

/**
 * The followed files by identity and by path. Takes in the files that are found: new ones with the position where they
 * are to be read, known ones as they are now.
 */
export class FollowedFiles {
  readonly #parts: FollowedFilesParts;
  readonly #watches = new ChangeWatches();
  readonly #byId = new Map<FileId, FollowedFile>();
  /** Where each path led when it was last looked at. */
  readonly #byPath = new Map<string, FollowedFile>();
  /** Files that are gone and were read to their ends, with the time of their creation. */
  readonly #gone = new LruMap<FileId, bigint>(GONE_FILES);
  #unread = 0;
  #rests = 0;
  /** All files of the start were found: what is found from now on was not there when following started. */
  hasBegun = false;

  constructor(parts: FollowedFilesParts) {
    this.#parts = parts;
  }

  /** Bytes known of and not read, over all files. */
  get unread(): number {
    return this.#unread;
  }

  get all(): readonly FollowedFile[] {
    return [...this.#byId.values()];
  }

  has(id: FileId): boolean {
    return this.#byId.has(id);
  }

  /** Whether a file is followed, or was until it had gone. One that got the inode of such a file is younger. */
  isKnown({ id, born }: FileChange): boolean {
    return this.#byId.has(id) || this.#gone.peek(id) === born;
  }

  at(path: string): FollowedFile | undefined {
    const file = this.#byPath.get(path);
    return file?.isForgotten === false ? file : undefined;
  }

  /** The paths that led to files when they were last looked at. */
  paths(): Iterable<string> {
    return this.#byPath.keys();
  }

  /**
   * The file at a path if nothing can have happened to it unnoticed: this poll need not look at it.
   *
   * @param mayRest whether it may be looked at less often because there are many
   */
  unchangedAt(path: string, { mayRest }: { readonly mayRest: boolean }): FollowedFile | undefined {
    const file = this.at(path);
    // A link may be led elsewhere, which no watch on the file shows.
    if (file === undefined || !file.isAtEnd || file.isLinked || file.isGone) return undefined;
    if (!this.#watches.has(file)) return undefined;
    if (file.skippablePolls === 0) {
      file.skippablePolls = mayRest ? this.#restOf(file) : SKIPPED_POLLS;
      return undefined;
    }
    file.skippablePolls--;
    return file;
  }

  /** No file counts as unchanged at the next poll. */
  lookAtAll(): void {
    for (const file of this.#byId.values()) file.skippablePolls = 0;
  }

  /**
   * The polls that skip a file after this one. While looks find changes of which its watch did not tell, it is looked at as
   * often as one of few; then less and less often.
   */
  #restOf(file: FollowedFile): number {
    const most = Math.max(SKIPPED_POLLS, Math.floor(this.#byId.size / LOOKS_PER_POLL));
    const rest = Math.min(file.restPolls, most);
    file.restPolls = rest + 1;
    // Many files found at once would otherwise be looked at in the same polls.
    const spread = rest > SKIPPED_POLLS ? this.#rests++ % Math.ceil(rest / 2) : 0;
    return rest - spread;
  }

  /** Takes in the file that was found at a path. */
  found({ path, status, head, before, expected }: Sighting): FollowedFile {
    const { descriptors, pump } = this.#parts;
    const known = this.#byId.get(status.id);
    const file = known ?? this.#adopt(path, status, head);
    if ('fd' in status) {
      if (known === undefined) descriptors.attach(file, status.fd);
      else closeFile(status.fd);
    }
    // After it was restarted, it was already restarted for what was seen here.
    const isComparable = known === expected && known?.restarts === before.restarts;
    if (known !== undefined) this.#update(known, status, isComparable ? before.bytes : 0);
    if (file.isRenamed) {
      file.isRenamed = false;
      file.path = path;
    }
    this.#lead(path, file);
    if (known === undefined) pump.add(file);
    return file;
  }

  /**
   * Takes in a file of an earlier run that was renamed since: what took its path comes after it, unless that is read
   * already, because this one could not be opened before. To be called in the order of age.
   */
  foundEarlier({ known, path, opened }: EarlierFile): void {
    const file = this.#adoptOpen(path, opened, this.hasBegun ? path : known.path);
    if (file === undefined) return;
    file.isRenamed = true;
    if (!this.hasBegun) this.#lead(known.path, file);
    this.#parts.pump.add(file);
  }

  /** Takes in a file that was at a path, and was rotated away before it was seen there. The oldest comes first. */
  foundRotated(path: string, opened: OpenFile): void {
    const file = this.#adoptOpen(path, opened);
    if (file === undefined) return;
    file.nextSince = opened.born;
    file.isGone = true;
    this.#parts.pump.add(file);
  }

  /** Brings the sum of unread bytes up to date after a change to `file`. */
  count(file: FollowedFile): void {
    this.#unread += file.unread - file.counted;
    file.counted = file.unread;
  }

  /**
   * Forgets the paths that led nowhere, when all were looked at: `seen` has the paths of each file that was found.
   * A path whose file was found nowhere stays with it, so that the next file there comes after it.
   */
  prune(seen: Seen): void {
    for (const [path, file] of this.#byPath) {
      const paths = seen.get(file);
      const isLost = paths === undefined ? file.isForgotten : !paths.includes(path);
      if (isLost) this.#byPath.delete(path);
    }
    for (const [file, paths] of seen) {
      if (!paths.includes(file.path)) file.path = paths[0] as string;
    }
  }

  remove(file: FollowedFile): void {
    this.#watches.end(file);
    this.#unread -= file.counted;
    file.counted = 0;
    file.isForgotten = true;
    this.#byId.delete(file.id);
    if (file.isGone) this.#gone.set(file.id, file.born);
    file.lines.drop();
  }

  close(): void {
    this.#watches.endAll();
    for (const file of this.#byId.values()) file.lines.drop();
  }

  /** Undefined, with the descriptor closed, if the file is known: it may have been found at a path while it was opened. */
  #adoptOpen(path: string, opened: OpenFile, followedAt = path): FollowedFile | undefined {
    if (this.#byId.has(opened.id)) {
      closeFile(opened.fd);
      return undefined;
    }
    const file = this.#adopt(path, opened, opened.head, followedAt);
    this.#parts.descriptors.attach(file, opened.fd);
    this.#lead(path, file);
    return file;
  }

  /** Its lines come after those of the file that was at its path before, or at the one where it was followed. */
  #adopt(path: string, status: FileChange, head: Buffer | undefined, followedAt = path): FollowedFile {
    const { settings, pump, changed } = this.#parts;
    const { id, size, modified, isLinked } = status;
    const found = { id, size, path, head, existed: !this.hasBegun };
    const file = new FollowedFile(found, within(size, settings.positions.startAt(found)), settings);
    this.#byId.set(id, file);
    this.count(file);
    file.born = status.born;
    file.modified = modified;
    file.nextSince = status.changed;
    file.isLinked = isLinked;
    // Spreads the looks at many files over the polls.
    file.skippablePolls = this.#byId.size % (SKIPPED_POLLS + 1);
    file.isFinishing = settings.once;
    const previous = this.at(followedAt) ?? this.at(path);
    if (previous !== undefined) pump.putBehind(file, previous);
    if (!settings.once) this.#watches.start(file, (mayHaveMoved) => changed(file, mayHaveMoved));
    return file;
  }

  #update(file: FollowedFile, status: FileChange, readBefore: number): void {
    const { size, modified, isLinked } = status;
    if (size < readBefore) markTruncated(file, this.#parts.settings);
    const isTouched = file.modified !== modified;
    if (isTouched && !file.wasNotified) file.restPolls = SKIPPED_POLLS;
    file.wasNotified = false;
    file.modified = modified;
    file.nextSince = status.changed;
    file.isLinked = isLinked;
    file.size = file.isTruncated ? size : Math.max(size, file.lines.readOffset);
    this.count(file);
    // One that was touched, yet is no larger, may have been truncated and have grown again.
    if (file.unread > 0 || file.isTruncated || isTouched || file.mayBeText) this.#parts.pump.add(file);
  }

  /** Says that `path` leads to `file`. A file whose own path leads elsewhere by now takes this one. */
  #lead(path: string, file: FollowedFile): void {
    this.#byPath.set(path, file);
    if (this.#byPath.get(file.path) !== file) file.path = path;
  }
}

/** A file that is shorter than that has been truncated. */
function within(size: number, start: number | StartPosition): StartPosition {
  const position = typeof start === 'number' ? { offset: start, isUnterminated: false } : start;
  return position.offset <= size ? position : { offset: 0, isUnterminated: false };
}

type TruncationSettings = Pick<FollowSettings, 'log' | 'onGap' | 'onTruncation'>;

/**
 * Marks a file as truncated, because it has become shorter: what is held is the start of a line, then it is read
 * from its beginning. Bytes that were seen and not read are counted as lost. How many were written and cut off between
 * two looks cannot be known.
 */
export function markTruncated(file: FollowedFile, { log, onGap, onTruncation }: TruncationSettings): void {
  if (file.isTruncated) return;
  const { path, unread: bytes } = file;
  file.isTruncated = true;
  onTruncation();
  if (bytes === 0) {
    log.warn(
      `${path} was truncated: reading it from its beginning. Lines written just before the truncation may be ` +
        `lost, an unknown number; ${ADVICE}`,
      { path },
    );
    return;
  }
  onGap(bytes);
  log.warn(
    `${path} was truncated before it was read: lost at least ${counted(bytes, 'byte')}, and an unknown number ` +
      `that was written just before; ${ADVICE}`,
    { path, bytes },
  );
}

/**
 * Marks a file as truncated, because the bytes that were read of it have changed: it was truncated and has grown again, or
 * another file has got its inode. It is not known what of its present content is new, so nothing counts as lost.
 */
export function markReplaced(file: FollowedFile, { log, onTruncation }: TruncationSettings): void {
  if (file.isTruncated) return;
  const { path } = file;
  file.isTruncated = true;
  onTruncation();
  log.warn(
    `${path} no longer holds what was read of it, so it was truncated or replaced: reading it from its ` +
      `beginning. Lines written just before that may be lost, an unknown number; ${ADVICE}`,
    { path },
  );
}
