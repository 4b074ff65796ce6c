/** A text in lower case that a string must have, in any case, with conditions on what stands around it. */
export interface BoundedKeyword {
  readonly text: string;
  /** Texts in lower case and of ASCII, one of which follows it. Absent: anything may, and nothing. */
  readonly followedBy?: readonly string[] | undefined;
  /**
   * Whether it is the start of a word, so that no place in the middle of one has it: `exp` of `expert`, but not of `exexp`.
   * `alone`: no full stop and no dash stands in front of it either, and no word in camel case.
   */
  readonly startsWord?: boolean | 'alone' | undefined;
  /** For keywords of names: so many characters before it, at most, the name starts. */
  readonly back?: number | undefined;
}

/** A text in lower case that a string must have, in any case. */
export type Keyword = string | BoundedKeyword;

export const textOf = (keyword: Keyword): string => (typeof keyword === 'string' ? keyword : keyword.text);

/**
 * Whether a string has a keyword.
 *
 * @param lower the string in lower case
 */
export function hasKeyword(text: string, lower: string, keyword: Keyword): boolean {
  if (typeof keyword === 'string') return lower.includes(keyword);
  const { text: literal, followedBy, startsWord } = keyword;
  const at = (index: number) => text.charCodeAt(index);
  // Where the places of characters are others in lower case, capital letters cannot be seen.
  const isSame = lower.length === text.length;
  for (let start = lower.indexOf(literal); start !== -1; start = lower.indexOf(literal, start + 1)) {
    const end = start + literal.length;
    if (followedBy?.some((text) => lower.startsWith(text, end)) === false) continue;
    if (!startsWord || !isSame || mayStartWord(at, start, startsWord)) return true;
  }
  return false;
}

/**
 * False for most places in the middle of a word. A capital letter may start one, and so may a letter after an escape of JSON
 * or of a URL.
 */
export function mayStartWord(at: (index: number) => number, start: number, how: true | 'alone'): boolean {
  const before = start === 0 ? SPACE : at(start - 1);
  if (how === 'alone')
    return !isLetterOrDigit(before) && before !== STOP && before !== DASH && before !== UNDERSCORE;
  if (!isLetterOrDigit(before) || !isLowerOrDigit(at(start))) return true;
  // `\n`, `%22`, `\x22` and `\u0022`.
  if ((start > 1 && at(start - 2) === BACKSLASH) || (start > 2 && at(start - 3) === PERCENT)) return true;
  return (start > 3 && at(start - 4) === BACKSLASH) || (start > 5 && at(start - 6) === BACKSLASH);
}

const SPACE = 0x20;
const PERCENT = 0x25;
const DASH = 0x2d;
const STOP = 0x2e;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const isLowerOrDigit = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
const isLetterOrDigit = (unit: number): boolean => isLowerOrDigit(unit) || (unit >= 0x41 && unit <= 0x5a);
