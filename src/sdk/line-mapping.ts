// How a processor says what it does to lines, so that events need not be made of them.

/** What a processor does to the lines of events that have all else in common. */
export interface LineMapping {
  /** Returns the line that replaces another one, or undefined to drop its event. */
  readonly map: (line: string) => string | undefined;
  /**
   * Maps many lines together, if that is faster: it takes one string with LF between the lines, and returns one with
   * the same number of lines. If it throws, or returns more or fewer lines, `map` is called for each line.
   */
  readonly many?: ManyLines | undefined;
  /**
   * For a processor that passes each line on as it is or drops it: whether it passes this one. Then the lines need not
   * be decoded and encoded again.
   */
  readonly keeps?: ((line: string) => boolean) | undefined;
  /** `keeps` for lines within one text, if that works without a string for each line. */
  readonly keepsIn?: LinesTest | undefined;
}

/**
 * Tests lines of a text, each with its LF: returns a function that is called with where a line starts, in the order of the
 * lines. It returns `start` if that line is not kept; otherwise where a later line starts, or the text ends, up to which
 * all lines are kept. That may be more than the end of the text. It must not throw.
 */
export type LinesTest = (text: string) => (start: number) => number;

export interface ManyLines {
  readonly map: (lines: string) => string;
  /**
   * Maps lines in ASCII and writes them to `into`. Returns the number of bytes, or -1 if `map` has to do it, and throws if
   * each line has to be mapped by itself; nothing may have been counted then.
   */
  readonly mapBytes?: ((lines: Uint8Array, into: Uint8Array) => number) | undefined;
  /** The most characters of a text that is handed to `map`. */
  readonly maxLength: number;
  /** The most characters of a line in it: longer ones are for the `map` of single lines. */
  readonly maxLineLength: number;
}
