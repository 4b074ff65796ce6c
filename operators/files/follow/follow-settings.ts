import type { SchedulerLike } from 'rxjs';
import type { Demand } from '../../support/demand.ts';
import type { Fingerprint } from './file-fingerprint.ts';
import type { FileId } from './file-status.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { FoundFile, StartPosition } from './start-position.ts';

/** A file whose position is known from before. */
export interface KnownFile {
  readonly id: FileId;
  /** Where it was followed. */
  readonly path: string;
  /** Of two files that were followed at one path, the one that came there first has the lower one. */
  readonly sequence: number;
  /** Whether a file with this identity that starts with these bytes is the known one. */
  isSame(head: Buffer): boolean;
  /** Where it is read on, and what stands before that. */
  readonly start: Pick<StartPosition, 'offset' | 'tail'>;
}

/** Remembers how far files were read. */
export interface Positions {
  /** Where to start in a file that was not followed until now, as an offset in bytes or with more about it. */
  startAt(file: FoundFile): number | StartPosition;
  /**
   * The file was opened, so its first bytes are known, even if they were not when it was found. `start`: so are the bytes
   * before the offset that `startAt` returned.
   */
  recognised?(id: FileId, fingerprint: Fingerprint, start?: Pick<StartPosition, 'offset' | 'tail'>): void;
  /**
   * The file is gone, and read to its end, which is there. It may come back, with a folder that was unmounted or renamed:
   * then `startAt` is asked again.
   */
  forget(id: FileId, end: StartPosition): void;
  /** The file that was forgotten has no name left: its inode may be used for another one. */
  deleted?(id: FileId): void;
  /** The files of before: those that are renamed by now, in the same folder, are read to their end first. */
  known?(): Iterable<KnownFile>;
  /** A file that is not read to its end has this size, in bytes: every few seconds. */
  seen?(id: FileId, size: number): void;
  /**
   * All files that are there were found: when following starts, and once an hour. `mayBeThere`: one may be in a folder that
   * cannot be listed now.
   */
  found?(isThere: (id: FileId) => boolean, mayBeThere: (id: FileId) => boolean): void;
}

/** Where followed files report to; any logger fits. Never given content. */
export interface FollowLog {
  warn(message: string, fields: Record<string, unknown>): void;
  info(message: string, fields: Record<string, unknown>): void;
}

/** All that can be set when files are followed. */
export interface FollowSettings {
  /** Limits the number of emitted lines. Default: no limit. */
  readonly demand: Demand;
  /** Where to start in each file. Default: at the end of existing files, and at the beginning of others. */
  readonly positions: Positions;
  /** Whether to exclude a file that a glob in `paths` matches. Default: no file is excluded. */
  readonly isExcluded: (path: string) => boolean;
  /** With `once`: whether a path or glob that names no file is allowed. Default: true. */
  readonly allowMissing: boolean;
  /** Whether to complete when every file is read to its end, including a last line without a newline. Default: false. */
  readonly once: boolean;
  /** Receives a message for each file that cannot be read. Default: silent. */
  readonly log: FollowLog;
  /** Called with the number of unread bytes of all files, when it changes. */
  readonly onBacklog: (bytes: number) => void;
  /** Called with the number of lost bytes, when a file was truncated or removed before they were read. */
  readonly onGap: (bytes: number) => void;
  /** Called when a file was removed before it was read to its end. `onGap` gets the bytes. */
  readonly onLostFile: () => void;
  /** Called when a file was truncated, which may have lost an unknown number of lines. */
  readonly onTruncation: () => void;
  /** The maximum number of lines in a batch. Default: 512. */
  readonly batchLines: number;
  /** Whether to skip lines without characters. Default: false. */
  readonly skipEmptyLines: boolean;
  /** The number of bytes read at a time. Default: 128 KiB. */
  readonly chunkBytes: number;
  /** The maximum length of a line in bytes, at least `chunkBytes`. A longer line is cut, and its batch marked. Default: 4 MiB. */
  readonly maxLineBytes: number;
  /** The encoding of the files: a label that `TextDecoder` of Node.js knows. Lines are UTF-8 whatever it is. Default: `utf-8`. */
  readonly encoding: string;
  /**
   * Limits the memory of chunks and of last lines without a newline, over all followers that share it. Beyond it, the
   * longest such line is cut, like a line beyond `maxLineBytes`. Default: 64 MiB, shared by the whole process.
   */
  readonly memory: MemoryBudget;
  /** Milliseconds between checks for new, truncated and rotated files. Default: 1,000. */
  readonly pollMs: number;
  /** The number of polls without growth after which a rotated file is complete. Default: 5. */
  readonly quietPolls: number;
  /** Polls without growth after which a last line without a newline is emitted. `Infinity`: never, even with `once`. Default: 5. */
  readonly flushPolls: number;
  /**
   * The maximum number of open descriptors. In addition, all followers of a process together keep at most half of its
   * limit of open files, and at most 8,192. Default: no other limit.
   */
  readonly maxOpenFiles: number;
  /** The scheduler of polls and other waits. Default: `asyncScheduler`. */
  readonly scheduler: SchedulerLike;
}
