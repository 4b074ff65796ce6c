import type { ChangeWatches } from './change-watches.ts';
import type { Descriptors } from './descriptors.ts';
import type { EarlierFile } from './earlier-files.ts';
import type { FileTable } from './file-table.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile, StartPosition } from './followed-file.ts';
import type { ReadPump } from './read-pump.ts';
import { closeFile, type FileChange, type OpenFile } from './regular-file.ts';
import { firstRests } from './resting.ts';
import type { Probe } from './scan.ts';
import { truncate } from './truncation.ts';

/** The collaborators of {@link Arrivals}. */
export interface ArrivalParts {
  readonly settings: FollowSettings;
  readonly table: FileTable;
  readonly descriptors: Descriptors;
  readonly watches: ChangeWatches;
  readonly pump: ReadPump;
  /** A watched file has changed, or may have been moved. */
  changed(file: FollowedFile, mayHaveMoved: boolean): void;
}

/** Takes in the files that are found: new ones from where they are to be read, known ones as they are now. */
export class Arrivals {
  readonly #parts: ArrivalParts;
  /** What is found from now on was not there when following began. */
  hasBegun = false;

  constructor(parts: ArrivalParts) {
    this.#parts = parts;
  }

  /** The file that was found at a path. */
  found({ path, status, head, before, expected }: Probe): FollowedFile {
    const { table, descriptors, pump } = this.#parts;
    const known = table.get(status.id);
    const file = known ?? this.#adopt(path, status, head);
    if ('fd' in status) {
      // One that came to be known meanwhile, by another path, may still have to be told from the one of before.
      if (known === undefined) descriptors.attach(file, status.fd);
      else closeFile(status.fd);
    }
    // In a new life, it was already begun anew for what was seen here.
    const isComparable = known === expected && known?.life === before.life;
    if (known !== undefined) this.#update(known, status, isComparable ? before.bytes : 0);
    if (file.isRenamed) {
      file.isRenamed = false;
      file.path = path;
    }
    table.lead(path, file);
    if (known === undefined) pump.add(file);
    return file;
  }

  /**
   * A file of an earlier run that was renamed since: what took its path comes after it, unless that is read already,
   * because this one could not be opened before. The earliest is told first.
   */
  foundEarlier({ known, path, opened }: EarlierFile): void {
    const { table, descriptors, pump } = this.#parts;
    // It may have been found at a path while it was opened here.
    if (table.get(opened.id) !== undefined) {
      closeFile(opened.fd);
      return;
    }
    const file = this.#adopt(path, opened, opened.head, this.hasBegun ? path : known.path);
    file.isRenamed = true;
    descriptors.attach(file, opened.fd);
    table.lead(path, file);
    if (!this.hasBegun) table.lead(known.path, file);
    pump.add(file);
  }

  /** A file that was at a path, and was rotated away before it was seen there. The oldest is told first. */
  foundRotated(path: string, opened: OpenFile): void {
    const { table, descriptors, pump } = this.#parts;
    if (table.get(opened.id) !== undefined) {
      closeFile(opened.fd);
      return;
    }
    const file = this.#adopt(path, opened, opened.head);
    file.nextSince = opened.born;
    file.isGone = true;
    descriptors.attach(file, opened.fd);
    table.lead(path, file);
    pump.add(file);
  }

  /** Its lines come after those of the file that was at its path before, or at the one where it was followed. */
  #adopt(path: string, status: FileChange, head: Buffer | undefined, followedAt = path): FollowedFile {
    const { settings, table, watches, pump, changed } = this.#parts;
    const { id, size, modified, isLinked } = status;
    const found = { id, size, path, head, existed: !this.hasBegun };
    const file = table.add(found, within(size, settings.positions.startAt(found)));
    file.modified = modified;
    file.nextSince = status.changed;
    file.isLinked = isLinked;
    file.rests = firstRests(table.size);
    file.isFinishing = settings.once;
    const previous = table.at(followedAt) ?? table.at(path);
    if (previous !== undefined) {
      pump.putBehind(file, previous);
    }
    if (!settings.once) watches.start(file, (hasMoved) => changed(file, hasMoved));
    return file;
  }

  #update(file: FollowedFile, status: FileChange, readBefore: number): void {
    const { size, modified, isLinked } = status;
    const { settings, table, pump } = this.#parts;
    if (size < readBefore) truncate(file, settings);
    const isTouched = file.modified !== modified;
    file.modified = modified;
    file.nextSince = status.changed;
    file.isLinked = isLinked;
    file.size = file.isTruncated ? size : Math.max(size, file.lines.readOffset);
    table.count(file);
    // One that was touched, yet is no larger, may have been truncated and have grown again.
    if (file.unread > 0 || file.isTruncated || isTouched || file.mayBeText) pump.add(file);
  }
}

/** A file that is shorter than that has begun anew. */
function within(size: number, start: number | StartPosition): StartPosition {
  const position = typeof start === 'number' ? { offset: start, isUnterminated: false } : start;
  return position.offset <= size ? position : { offset: 0, isUnterminated: false };
}
