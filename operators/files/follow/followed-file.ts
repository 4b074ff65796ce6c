import { checksumOf, FileHead, matchesChecksum, type TailChecksum } from './file-fingerprint.ts';
import type { FileId } from './file-system.ts';
import type { FoundStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import { LineFramer } from './line-framer.ts';
import type { FoundFile, StartPosition } from './start-position.ts';
import { encodingOf } from './text-encoding.ts';

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

function warnOfInvalidByte(path: string, offset: number, log: FollowSettings['log']): void {
  log.warn(
    `${path} is not UTF-8: the byte at offset ${offset} and others like it become U+FFFD. If the file has another ` +
      'encoding, set `encoding`, for example `encoding: windows-1252`',
    { path, offset },
  );
}
