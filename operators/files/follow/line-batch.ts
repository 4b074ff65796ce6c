import type { Fingerprint } from './file-head.ts';
import type { FileId } from './file-system.ts';
import type { LineBlock } from './line-block.ts';
import type { TailChecksum } from './tail-checksum.ts';

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

  release(): void {
    this.#block.release();
  }
}
