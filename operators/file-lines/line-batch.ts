import type { Fingerprint } from './fingerprint.ts';
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
  /** The last line has no terminator yet: one that follows belongs to it, and is no line. */
  readonly isUnterminated: boolean;
  /** The only line is the begin of one that was longer than `maxLineBytes`, or whose end was lost. */
  readonly isTruncated: boolean;
  /** JSON holds the lines as they stand: they are ASCII without quotes, backslashes and control characters. */
  readonly areVerbatim: boolean;
  /** The lines were there when following began. */
  readonly backfill: boolean;
  /** What the file begins with. */
  readonly fingerprint: Fingerprint;
}
