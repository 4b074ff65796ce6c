import type { Fingerprint, TailChecksum } from './file-fingerprint.ts';
import type { FileStatus } from './file-status.ts';

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
