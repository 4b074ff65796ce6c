import type { Fingerprint } from './file-head.ts';
import type { FileId } from './file-system.ts';
import type { JoinedLines } from './joined-lines.ts';
import { LineBlock } from './line-block.ts';
import type { TailChecksum } from './tail-checksum.ts';

/** Consecutive lines of one file. */
export interface LineBatch {
  readonly id: FileId;
  readonly path: string;
  /** Without terminators. Never empty. Made when first asked for. */
  readonly lines: readonly string[];
  /** The same as one text: LF stands between the lines. Decoded when first asked for, if there is `bytes`. */
  readonly text: string;
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
  /** The lines were there when following began. */
  readonly backfill: boolean;
  /** What the file begins with. */
  readonly fingerprint: Fingerprint;
  /** The checksum of the bytes before `endOffset`. */
  readonly tail?: TailChecksum | undefined;
  /** The file was truncated since it was read: resume at its beginning, not at `endOffset`. */
  readonly isCutOff?: boolean | undefined;
  /** Says that `bytes`, `lines` and `text` are not asked for any more: the memory of `bytes` is used again. At most once. */
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
  readonly #taken: JoinedLines | LineBlock;

  constructor(
    taken: JoinedLines | LineBlock,
    { id, path, startOffset, endOffset, backfill, fingerprint, tail, isCutOff }: BatchPlace,
    { isUnterminated, isTruncated }: Pick<LineBatch, 'isUnterminated' | 'isTruncated'>,
  ) {
    this.#taken = taken;
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
    return this.#taken.lines;
  }

  get text(): string {
    return this.#taken.text;
  }

  get size(): number {
    return this.#taken.size;
  }

  release(): void {
    if (this.#taken instanceof LineBlock) this.#taken.release();
  }

  get bytes(): Uint8Array | undefined {
    return this.#taken instanceof LineBlock ? this.#taken.bytes : undefined;
  }

  /** For who takes them as bytes: see {@link LineBlock.isPlain}. */
  get plain(): LineBlock | undefined {
    return this.#taken instanceof LineBlock && this.#taken.isPlain ? this.#taken : undefined;
  }
}
