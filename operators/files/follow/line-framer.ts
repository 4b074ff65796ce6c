import { isUtf8 } from 'node:buffer';
import { type TailChecksum, TailDigest } from './file-fingerprint.ts';
import { findInvalidUtf8 } from './invalid-utf8.ts';
import { BlockLease, BlockMemory, LineBlock } from './line-block.ts';
import type { CuttableLine, MemoryBudget } from './memory-budget.ts';
import { type TextEncoding, UTF_8 } from './text-encoding.ts';

const NUL = 0;
const NOTHING = Buffer.alloc(0);
/** A byte order mark in UTF-8: ahead of the first line, and no part of it. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Cuts the bytes of one file into lines, and knows to the byte where each lies.
 *
 * Bytes are cut at LF, which no other character of the encoding contains, so a character that two chunks share is never
 * split. What is taken is UTF-8, and all offsets are those of the file.
 * A byte order mark at the start of the file belongs to no line. NULs there belong to no line either: they are the hole
 * that a truncation leaves under a writer that does not append. Of a line longer than `maxLineBytes` only so many bytes
 * are kept, in memory as well.
 *
 * @example
 * const framer = new LineFramer();
 * framer.feed(Buffer.from('one\ntw'));
 * framer.take(10).lines; // ['one']
 * framer.offset; // 4
 * framer.readOffset; // 6
 */
export class LineFramer {
  #offset: number;
  #readOffset: number;
  /** What has come of a line whose end has not. */
  readonly #held: PartialLine;
  #chunk: Buffer = NOTHING;
  #at = 0;
  #lastLf = -1;
  #ending = false;
  #isCut = false;
  #isUnterminated: boolean;
  #isTruncated = false;
  /** What comes up to the next LF is the rest of a line whose beginning was not read. */
  #isInLine = false;
  /** Nothing but NULs has come since the start of the file. */
  #isInHole: boolean;
  #holeBytes = 0;
  #digest: TailDigest;
  /** What of the chunk is in the digest. */
  #digestedTo = 0;
  /** Of the bytes before `offset`. */
  #tail: TailChecksum | undefined;
  readonly #encoding: TextEncoding;
  /** The first byte of a character whose second one has not come. */
  #half = NOTHING;
  /** Told once. */
  #onInvalidByte: ((offset: number) => void) | undefined;

  /**
   * `isUnterminated`: what ends at `offset` is a line that was taken before its terminator came. `tail`: the checksum of
   * the bytes before `offset`. `memory`: what a line that is held counts in. `onInvalidByte`: told the offset of the first
   * byte that is not UTF-8, unless there is another `encoding`.
   */
  constructor(
    offset = 0,
    {
      isUnterminated = false,
      maxLineBytes = Number.POSITIVE_INFINITY,
      tail,
      memory,
      encoding = UTF_8,
      onInvalidByte,
    }: {
      isUnterminated?: boolean;
      maxLineBytes?: number;
      tail?: TailChecksum | undefined;
      memory?: MemoryBudget;
      encoding?: TextEncoding;
      onInvalidByte?: (offset: number) => void;
    } = {},
  ) {
    this.#offset = offset;
    this.#readOffset = offset;
    this.#isInHole = offset === 0;
    this.#tail = tail;
    this.#digest = new TailDigest(offset);
    this.#isUnterminated = isUnterminated;
    this.#held = new PartialLine(maxLineBytes, memory);
    this.#encoding = encoding;
    this.#onInvalidByte = encoding === UTF_8 ? onInvalidByte : undefined;
  }

  /** Whether the last line was taken before its terminator came. */
  get isUnterminated(): boolean {
    return this.#isUnterminated;
  }

  /** Whether the line taken last is the start of a longer one; it was taken alone. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  /** Bytes from the start of the file to the end of the last line taken, its terminator included. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes from the start of the file to the end of the last chunk fed: where to read on. */
  get readOffset(): number {
    return this.#readOffset;
  }

  /** The checksum of the bytes before `offset`; undefined if none of them was read. */
  get tail(): TailChecksum | undefined {
    return this.#tail;
  }

  /** How many NULs were skipped at the start of the file; 0 as long as more may come, and from the second call on. */
  takeHoleBytes(): number {
    const bytes = this.#isInHole ? 0 : this.#holeBytes;
    if (bytes > 0) this.#holeBytes = 0;
    return bytes;
  }

  /** Whether `take` has something to return. While it has, the chunk must not be written to. */
  get hasLines(): boolean {
    return this.#ending || this.#at <= this.#lastLf;
  }

  /** Whether there are bytes of a line that has no terminator yet. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Adds the next bytes of the file. Only when all lines are taken; the chunk is read in place, not copied. */
  feed(bytes: Buffer): void {
    const chunk = this.#wholeUnits(bytes);
    const skipped = this.#skippedBytes(chunk);
    this.#digest.add(chunk.subarray(0, skipped));
    if (skipped > 0) {
      this.#offset += skipped;
      this.#tail = this.#digest.checksum;
    }
    this.#chunk = chunk.subarray(skipped);
    this.#at = 0;
    this.#digestedTo = 0;
    this.#lastLf = this.#encoding.lastIndexOfLf(this.#chunk);
    this.#holdRest();
  }

