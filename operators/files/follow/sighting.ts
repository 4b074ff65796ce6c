import type { FileChange, OpenFile } from './file-status.ts';
import type { FollowedFile } from './followed-file.ts';

/** What a look at a path found: a file. */
export interface Sighting {
  readonly path: string;
  readonly status: FileChange | OpenFile;
  /** The first bytes of a file that was not known; undefined if it cannot be read. */
  readonly head: Buffer | undefined;
  /** The file that was expected at this path. */
  readonly expected: FollowedFile | undefined;
  /**
   * Bytes that had been read of that file, and how often it was restarted, before the look: if it has fewer bytes, it was
   * truncated.
   */
  readonly before: { readonly bytes: number; readonly restarts: number };
}

/** The files that were found in a poll, with the paths of each. */
export type Seen = Map<FollowedFile, string[]>;
