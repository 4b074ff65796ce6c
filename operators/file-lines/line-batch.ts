import type { Fingerprint } from './fingerprint.ts';
import type { LineBlock } from './line-block.ts';
import type { FileId } from './regular-file.ts';

/** Consecutive lines of one file. */
export interface LineBatch {
  readonly id: FileId;
  readonly path: string;
  /** Without terminators. Never empty. Decoded when first asked for, if there is `bytes`. */
  readonly lines: readonly string[];
  /** The number of lines. */
  readonly size: number;
  /** The same with their terminators, if they were asked for as bytes and are not special in any way. */
  readonly bytes?: Uint8Array | undefined;
  /** Bytes from the begin of the file to the begin of the first line. */
  readonly startOffset: number;
  /** Bytes from the begin of the file to the end of the last line, terminator included: where to resume. */
  readonly endOffset: number;
  /** The last line has no terminator yet: one that follows belongs to it, and is no line. */
  readonly isUnterminated: boolean;
  /** The only line is the begin of one that was longer than `maxLineBytes`, or whose end was or may be lost. */
  readonly isTruncated: boolean;
  /** JSON holds the lines as they stand: they are ASCII without quotes, backslashes and control characters. */
  readonly areVerbatim: boolean;
  /** The lines were there when following began. */
  readonly backfill: boolean;
  /** What the file begins with. */
  readonly fingerprint: Fingerprint;
}

/** Where a batch lies, and in which file. */
export type BatchPlace = Pick<
  LineBatch,
  'id' | 'path' | 'startOffset' | 'endOffset' | 'backfill' | 'fingerprint'
>;

/** A batch of bytes. A class: each object literal with a getter costs V8 a hidden class. */
export class BlockBatch implements LineBatch {
  readonly id: FileId;
  readonly path: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly isUnterminated = false;
  readonly isTruncated = false;
  readonly backfill: boolean;
  readonly fingerprint: Fingerprint;
  readonly #block: LineBlock;

  constructor(block: LineBlock, { id, path, startOffset, endOffset, backfill, fingerprint }: BatchPlace) {
    this.#block = block;
    this.id = id;
    this.path = path;
    this.startOffset = startOffset;
    this.endOffset = endOffset;
    this.backfill = backfill;
    this.fingerprint = fingerprint;
  }

  get lines(): readonly string[] {
    return this.#block.lines;
  }

  get areVerbatim(): boolean {
    return this.#block.areVerbatim;
  }

  get size(): number {
    return this.#block.size;
  }

  get bytes(): Uint8Array {
    return this.#block.bytes;
  }
}