  /** What starts at a multiple of the encoding's unit in the file, and ends at one. */
  #wholeUnits(bytes: Buffer): Buffer {
    const { unit } = this.#encoding;
    const start = this.#readOffset - this.#half.length;
    this.#readOffset += bytes.length;
    if (unit === 1) return bytes;
    const all = this.#half.length === 0 ? bytes : Buffer.concat([this.#half, bytes]);
    const whole = all.subarray(0, Math.max(0, all.length - (this.#readOffset % unit)));
    this.#half = Buffer.from(all.subarray(whole.length));
    const isMidUnit = start % unit !== 0 && whole.length > 0;
    if (!isMidUnit) return whole;
    this.#digest.add(whole.subarray(0, 1));
    this.#offset += 1;
    return whole.subarray(1);
  }

  /** Starts at `offset`, before anything was fed, with the bytes `before` it. `isInLine`: after the next LF. */
  startAt(offset: number, before: Buffer, { isInLine = false } = {}): void {
    this.#digest = new TailDigest(offset - before.length);
    this.#digest.add(before);
    this.#tail = this.#digest.checksum;
    this.#offset = offset;
    this.#readOffset = offset;
    this.#isInHole = offset === 0;
    this.#isInLine = isInLine;
  }

  /**
   * The next lines, at most `max` of them, in `memory`. There may be none even if `hasLines` was true: the terminator of a
   * line that was taken early is not a line. A line that is cut is taken alone.
   */
  take(max: number, memory = new BlockMemory()): LineBlock {
    const lease = new BlockLease(memory);
    this.#isTruncated = false;
    if (this.#ending) return this.#takeUnterminated(lease);
    if (max < 1 || !this.hasLines) return new LineBlock(NOTHING, 0);
    const { indexOfLf, terminator } = this.#encoding;
    const firstEnd = indexOfLf(this.#chunk, this.#at);
    const first = this.#chunk.subarray(this.#at, firstEnd + 1 - terminator.length);
    if (!this.#held.hasRoomFor(first.length)) {
      this.#at = firstEnd + 1;
      return this.#finish(this.#takeHeld(first, lease), 1, lease);
    }
    let end = firstEnd + 1;
    let size = 1;
    let longest = this.#held.length + end - this.#at;
    for (; size < max && end <= this.#lastLf; size++) {
      const next = indexOfLf(this.#chunk, end) + 1;
      if (next - end > longest) longest = next - end;
      end = next;
    }
    const bytes = this.#held.take(this.#chunk.subarray(this.#at, end), lease);
    this.#at = end;
    return this.#finish(bytes, size, lease, longest);
  }

  /** Makes a line of what is held, without waiting for its terminator. `isCut`: its rest is known to be lost. */
  end({ isCut = false } = {}): void {
    this.#ending = this.isHolding;
    this.#isCut = isCut;
  }

  /** Frees the memory of what is held: nothing is taken after this. */
  drop(): void {
    this.#held.clear();
  }

  /** Forgets everything: the file starts over. */
  restart(): void {
    this.#offset = 0;
    this.#readOffset = 0;
    this.#held.clear();
    this.#half = NOTHING;
    this.#release();
    this.#isUnterminated = false;
    this.#isTruncated = false;
    this.#isInLine = false;
    this.#isInHole = true;
    this.#holeBytes = 0;
    this.#digest = new TailDigest(0);
    this.#tail = undefined;
  }

  /** Bytes at the start of a chunk that belong to no line that is emitted. */
  #skippedBytes(chunk: Buffer): number {
    let skipped = 0;
    if (this.#isInHole) {
      const { unit } = this.#encoding;
      while (skipped < chunk.length && chunk[skipped] === NUL && chunk[skipped + unit - 1] === NUL)
        skipped += unit;
      this.#holeBytes += skipped;
      this.#isInHole = skipped === chunk.length;
    }
    if (this.#isInLine) {
      const lf = this.#encoding.indexOfLf(chunk, skipped);
      skipped = lf === -1 ? chunk.length : lf + 1;
      this.#isInLine = lf === -1;
    }
    return skipped;
  }

  #takeUnterminated(lease: BlockLease): LineBlock {
    const bytes = this.#takeHeld(NOTHING, lease);
    this.#isTruncated ||= this.#isCut;
    this.#ending = false;
    const lines = this.#finish(bytes, 1, lease);
    // Nothing but a byte order mark is not a line.
    this.#isUnterminated = lines.size === 0 || lines.bytes.length > UTF_8.terminator.length;
    return this.#isUnterminated ? lines : lines.withoutFirst;
  }

  /** The line that is held, as far as it is kept, with `end` as its last bytes. */
  #takeHeld(end: Buffer, lease: BlockLease): Buffer {
    this.#isTruncated = !this.#held.hasRoomFor(end.length);
    return this.#held.take(
      Buffer.concat([end.subarray(0, this.#held.room), this.#encoding.terminator]),
      lease,
    );
  }

  #finish(read: Buffer, size: number, lease: BlockLease, lengthOfLongest = read.length): LineBlock {
    const bytes = this.#encoding.toUtf8(read, size);
    const longest = bytes === read ? lengthOfLongest : undefined;
    const isMarked = this.#offset === 0 && MARK.equals(bytes.subarray(0, MARK.length));
    const lines = new LineBlock(isMarked ? bytes.subarray(MARK.length) : bytes, size, { lease, longest });
    if (this.#onInvalidByte !== undefined && !lines.isPlain && !isUtf8(bytes)) this.#tellInvalidByte(bytes);
    this.#offset = this.#readOffset - this.#half.length - (this.#chunk.length - this.#at);
    this.#digestTo(this.#at);
    this.#tail = this.#digest.checksum;
    this.#holdRest();
    const isTerminator = this.#isUnterminated && lines.startsEmpty;
    this.#isUnterminated = false;
    return isTerminator ? lines.withoutFirst : lines;
  }

  #tellInvalidByte(bytes: Buffer): void {
    // Without a line feed in the chunk, the line is taken before its end came.
    const index = findInvalidUtf8(bytes, { isCut: this.#isTruncated || this.#lastLf === -1 });
    if (index === undefined) return;
    this.#onInvalidByte?.(this.#offset + index);
    this.#onInvalidByte = undefined;
  }

  /** Copies what follows the last LF, once all lines are taken: the chunk's memory is about to be reused. */
  #holdRest(): void {
    if (this.#at <= this.#lastLf) return;
    if (this.#at < this.#chunk.length) this.#held.add(this.#chunk.subarray(this.#at));
    this.#digestTo(this.#chunk.length);
    this.#release();
  }

  #digestTo(end: number): void {
    this.#digest.add(this.#chunk.subarray(this.#digestedTo, end));
    this.#digestedTo = end;
  }

  #release(): void {
    this.#chunk = NOTHING;
    this.#at = 0;
    this.#digestedTo = 0;
    this.#lastLf = -1;
    this.#ending = false;
    this.#isCut = false;
  }
}

const LEAST_MEMORY = 256;

/** Bytes of a line whose end has not come. Keeps `limit` of them at most, fewer if `budget` is used up. */
export class PartialLine implements CuttableLine {
  readonly #most: number;
  readonly #budget: MemoryBudget | undefined;
  /** Lower than `most` once the line was cut. */
  #limit: number;
  /** Grows by doubling, so that a line of many small writes takes no more memory than one of few. */
  #memory = NOTHING;
  #kept = 0;
  #length = 0;

  constructor(limit: number, budget?: MemoryBudget) {
    this.#most = limit;
    this.#limit = limit;
    this.#budget = budget;
  }

  /** Bytes of the line, kept or not. */
  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#memory.length;
  }

  /** Copies the bytes: the memory that they are in is about to be reused. */
  add(bytes: Buffer): void {
    this.#length += bytes.length;
    const kept = Math.min(bytes.length, this.#limit - this.#kept);
    if (kept <= 0) return;
    const wanted = this.#kept + kept;
    if (wanted > this.bytes) {
      this.#resize(Math.max(LEAST_MEMORY, Math.min(this.#most, Math.max(wanted, 2 * this.bytes))));
    }
    // It may have been cut for that.
    this.#kept += bytes.copy(
      this.#memory,
      this.#kept,
      0,
      Math.min(kept, Math.max(0, this.#limit - this.#kept)),
    );
  }

  /** Keeps the first half only, and nothing of what comes. */
  cut(): void {
    this.#kept = Math.min(this.#kept, this.bytes >>> 1);
    this.#limit = this.#kept;
    this.#resize(this.bytes >>> 1);
  }

  /** Whether all of the line would be kept if its last `length` bytes were these. */
  hasRoomFor(length: number): boolean {
    return this.#length + length <= this.#limit;
  }

  /** How many more bytes would be kept. */
  get room(): number {
    return this.#limit - this.#kept;
  }

  /** Copies the bytes kept, and `rest` after them. The next line starts empty. */
  take(rest: Buffer, memory: BlockLease): Buffer {
    const bytes = memory.take(this.#kept + rest.length);
    const end = this.#memory.copy(bytes, 0, 0, this.#kept);
    rest.copy(bytes, end);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#budget?.giveAll(this);
    this.#memory = NOTHING;
    this.#limit = this.#most;
    this.#kept = 0;
    this.#length = 0;
  }

  #resize(bytes: number): void {
    const more = bytes - this.bytes;
    const memory = Buffer.allocUnsafeSlow(bytes);
    this.#memory.copy(memory, 0, 0, this.#kept);
    this.#memory = memory;
    if (more > 0) this.#budget?.takeFor(this, more);
    else this.#budget?.give(-more);
  }
}
