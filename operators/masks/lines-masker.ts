import type { Masker } from './mask-strings.ts';

/** A mask for many lines in one text, which gives what the mask for single lines gives for each. */
export interface LinesMasker {
  /**
   * LF stands between the lines, and between those it returns, which are as many. Throws, without having counted anything,
   * if each line has to be masked by itself.
   */
  readonly map: (lines: string) => string;
  /**
   * Masks lines in ASCII into other memory. Returns the number of bytes, or -1 if there is no room; then nothing was
   * counted, and the caller uses `map`. Throws as `map` does. Undefined if this is impossible, or not known yet.
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

/** Characters of a block, whose time is bounded as a whole. The memory of WebAssembly has room for no larger one. */
export const LONGEST_TEXT = 1 << 16;
/** Characters of a line in a block. What a block takes at worst grows with powers of it. */
export const LONGEST_LINE = 4096;
