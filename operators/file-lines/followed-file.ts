import { LineFramer } from './line-framer.ts';
import type { FileId, FileStatus } from './regular-file.ts';

/** What is known of a file when it is found, to decide where to begin. */
export interface FoundFile extends FileStatus {
  readonly path: string;
  /** It was there when following began. */
  readonly existed: boolean;
}

/** One file, by identity: how far it is read, and what has become of it. Its path may change. */
export class FollowedFile {
  readonly id: FileId;
  readonly lines: LineFramer;
  path: string;
  /** Bytes, as last seen. */
  size: number;
  fd: number | undefined;
  /** Lines that end at or before this offset were there when following began. */
  backfillEnd: number;
  /** An operation on the descriptor is under way: it must stay open. */
  isBusy = false;
  isAtEnd = false;
  /** It shrank: what is held is a line, then it begins anew. */
  isTruncated = false;
  /** No path leads to it any more; its descriptor is all there is. */
  isGone = false;
  /** At its end, a line without a newline is a line; and if no path leads to the file, that is all of it. */
  isFinishing = false;
  /** It took over the path of another file, whose lines come first. */
  isHeldBack = false;
  /** The files that are held back until this one is read to its end. */
  successors: FollowedFile[] = [];
  /** Polls since it was last seen to grow: a count, because clocks jump. */
  quietPolls = 0;
  /** What of `unread` is part of the table's sum. */
  counted = 0;

  constructor(found: FoundFile, offset: number) {
    this.id = found.id;
    this.path = found.path;
    this.size = found.size;
    this.backfillEnd = found.existed ? found.size : 0;
    this.lines = new LineFramer(offset);
  }

  /** Bytes known of and not read. */
  get unread(): number {
    return this.isTruncated ? this.size : Math.max(0, this.size - this.lines.readOffset);
  }

  /** Begins anew after a truncation. */
  restart(): void {
    this.lines.restart();
    this.backfillEnd = 0;
    this.isTruncated = false;
    this.isAtEnd = false;
  }
}
