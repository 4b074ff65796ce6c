import type { KeyedRule } from '../keyed/vocabulary.ts';

/** How sure a rule is that what it finds is a secret. */
export type Confidence = 'high' | 'medium' | 'low';

/**
 * A check of a value that was found. `require` drops a value that fails it, `raise` raises the confidence of a value that
 * passes it by one level, and `off` ignores the check.
 */
export type RuleCheck =
  | string
  | { readonly name: string; readonly mode?: 'require' | 'raise' | 'off' | undefined }
  /** At least so many bits of Shannon entropy for each character. */
  | { readonly entropy: number; readonly mode?: 'require' | 'raise' | 'off' | undefined };

/** A block of several lines, such as a private key in PEM. */
export interface RuleBlock {
  /** A string that every first line contains, spelled exactly so. Lines without it are not searched. */
  readonly contains: string;
  /** An expression for the start of the block, in its first line. */
  readonly start: string;
  /** An expression for the end of the block, in its last line. */
  readonly end: string;
}

/** For values in another line: the line in front of them. */
export interface LineBefore {
  /** An expression for a line that has one of the keywords of the rule. */
  readonly line: string;
  /** How many lines after it are searched, each of them together with this line alone: `line\nnext`. */
  readonly lines: number;
}

/** A redaction rule as data. */
export interface RedactRule {
  /** A regular expression, in JavaScript's or Python's spelling. */
  readonly match: string;
  /** The group that is masked, or several of them. 0, the default, is the whole match. */
  readonly mask?: number | readonly number[] | undefined;
  /**
   * Where the values are that the groups lead to. Absent: the groups are the values.
   *
   * - `literal`: a group is the start of a value, which ends where a reader of JSON, CSV, code or a shell says. What is after a
   *   quote ends with it, with escaped and doubled quotes, and with the strings that are joined to it.
   * - `word`: as `literal`, but without a quote in front of it a value is one word, which ends where a sentence or a list goes on.
   * - `beside`: a group is the quote after a string of JSON that names something, and its value is in a field beside it.
   * - `below`: a group is the bracket of an object or array of JSON, and its strings and numbers are the values.
   * - `items`: a group is the bracket of an array of JSON, and what is in it but in no object are the values.
   * - `groups`: a group is a number in groups, which may be followed by groups of another one. The value is as many of them as
   *   pass the check.
   */
  readonly value?: 'literal' | 'word' | 'beside' | 'below' | 'items' | 'groups' | undefined;
  /** Only strings that contain one of these, in any case, are searched. Absent: all strings are. */
  readonly keywords?: readonly string[] | undefined;
  readonly check?: RuleCheck | undefined;
  /** Expressions for values that are left as they are. `^` and `$` anchor them at the value's ends. */
  readonly allow?: readonly string[] | undefined;
  /** Default: high. */
  readonly confidence?: Confidence | undefined;
  /** For secrets of several lines: where they start and end, when the lines come one by one. */
  readonly block?: RuleBlock | undefined;
  /** For values in one of the next lines, when the lines come one by one. */
  readonly after?: LineBefore | undefined;
}

/** A rule in any form: an expression, a rule with one, or a rule for values after names. */
export type AnyRule = string | RedactRule | KeyedRule;

export const isKeyed = (rule: AnyRule): rule is KeyedRule => typeof rule === 'object' && 'vocabulary' in rule;
