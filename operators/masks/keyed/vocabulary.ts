/*
 * What a vocabulary is: names of secrets, the notations in which a name and its value stand, and what is no secret. It is
 * data, so that someone who knows a name, but not this code, can add it in one line.
 */

/** A name that a key ends with, apart from suffixes: `api key` is the name of `githubApiKey2`. */
export interface KeyName {
  /**
   * Its words. Between words with a space there may be one of `_`, `-`, `.` and a space, or nothing. Between words with a
   * hyphen there may be up to two of `_` and `-`. For a full stop there may be `.`, `->`, `::` or nothing.
   */
  readonly name: string;
  readonly kind: string;
  /**
   * It has to be at the start of a word, or directly after one of `after`: `pass` is no name in `compass`. `alone`: no letter,
   * digit, full stop, dash or underscore stands in front of it.
   */
  readonly start?: 'word' | 'alone' | undefined;
  readonly after?: readonly string[] | undefined;
  /** It is a name only after one of these words: `key` after `api`. */
  readonly only_after?: readonly string[] | undefined;
  /** It is no name after these words: `token` after `page`. */
  readonly not_after?: readonly string[] | undefined;
  /** Notations in which alone it is a name, as commands have them. */
  readonly only?: readonly string[] | undefined;
  /** What follows it in the text, one of these: `(` after the name of a function. Texts without any are not searched. */
  readonly opens?: readonly string[] | undefined;
  /** It is the name of a command, and one of these words follows it, in lower case: `login` after `docker`. Without any, any may. */
  readonly next?: readonly string[] | undefined;
  /** Notations in which it is no name. */
  readonly except?: readonly string[] | undefined;
}

/** How a name and its value are written. */
export interface Notation {
  readonly notation: string;
  /**
   * `KEY=VALUE`, an expression in which a space stands for optional white space. What precedes `KEY` has to stand in front of
   * the key, and what follows `VALUE` after the value. `NAME` stands for a key that is nothing but the name.
   */
  readonly form: string;
  /** The characters of ASCII with which it can go on after the key, where that is known. The build works it out. */
  readonly starts?: string | undefined;
  /** Those with which it can go on after white space, where that is known. */
  readonly startsAfterSpace?: string | undefined;
  /**
   * Which of the arguments after the name are values: `… -p VALUE`. `…` stands for any arguments, `X` for one, `$` for the end
   * of the command, and anything else is an expression for an argument, which may end with `?` if it can be absent.
   */
  readonly arguments?: readonly string[] | undefined;
  /** What is compared in the case in which it is written: the arguments, or the name as well. Default: nothing. */
  readonly exact?: 'arguments' | 'all' | undefined;
  /** Where values end: a name of `VALUE_READERS`. Default: `literal`. */
  readonly ends?: string | undefined;
  /** Which check a value has to pass: the name of one, or of an entry of its kind. Default: `clear`. */
  readonly guard?: string | undefined;
  /** Kinds of names that can be written so. Default: all. */
  readonly kinds?: readonly string[] | undefined;
}

/** What is no secret, although it stands after a name. */
export interface Guard {
  readonly guard: string;
  /** `before VALUE after`: what stands around the value. */
  readonly form?: string | undefined;
  /** An expression for the whole value. Default: any. */
  readonly value?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly notations?: readonly string[] | undefined;
}

export interface Vocabulary {
  /** For each kind of name the checks of its values: those of notations by `guard`, and `*` for all others. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** For each kind of name the readers that take the place of those of notations, by their `ends`. */
  readonly readers?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  readonly names: readonly KeyName[];
  /** Words that may follow a name in a key: `old`, `prod`. */
  readonly suffixes: readonly string[];
  /** An expression for signs that may follow it: `[0]`, `(again)`. */
  readonly marks: string;
  readonly notations: readonly Notation[];
  /** Words that are no secrets, and other guards. */
  readonly words: readonly string[];
  readonly guards: readonly Guard[];
}

/** A rule for values after names: which kinds of names, in which notations. */
export interface KeyedRule {
  readonly vocabulary: Vocabulary;
  readonly kinds: readonly string[];
  readonly notations: readonly string[];
  /** An expression for what stands in every text with such a notation: others are not searched. */
  readonly needs?: string | undefined;
  /** Strings of which a text must have one, in addition to a name. */
  readonly keywords?: readonly string[] | undefined;
  /** Default: high. */
  readonly confidence?: 'high' | 'medium' | 'low' | undefined;
}
