import { isAscii, isUtf8 } from 'node:buffer';
import { escapeBytes } from '../../support/escaped-bytes.ts';
import type { Fingerprint, TailChecksum } from './file-fingerprint.ts';
import type { FileId } from './file-status.ts';
import type { MemoryBudget } from './memory-budget.ts';

const LF = 0x0a;
const CR = 0x0d;
/** V8 asks the system for new memory for each string above 128 Ki characters. */
const PART_BYTES = 96 * 1024;

/**
 * Consecutive lines of one file as bytes, each with its terminator; decoded when its text is first needed. Invalid UTF-8
 * becomes U+FFFD. One CR before the LF belongs to the terminator.
 */
export class LineBlock {
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly #lease: BlockLease | undefined;
  #longest: number | undefined;
  #isPlain: boolean | undefined;
  #text: string | undefined;
  #lines: readonly string[] | undefined;
  /** Where the last slice ended: a line, and its first byte. The next one usually starts there. */
  #sliced = { line: 0, byte: 0 };

  /**
   * `bytes` is not written to until it is released. `size` is the number of its lines. `longest` is the length of the
   * longest line in bytes, its terminator included, or more.
   */
  constructor(
    bytes: Uint8Array,
    size: number,
    { lease, longest }: { lease?: BlockLease | undefined; longest?: number | undefined } = {},
  ) {
    this.bytes = bytes;
    this.size = size;
    this.#lease = lease;
    this.#longest = longest;
  }

  /** Call it at most once, when its bytes and texts are no longer needed. */
  release(): void {
    this.#lease?.giveBack();
  }

  /** Whether the first line has no characters. */
  get startsEmpty(): boolean {
    const { bytes } = this;
    return bytes[0] === LF || (bytes[0] === CR && bytes[1] === LF);
  }

  /** The same without the first line, in the same memory. */
  get withoutFirst(): LineBlock {
    return this.#with(this.bytes.subarray(this.bytes.indexOf(LF) + 1), this.size - 1);
  }

  /** The same without the lines that have nothing ahead of their terminator, in the same memory. */
  get withoutEmpty(): LineBlock {
    const { bytes } = this;
    let size = 0;
    let end = 0;
    for (let start = 0; start < bytes.length; ) {
      const next = bytes.indexOf(LF, start) + 1;
      const length = next - start;
      const isEmpty = length === 1 || (length === 2 && bytes[start] === CR);
      if (!isEmpty) {
        if (end < start) bytes.copyWithin(end, start, next);
        end += length;
        size++;
      }
      start = next;
    }
    return size === this.size ? this : this.#with(bytes.subarray(0, end), size);
  }

  /** The lines from `start` to before `end`, in the same memory. */
  slice(start: number, end: number): LineBlock {
    const { bytes } = this;
    let { line, byte: from } = start < this.#sliced.line ? { line: 0, byte: 0 } : this.#sliced;
    for (; line < start; line++) from = bytes.indexOf(LF, from) + 1;
    let to = from;
    for (; line < end; line++) to = bytes.indexOf(LF, to) + 1;
    this.#sliced = { line, byte: to };
    const part = this.#with(bytes.subarray(from, to), end - start);
    part.#isPlain = this.#isPlain === true ? true : undefined;
    return part;
  }

