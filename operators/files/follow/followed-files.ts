import { closeFile } from '../../support/file-system.ts';
import { LruMap } from '../../support/lru-map.ts';
import type { Backlog } from './backlog.ts';
import type { Descriptors } from './descriptors.ts';
import type { EarlierFile } from './earlier-files.ts';
import type { FileChange, FileId, OpenFile } from './file-status.ts';
import type { FollowSettings } from './follow-settings.ts';
import { FollowedFile } from './followed-file.ts';
import type { LookSchedule } from './look-schedule.ts';
import type { LossReport } from './loss-report.ts';
import type { ReadPump } from './read-pump.ts';
import { compareFile } from './same-file.ts';
import type { Seen, Sighting } from './sighting.ts';
import type { StartPosition } from './start-position.ts';

/** Files that are remembered after they had gone. */
const GONE_FILES = 1000;

interface FollowedFilesParts {
  readonly settings: FollowSettings;
  readonly backlog: Backlog;
  readonly descriptors: Descriptors;
  readonly looks: LookSchedule;
  readonly losses: LossReport;
  readonly pump: ReadPump;
  /** A watched file has changed, or may have been moved. */
  changed(file: FollowedFile, mayHaveMoved: boolean): void;
}

/**
 * The registry of followed files, by identity and by path. Takes in the files that the scanner sees: new ones with the
 * position where they are to be read, known ones as they are now. Tells the pump which of them there may be something to
 * read of.
 */
export class FollowedFiles {
  readonly #parts: FollowedFilesParts;
  readonly #byId = new Map<FileId, FollowedFile>();
  /** Where each path led when it was last looked at. */
  readonly #byPath = new Map<string, FollowedFile>();
  /** Files that are gone and were read to their ends, with the time of their creation. */
  readonly #gone = new LruMap<FileId, bigint>(GONE_FILES);
  #hasBegun = false;

  constructor(parts: FollowedFilesParts) {
    this.#parts = parts;
  }

  /** All files of the start were found: what is found from now on was not there when following started. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  begin(): void {
    this.#hasBegun = true;
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
    const isComparable = known === expected && known?.reading.restarts === before.restarts;
    if (known !== undefined) this.#update(known, status, isComparable ? before.bytes : 0);
    file.isFollowedAt(path);
    this.#lead(path, file);
    if (known === undefined) pump.add(file);
    return file;
  }

  /**
   * Takes in a file of an earlier run that was renamed since: what took its path comes after it, unless that is read
   * already, because this one could not be opened before. To be called in the order of age.
   */
  foundEarlier({ known, path, opened }: EarlierFile): void {
    const file = this.#adoptOpen(path, opened, this.#hasBegun ? path : known.path);
    if (file === undefined) return;
    file.wasRenamed();
    if (!this.#hasBegun) this.#lead(known.path, file);
    this.#parts.pump.add(file);
  }

  /** Takes in a file that was at a path, and was rotated away before it was seen there. The oldest comes first. */
  foundRotated(path: string, opened: OpenFile): void {
    const file = this.#adoptOpen(path, opened);
    if (file === undefined) return;
    file.wasRotated();
    this.#parts.pump.add(file);
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
      if (!paths.includes(file.path)) file.isAt(paths[0] as string);
    }
  }

  remove(file: FollowedFile): void {
    this.#parts.looks.remove(file);
    this.#parts.backlog.remove(file);
    this.#byId.delete(file.id);
    file.forget();
    if (file.isGone) this.#gone.set(file.id, file.born);
    file.reading.lines.drop();
  }

  close(): void {
    for (const file of this.#byId.values()) file.reading.lines.drop();
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
    const { settings, backlog, looks, losses, pump, changed } = this.#parts;
    const { id, size } = status;
    const found = { id, size, path, head, existed: !this.#hasBegun };
    const start = within(size, settings.positions.startAt(found));
    const file = new FollowedFile(found, status, start, settings, (at, byte) => losses.invalidByte(at, byte));
    this.#byId.set(id, file);
    backlog.count(file);
    looks.add(file);
    const previous = this.at(followedAt) ?? this.at(path);
    if (previous !== undefined) pump.putBehind(file, previous);
    if (!settings.once) looks.watch(file, (mayHaveMoved) => changed(file, mayHaveMoved));
    return file;
  }

  #update(file: FollowedFile, status: FileChange, readBefore: number): void {
    const { backlog, looks, losses, pump } = this.#parts;
    const verdict = compareFile({ offset: readBefore }, status);
    if (verdict !== 'same') losses.startsOver(file, verdict);
    const isTouched = file.seen(status);
    looks.looked(file, { isTouched });
    backlog.count(file);
    // One that was touched, yet is no larger, may have been truncated and have grown again.
    if (file.unread > 0 || file.reading.startsOver || isTouched || file.mayBeText) pump.add(file);
  }

  /** Says that `path` leads to `file`. A file whose own path leads elsewhere by now takes this one. */
  #lead(path: string, file: FollowedFile): void {
    this.#byPath.set(path, file);
    if (this.#byPath.get(file.path) !== file) file.isAt(path);
  }
}

/** A file that is shorter than that has been truncated. */
function within(size: number, start: number | StartPosition): StartPosition {
  const position = typeof start === 'number' ? { offset: start, isUnterminated: false } : start;
  return compareFile({ offset: position.offset }, { size }) === 'same'
    ? position
    : { offset: 0, isUnterminated: false };
}
