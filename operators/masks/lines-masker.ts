import type { Masker } from './mask-strings.ts';

/** A mask for many lines in one text, which gives what the mask for single lines gives for each. */
export interface LinesMasker {
  /** LF stands between the lines, and between those it returns, which are as many. */
  readonly map: (lines: string) => string;
  /**
   * Masks lines in ASCII into other memory. Returns the number of bytes, or -1 if there is no room; then nothing was
   * counted, and the caller uses `map`. Undefined if this is impossible, or not known yet.
   */
  readonly mapBytes?: ((lines: Uint8Array, into: Uint8Array) => number) | undefined;
  /** The most characters of a text that `map` is for. */
  readonly maxLength: number;
  /** The most characters of a line in it. */
  readonly maxLineLength: number;
}

/** A mask in both forms. */
export interface Masks {
  readonly mask: Masker;
  /** Works the other form out; undefined if it is not known to give the same. */
  readonly many: () => LinesMasker | undefined;
}

/** Characters: larger texts leave the caches of the processor. */
export const LONGEST_TEXT = 1 << 15;
/** Characters of a line: a few lines of the greatest length are in the longest text. */
export const LONGEST_LINE = LONGEST_TEXT / 8;