  /** The same in blocks of which each can be worked on at less cost, if there is more than one line in it. */
  get parts(): readonly LineBlock[] {
    const { bytes } = this;
    if (bytes.length <= PART_BYTES) return [this];
    const parts: LineBlock[] = [];
    for (let start = 0; start < bytes.length; ) {
      let size = 0;
      let end = start;
      let longest = 0;
      while (end < bytes.length && (size === 0 || end - start < PART_BYTES)) {
        const next = bytes.indexOf(LF, end) + 1;
        longest = Math.max(longest, next - end);
        end = next;
        size++;
      }
      parts.push(new LineBlock(bytes.subarray(start, end), size, { lease: this.#lease, longest }));
      start = end;
    }
    return parts;
  }

  get plain(): LineBlock | undefined {
    return this.isPlain ? this : undefined;
  }

  /** All characters are of ASCII, and every terminator is an LF: `bytes` is `text` with one more LF at the end. */
  get isPlain(): boolean {
    this.#isPlain ??= isAscii(this.bytes) && !this.bytes.includes(CR);
    return this.#isPlain;
  }

  /** The bytes, if they are what `text` is in UTF-8, with one more LF at the end. */
  get utf8(): Uint8Array | undefined {
    return isUtf8(this.bytes) && !this.bytes.includes(CR) ? this.bytes : undefined;
  }

  /** The length of the longest line in bytes, its terminator included, or more. */
  get longest(): number {
    this.#longest ??= longestLine(this.bytes);
    return this.#longest;
  }

  /** Room for so many bytes, which is released together with this. */
  room(bytes: number): Buffer {
    return this.#lease?.take(bytes) ?? Buffer.allocUnsafeSlow(bytes);
  }

  /** Other plain lines, in what `room` gave. */
  withPlain(bytes: Uint8Array, size: number, longest?: number): LineBlock {
    const block = new LineBlock(bytes, size, { lease: this.#lease, longest });
    block.#isPlain = true;
    return block;
  }

  #with(bytes: Uint8Array, size: number): LineBlock {
    return new LineBlock(bytes, size, { lease: this.#lease, longest: this.#longest });
  }

  /** Without terminators; LF stands between the lines. */
  get text(): string {
    this.#text ??= this.#decode((bytes) => bytes.toString());
    return this.#text;
  }

  /** The same with bytes that are not UTF-8 as {@link escapeBytes} keeps them. */
  get escapedText(): string {
    return this.text.includes('\ufffd') ? this.#decode(escapeBytes) : this.text;
  }

  #decode(toText: (bytes: Buffer) => string): string {
    const { buffer, byteOffset, length } = this.bytes;
    const bytes = Buffer.from(buffer, byteOffset, Math.max(0, length - 1));
    // Node keeps such a string outside of V8's heap if it is long.
    if (this.isPlain) return bytes.toString('latin1');
    const text = toText(bytes);
    const isCrLast = text.charCodeAt(text.length - 1) === CR;
    return (isCrLast ? text.slice(0, -1) : text).replaceAll('\r\n', '\n');
  }

  get lines(): readonly string[] {
    this.#lines ??= this.size === 0 ? [] : this.text.split('\n');
    return this.#lines;
  }
}

function longestLine(bytes: Uint8Array): number {
  let longest = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start) + 1;
    longest = Math.max(longest, end - start);
    start = end;
  }
  return longest;
}

const UNIT = 64 * 1024;
/** Smaller blocks are not used again: a batch of one line must not hold a whole unit. */
const LEAST = 4096;
const MOST_FREE = 16;
/** Larger blocks are rare, and not used again either. */
const LARGEST = 32 * UNIT;

/**
 * Reuses the memory of blocks: files are read so fast that new memory for each block would be a lot of garbage to collect.
 * Free memory counts in `budget`.
 */
export class BlockMemory {
  readonly #budget: MemoryBudget | undefined;
  readonly #free: Buffer[] = [];
  /** The size of the blocks that are kept: that of the largest so far, so that each fits in the memory of another. */
  #usual = UNIT;
  #isClosed = false;

  constructor(budget?: MemoryBudget) {
    this.#budget = budget;
  }

  take(bytes: number): Buffer {
    if (bytes < LEAST || bytes > LARGEST) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.#usual) {
      this.#drop();
      this.#usual = Math.ceil(bytes / UNIT) * UNIT;
    }
    const free = this.#free.pop();
    if (free !== undefined) this.#budget?.give(free.length);
    return (free ?? Buffer.allocUnsafeSlow(this.#usual)).subarray(0, bytes);
  }

  give({ buffer }: Buffer): void {
    const bytes = buffer.byteLength;
    if (this.#isClosed || this.#free.length >= MOST_FREE || bytes !== this.#usual) return;
    if (this.#budget?.hasRoomFor(bytes) === false) return;
    this.#budget?.take(bytes);
    this.#free.push(Buffer.from(buffer));
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    for (const { length } of this.#free.splice(0)) this.#budget?.give(length);
  }
}

/** Memory that is taken for one batch, and given back together. */
export class BlockLease {
  readonly #memory: BlockMemory;
  readonly #taken: Buffer[] = [];

  constructor(memory: BlockMemory) {
    this.#memory = memory;
  }

  take(bytes: number): Buffer {
    const taken = this.#memory.take(bytes);
    this.#taken.push(taken);
    return taken;
  }

  giveBack(): void {
    for (const taken of this.#taken.splice(0)) this.#memory.give(taken);
  }
}

/** Consecutive lines of one file. */
export interface LineBatch {
  readonly id: FileId;
  readonly path: string;
  /** Without terminators. Never empty. Created on first access. */
  readonly lines: readonly string[];
  /** The same as one text: LF stands between the lines. Decoded on first access. */
  readonly text: string;
  /** The number of lines. */
  readonly size: number;
  /** The same in UTF-8, each with its terminator: the last one has an LF even if the file has none there yet. */
  readonly bytes: Uint8Array;
  /** Bytes from the start of the file to the start of the first line. */
  readonly startOffset: number;
  /** Bytes from the start of the file to the end of the last line, terminator included: where to resume. */
  readonly endOffset: number;
  /** The last line has no terminator yet: one that follows belongs to it, and is not a line. */
  readonly isUnterminated: boolean;
  /** The only line is the start of one that was longer than `maxLineBytes`, or whose end was or may be lost. */
  readonly isTruncated: boolean;
  /** The lines were there when following started. */
  readonly backfill: boolean;
  /** Tells the file from another one with the same identity. */
  readonly fingerprint: Fingerprint;
  /** The checksum of the bytes before `endOffset`. */
  readonly tail?: TailChecksum | undefined;
  /** The file was truncated since it was read: resume at its beginning, not at `endOffset`. */
  readonly isCutOff?: boolean | undefined;
  /** Call it at most once, when `bytes`, `lines` and `text` are no longer needed: the memory is then reused. */
  release(): void;
}

/** Where a batch lies, and in which file. */
export type BatchPlace = Pick<
  LineBatch,
  'id' | 'path' | 'startOffset' | 'endOffset' | 'backfill' | 'fingerprint' | 'tail' | 'isCutOff'
>;

/** A class: an object literal with a getter costs V8 a hidden class each time. */
export class TakenLines implements LineBatch {
  readonly id: FileId;
  readonly path: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly isUnterminated: boolean;
  readonly isTruncated: boolean;
  readonly backfill: boolean;
  readonly fingerprint: Fingerprint;
  readonly tail: TailChecksum | undefined;
  readonly isCutOff: boolean | undefined;
  readonly #block: LineBlock;

  constructor(
    block: LineBlock,
    { id, path, startOffset, endOffset, backfill, fingerprint, tail, isCutOff }: BatchPlace,
    { isUnterminated, isTruncated }: Pick<LineBatch, 'isUnterminated' | 'isTruncated'>,
  ) {
    this.#block = block;
    this.id = id;
    this.path = path;
    this.startOffset = startOffset;
    this.endOffset = endOffset;
    this.isUnterminated = isUnterminated;
    this.isTruncated = isTruncated;
    this.backfill = backfill;
    this.fingerprint = fingerprint;
    this.tail = tail;
    this.isCutOff = isCutOff;
  }

  get lines(): readonly string[] {
    return this.#block.lines;
  }

  get text(): string {
    return this.#block.text;
  }

  /** See {@link LineBlock.escapedText}. */
  get escapedText(): string {
    return this.#block.escapedText;
  }

  get size(): number {
    return this.#block.size;
  }

  get bytes(): Uint8Array {
    return this.#block.bytes;
  }

  /** See {@link LineBlock.isPlain}. */
  get plain(): LineBlock | undefined {
    return this.#block.plain;
  }

  /** See {@link LineBlock.utf8}. */
  get utf8(): Uint8Array | undefined {
    return this.#block.utf8;
  }

  release(): void {
    this.#block.release();
  }
}
