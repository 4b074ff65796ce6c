import { counted } from '../../support/counted.ts';
import { closeFile } from '../../support/file-system.ts';
import { LruMap } from '../../support/lru-map.ts';
import { ChangeWatches } from './change-watches.ts';
import {
  checksumOf,
  FileHead,
  type Fingerprint,
  matchesChecksum,
  type TailChecksum,
} from './file-fingerprint.ts';
import type { FileChange, FileId, FileStatus, OpenFile } from './file-system.ts';
import type { FoundStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import { LineFramer } from './line-framer.ts';
import type { Probe } from './path-scanner.ts';
import type { Descriptors } from './process-limits.ts';
import type { ReadPump } from './read-pump.ts';
import type { EarlierFile } from './renamed-files.ts';
import { encodingOf } from './text-encoding.ts';

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

/** The files that were found in a poll, with the paths of each. */
export type Seen = Map<FollowedFile, string[]>;

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
  found({ path, status, head, before, expected }: Probe): FollowedFile {
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

function warnOfInvalidByte(path: string, offset: number, log: FollowSettings['log']): void {
  log.warn(
    `${path} is not UTF-8: the byte at offset ${offset} and others like it become U+FFFD. If the file has another ` +
      'encoding, set `encoding`, for example `encoding: windows-1252`',
    { path, offset },
  );
}

/** What is known of a file when it is found, to decide where to start. */
export interface FoundFile extends FileStatus {
  readonly path: string;
  /** It was there when following started. */
  readonly existed: boolean;
  /** Its first bytes, at most 1,024; undefined if it cannot be read now. */
  readonly head: Buffer | undefined;
}

/** Where to start in a file. */
export interface StartPosition {
  /** Bytes. Past the end of the file means its start. */
  readonly offset: number;
  /** What ends there is a line that was taken before its terminator came. */
  readonly isUnterminated: boolean;
  /** What the file has to start with for that to hold, if its first bytes could not be read when it was found. */
  readonly fingerprint?: Fingerprint;
  /** The checksum of the bytes before `offset`. If they are others by now, the file is read from its beginning. */
  readonly tail?: TailChecksum | undefined;
  /** `offset` may lie inside a line: reading starts at the beginning of that line. */
  readonly mayBeInLine?: boolean | undefined;
  /** Lines that end at or before this offset were there when the file was first followed. Default: those that it has now. */
  readonly backfillEnd?: number | undefined;
}

/** How a file is divided into lines. */
type LineSettings = Pick<FollowSettings, 'maxLineBytes' | 'memory' | 'encoding' | 'log'>;

/** One file, by identity: how far it is read, and what has become of it. Its path may change. */
export class FollowedFile {
  readonly id: FileId;
  readonly lines: LineFramer;
  readonly head: FileHead;
  /**
   * The checksum of the last bytes that were read, up to `lines.readOffset`. They are read again with the next ones: if they
   * are others by then, the file was truncated meanwhile and has grown past where it was, which its size does not show.
   */
  readTail: TailChecksum | undefined;
  path: string;
  /** Bytes, as last seen. */
  size: number;
  /** When it was created. */
  born = 0n;
  /** When it was last modified, as last seen. */
  modified = 0n;
  /** When it was changed last, as last seen at its path. A file that takes its path later is not older than that. */
  nextSince = 0n;
  /** `modified` when it was found to be no text. */
  refusedAt: bigint | undefined;
  isLinked = false;
  /** It could be opened when it was found, and is text as far as its first bytes tell. */
  readonly isReadable: boolean;
  fd: number | undefined;
  /** It is not followed any more. */
  isForgotten = false;
  /** Where to start, as long as the bytes before it were not looked at. */
  start: StartPosition | undefined;
  /** Bytes up to here are emitted only as part of a line that ends after them. */
  #oldEnd = 0;
  #isInLine = false;
  /** Lines that end at or before this offset were there when following started. */
  backfillEnd: number;
  /** An operation on the descriptor is under way: it must stay open. */
  isBusy = false;
  isAtEnd = false;
  /** It shrank: the line that is held has lost its end, and reading starts over. */
  isTruncated = false;
  /** How often reading started again at its beginning. */
  restarts = 0;
  /** No path leads to it now; its descriptor is all there is. */
  isGone = false;
  /** It was looked for where it was when it had gone unopened; true if it was found, renamed. */
  isMoved: boolean | undefined;
  /** It was found by the name that it got since an earlier run: `path` is none that is followed. */
  isRenamed = false;
  /** At its end, a line without a newline is a line; and if no path leads to the file, that is all of it. */
  isFinishing = false;
  /** The file whose path it took, as long as something may be written to that one: its lines come first. */
  predecessor: FollowedFile | undefined;
  /** The files that took its path. */
  successors: FollowedFile[] = [];
  /** It is not read until its predecessor is read to its end. */
  isHeldBack = false;
  /**
   * With a predecessor: it may be read up to this offset. It was as long when the predecessor was last read to its end,
   * so what was written to the predecessor before these bytes has been read.
   */
  readableEnd = 0;
  /** Polls since it was last seen to grow: a count, because clocks jump. */
  quietPolls = 0;
  /** Polls until it is looked at again, as long as its watch reports nothing. */
  skippablePolls = 0;
  /** The most polls that skip it after a look. */
  restPolls = Number.POSITIVE_INFINITY;
  /** Its watch has told of a change since the last look. */
  wasNotified = false;
  /** What of `unread` is part of the table's sum. */
  counted = 0;

  constructor(
    found: FoundFile,
    start: StartPosition,
    { maxLineBytes, memory, encoding: label, log }: LineSettings,
  ) {
    const { offset, isUnterminated, fingerprint, tail, mayBeInLine = false } = start;
    this.id = found.id;
    this.path = found.path;
    this.size = found.size;
    this.backfillEnd = start.backfillEnd ?? (found.existed ? found.size : 0);
    const encoding = encodingOf(label);
    this.head = new FileHead(found.head, encoding, fingerprint);
    this.isReadable = found.head !== undefined && this.head.nonTextFormat === undefined;
    const onInvalidByte = (byte: number) => warnOfInvalidByte(this.path, byte, log);
    this.lines = new LineFramer(offset, {
      isUnterminated,
      maxLineBytes,
      tail,
      memory,
      encoding,
      onInvalidByte,
    });
    if (offset > 0) this.start = start;
    if (mayBeInLine) this.#oldEnd = offset;
  }

  /** Bytes known of and not read. Those that will not be read, because they are not text, do not count. */
  get unread(): number {
    if (this.head.nonTextFormat !== undefined) return 0;
    return this.isTruncated ? this.size : Math.max(0, this.size - this.lines.readOffset);
  }

  /** Whether there are bytes of a line that has no terminator yet, some of them new. */
  get isHolding(): boolean {
    return this.lines.isHolding && this.lines.readOffset > this.#oldEnd;
  }

  /** Whether reading started inside a line, of which the rest is skipped; false from the second call on. */
  takeIsMidLine(): boolean {
    const isInLine = this.#isInLine;
    this.#isInLine = false;
    return isInLine;
  }

  /** It was no text when it was looked at, and may be another file since. */
  get mayBeText(): boolean {
    return this.head.nonTextFormat !== undefined && this.refusedAt !== this.modified;
  }

  /** Whether a chunk that was read, and the bytes before it, are of the file that was found and read until now. */
  agreesWith({ bytes, start }: { readonly bytes: Buffer; readonly start: number }): boolean {
    const known = bytes.subarray(0, this.lines.readOffset - start);
    if (this.readTail !== undefined) return matchesChecksum(known, this.readTail);
    return start > 0 || this.head.agreesWith(bytes);
  }

  /** The bytes before the start are as they were. */
  begin({ offset, isInLine, before }: FoundStart): void {
    this.start = undefined;
    this.#isInLine = isInLine;
    this.readTail = checksumOf(before, offset);
    this.lines.startAt(offset, before, { isInLine });
  }

  /** `chunk` was read at the end of what was read before. */
  feed(chunk: Buffer): void {
    this.quietPolls = 0;
    this.lines.feed(chunk);
  }

  /** It is not text: what was held is dropped. It may be another file when it is opened again. */
  refuse(): void {
    this.refusedAt = this.modified;
    this.lines.restart();
    this.readTail = undefined;
  }

  /** Starts over after a truncation. */
  restart(): void {
    this.restarts++;
    this.lines.restart();
    this.head.clear();
    this.readTail = undefined;
    this.backfillEnd = 0;
    this.start = undefined;
    this.#oldEnd = 0;
    this.readableEnd = 0;
    this.isTruncated = false;
    this.isAtEnd = false;
  }
}
