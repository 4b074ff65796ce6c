import type { Cost } from './expression/cost.ts';
import type { Place, ValuesOfMatch } from './search/finder.ts';
import type { Keyword } from './search/keyword.ts';

export type { Place, Span } from './search/finder.ts';

/** One rule of a mask: what it finds in a string, and what replaces it. */
export interface MaskRule extends ValuesOfMatch {
  readonly name: string;
  /** What the expression costs, where that is known. To work it out takes some milliseconds. */
  readonly cost?: Cost | undefined;
  /** A character of ASCII that every string has in which the expression matches, where one is known. */
  readonly character?: string | undefined;
  /**
   * A part of the expression that is quick to search for: in a string without it, the expression matches nothing and is
   * not even compiled. Undefined where no such part is known.
   */
  readonly part?: RegExp | undefined;
  /**
   * The rule applies only to strings that have one of them, before the first rule has changed anything. Absent: the rule applies
   * to every string.
   */
  readonly keywords?: readonly Keyword[];
  /**
   * Whether a value that was found is replaced. Absent: always. With `'search-inside'` the value stays as well, and the search
   * goes on inside the match, at the next character after its start, as far as that costs little. With `false` it goes on at
   * the end of the match. An error is a failure of the mask.
   *
   * @param place the value as it was found, with its first part if there are several
   */
  readonly accepts?: (value: string, text: string, start: number, place?: Place) => boolean | 'search-inside';
  /** What replaces a value, which may depend on what stands around it. */
  readonly replace: (value: string, text?: string, start?: number) => string;
  /** What `replace` returns, if that is the same for all values: then the rule can be applied faster. */
  readonly fixed?: string;
}
