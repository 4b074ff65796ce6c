import type { SchedulerLike } from 'rxjs';
import type { Demand } from '../../support/demand.ts';
import type { Fingerprint } from './file-fingerprint.ts';
import type { FileId } from './file-system.ts';
import type { FoundFile, StartPosition } from './followed-files.ts';
import type { MemoryBudget } from './process-limits.ts';

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
  /** How many lines may be emitted. Without one, all at once. */
  readonly demand: Demand;
  /** Where to start, file by file. Without one: at the end of files that existed, at the beginning of others. */
  readonly positions: Positions;
  /** Whether a file that a glob in `paths` matches is left out. Default: none is. */
  readonly isExcluded: (path: string) => boolean;
  /** With `once`: whether a path, or a glob, that names no file does not make it fail. Default: true. */
  readonly allowMissing: boolean;
  /** Complete when every file is read to its end; a last line without a newline is a line. Default: false. */
  readonly once: boolean;
  /** Told what cannot be read, once each time. Default: silent. */
  readonly log: FollowLog;
  /** Told the bytes known of and not read, over all files, when that changes. */
  readonly onBacklog: (bytes: number) => void;
  /** Told the bytes that are known to be lost: a file was truncated, or went away, before they were read. */
  readonly onGap: (bytes: number) => void;
  /** Told each time that a file went away before it was read to its end, which `onGap` is told the bytes of. */
  readonly onLostFile: () => void;
  /** Told each time that a file was truncated: an unknown number of lines may be lost with it. */
  readonly onTruncation: () => void;
  /** The most lines of a batch. Default: 512. */
  readonly batchLines: number;
  /** Emit no line that has no characters. Default: false. */
  readonly skipEmptyLines: boolean;
  /** Bytes read at a time. Default: 128 KiB. */
  readonly chunkBytes: number;
  /** Bytes kept of a line, at least `chunkBytes`; a longer one is cut, and its batch says so. Default: 16 MiB. */
  readonly maxLineBytes: number;
  /**
   * Bounds the memory of chunks and of last lines without a newline, over all that share it: beyond it the longest such
   * line is cut, as one beyond `maxLineBytes` is. Default: one of 64 MiB, which the whole process shares.
   */
  readonly memory: MemoryBudget;
  /** Milliseconds between looks for new, truncated and rotated files. Default: 1,000. */
  readonly pollMs: number;
  /** Polls without growth after which a file that was rotated away is done with. Default: 5. */
  readonly quietPolls: number;
  /** Polls without growth after which a last line without a newline is a line; `Infinity`: never, with `once` too. Default: 5. */
  readonly flushPolls: number;
  /**
   * Descriptors kept open, as far as that is safe. Whatever it is, all that follow files in one process keep at most half
   * of those open that the process may have, and 8,192. Default: no other limit.
   */
  readonly maxOpenFiles: number;
  /** What times polls and what else waits. Default: `asyncScheduler`. */
  readonly scheduler: SchedulerLike;
}
