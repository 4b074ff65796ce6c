import type { FileId } from './regular-file.ts';

/** Consecutive lines of one file. */
export interface LineBatch {
  readonly id: FileId;
  readonly path: string;
  /** Without terminators. Never empty. */
  readonly lines: readonly string[];
  /** Bytes from the begin of the file to the begin of the first line. */
  readonly startOffset: number;
  /** Bytes from the begin of the file to the end of the last line, terminator included: where to resume. */
  readonly endOffset: number;
  /** The lines were there when following began. */
  readonly backfill: boolean;
}
