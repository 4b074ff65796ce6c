import type { Demand } from '../demand.ts';
import type { FoundFile } from './followed-file.ts';
import type { FollowLog } from './problems.ts';
import type { FileId } from './regular-file.ts';

/** Remembers how far files were read. */
export interface Positions {
  /** The byte to begin at, for a file that was not followed until now. Past its end means the beginning. */
  startAt(file: FoundFile): number;
  /** The file is gone, and read to its end: its inode may be used for another one. */
  forget(id: FileId): void;
}

/** All that can be set when files are followed. */
export interface FollowSettings {
  /** How many lines may be emitted. Without one, all at once. */
  readonly demand: Demand;
  /** Where to begin, file by file. Without one: at the end of files that existed, at the beginning of others. */
  readonly positions: Positions;
  /** Complete when every file is read to its end; a last line without a newline is a line. */
  readonly once: boolean;
  /** Told what cannot be read, once each time. */
  readonly log: FollowLog;
  /** Told the bytes known of and not read, over all files, when that changes. */
  readonly onBacklog: (bytes: number) => void;
  /** The most lines of a batch. */
  readonly batchLines: number;
  /** Bytes read at a time. */
  readonly chunkBytes: number;
  /** Milliseconds between looks for new, truncated and rotated files. */
  readonly pollMs: number;
  /**
   * Polls without growth after which a last line without a newline is a line, and a file that was rotated away
   * is done with.
   */
  readonly quietPolls: number;
  /** Descriptors kept open, as far as that is safe. */
  readonly maxOpenFiles: number;
}
