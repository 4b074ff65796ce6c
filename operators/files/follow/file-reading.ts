import {
  checksumOf,
  FileHead,
  type Fingerprint,
  type NonTextFormat,
  type TailChecksum,
} from './file-fingerprint.ts';
import type { FoundStart } from './find-start.ts';
import type { FollowSettings } from './follow-settings.ts';
import { LineFramer } from './line-framer.ts';
import { compareBytes, type Verdict } from './same-file.ts';
import type { FoundFile, StartPosition } from './start-position.ts';
import { encodingOf } from './text-encoding.ts';

/** Where bytes lie in a file. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/** How a file is divided into lines. */
type LineSettings = Pick<FollowSettings, 'maxLineBytes' | 'memory' | 'encoding'>;

/** What is read of one file: how far, what it is known by, and the lines that it gives. */
export class FileReading {
  readonly lines: LineFramer;
  readonly #head: FileHead;
  /**
   * The checksum of the last bytes that were read, up to `lines.readOffset`. They are read again with the next ones: if they
   * are others by then, the file was truncated meanwhile and has grown past where it was, which its size does not show.
   */
  #tail: TailChecksum | undefined;
  #start: StartPosition | undefined;
  #backfillEnd: number;
  /** Bytes up to here are emitted only as part of a line that ends after them. */
  #oldEnd: number;
  #isMidLine = false;
  #startsOver = false;
  #restarts = 0;

  constructor(
    found: FoundFile,
    start: StartPosition,
    settings: LineSettings,
    onInvalidByte: (offset: number) => void,
  ) {
    const { maxLineBytes, memory } = settings;
    const { offset, isUnterminated, fingerprint, tail, mayBeInLine = false } = start;
    const encoding = encodingOf(settings.encoding);
    this.#head = new FileHead(found.head, encoding, fingerprint);
    const options = { isUnterminated, maxLineBytes, tail, memory, encoding, onInvalidByte };
    this.lines = new LineFramer(offset, options);
    this.#start = offset > 0 ? start : undefined;
    this.#backfillEnd = start.backfillEnd ?? (found.existed ? found.size : 0);
    this.#oldEnd = mayBeInLine ? offset : 0;
  }

  get fingerprint(): Fingerprint {
    return this.#head.fingerprint;
  }

  /** The format of the file if it is not text, as far as its first bytes tell. */
  get nonTextFormat(): NonTextFormat | undefined {
    return this.#head.nonTextFormat;
  }

  /** Where to start, as long as the bytes before it were not looked at. */
  get start(): StartPosition | undefined {
    return this.#start;
  }

  /** Lines that end at or before this offset were there when following started. */
  get backfillEnd(): number {
    return this.#backfillEnd;
  }

  /** What was read is no longer in the file: the line that is held has lost its end, and reading starts over after it. */
  get startsOver(): boolean {
    return this.#startsOver;
  }

  /** How often reading started again at the beginning. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Whether there are bytes of a line that has no terminator yet, some of them new. */
  get isHolding(): boolean {
    return this.lines.isHolding && this.lines.readOffset > this.#oldEnd;
  }

  /** Whether reading started inside a line, of which the rest is skipped; false from the second call on. */
  takeIsMidLine(): boolean {
    const isMidLine = this.#isMidLine;
    this.#isMidLine = false;
    return isMidLine;
  }

  /** What is read next, up to `end`, with the bytes before it that are to be compared. */
  next(bytes: number, end: number): Span {
    const position = this.lines.readOffset;
    const start = this.#tail?.from ?? position;
    // No chunk lies across the end of what was there at the start, so no batch does.
    const last = position < this.#backfillEnd ? Math.min(end, this.#backfillEnd) : end;
    return { start, length: position - start + Math.min(bytes, Math.max(0, last - position)) };
  }

  /** The file was opened, and starts with `head`. */
  opened(head: Buffer): Verdict {
    return this.#head.accept(head) ? 'same' : 'replaced';
  }

  /** The bytes before the start are as they were. */
  begin({ offset, isInLine, before }: FoundStart): void {
    this.#start = undefined;
    this.#isMidLine = isInLine;
    this.#tail = checksumOf(before, offset);
    this.lines.startAt(offset, before, { isInLine });
  }

  /**
   * `bytes` were read at `start`, as `next` asked. Returns those that are new, which are to be fed to the lines, or why they do
   * not follow what was read before.
   */
  read(bytes: Buffer, start: number): Buffer | Exclude<Verdict, 'same'> {
    const offset = this.lines.readOffset;
    const verdict = compareBytes(bytes, start, { offset, tail: this.#tail }, (head) =>
      this.#head.agreesWith(head),
    );
    if (verdict !== 'same') return verdict;
    const chunk = bytes.subarray(offset - start);
    this.#head.add(chunk, offset);
    if (this.nonTextFormat !== undefined) this.#refuse();
    else if (chunk.length > 0) this.#tail = checksumOf(bytes, start + bytes.length);
    return chunk;
  }

  /** The file was truncated or replaced. False if that was known. */
  startOver(): boolean {
    const isNew = !this.#startsOver;
    this.#startsOver = true;
    return isNew;
  }

  /** What was read before the truncation is emitted: the file is read from its beginning. */
  restart(): void {
    this.#restarts++;
    this.lines.restart();
    this.#head.clear();
    this.#tail = undefined;
    this.#backfillEnd = 0;
    this.#start = undefined;
    this.#oldEnd = 0;
    this.#startsOver = false;
  }

  /** It is not text: what was held is dropped. It may be another file when it is opened again. */
  #refuse(): void {
    this.lines.restart();
    this.#tail = undefined;
  }
}
