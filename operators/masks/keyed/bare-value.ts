/*
 * Where a value without quotes ends. White space ends it. Any other character ends it only if what stands around the value
 * says so: the quote or bracket that is open in front of it, the list that it is an item of, or the next name.
 */

import { lazily } from '../expression/linear-engine.ts';
import { matchEnd } from './key-names.ts';
import { backslashesBefore, isShortForm } from './literal.ts';

/**
 * Characters that are parts of a value wherever they are in it. An escape counts as one, unless it is one of a string. Punctuation of
 * Chinese and Japanese, which has no space after it, is none.
 */
const CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour of a terminal starts with ESC, which ends a value.
  /(?:[^\s\x1b"'`,;&<>()[\]{}|\\，。；、！？）」』】》]|\\{2}(?=[^\s"'`,;&<>()[\]{}|\\nrtu])|\\(?!x00)[^\s"'\\nrtu]|\\u(?:0000|(?!00[0-7])[0-9a-f]{4}))+/iy;
const TAG =
  '<(?:\\/|:|!|(?:br|p|b|i|u|td|tr|th|li|ul|ol|a|h[1-6]|em|hr|pre|div|span|code|font|small|strong|table|tbody)[\\s/>])';
/** A bar or an angle in front of a digit or symbol, or an angle that closes one. */
const BAR_OR_ANGLE = new RegExp(
  `(?:\\|(?![\\w.-]{1,14}[=:])(?=[A-Za-z]{1,14}[([{]?[0-9!#$%*+?@^~]|[0-9!#$%*+?@^~]{1,14}[A-Za-z])|(?!${TAG})[<>](?=[^\\s"'\`,;&=:/\\\\0-9!#$%*+?@^~]{0,14}[0-9!#$%*+?@^~]|(?<=<[^\\s<>=:]{1,14}>)[A-Za-z0-9])){1,2}`,
  'iy',
);
/** A separator in front of a letter and a digit or symbol, which are no name. */
const SEPARATOR_OF_MIXTURE =
  /(?:[;&,]{1,3}|\|{2,3})(?=(?:[A-Za-z]+[0-9!#$%*+?@^~]|[0-9!#$%*+?@^~]+[A-Za-z]|(?<=[;&])[a-z]+[A-Z]+(?![a-z]+\b))[^\s"'`,;&<>()[\]{}|\\=:]*(?:[\s"'`;&,)\]}]|$))/y;
/** Separators in front of a word. A statement of code may start after a semicolon. */
const SEPARATORS = /(?:[,|]{1,3}|&|;(?=[A-Z][a-z]+\b))(?=[^\s"'`,;&<>()[\]{}|\\])/y;
/** What is no part of a list, but an expression of code: a short name, a member or a call. */
const EXPRESSION = /^(?:[\w$]{1,2}|[A-Za-z_$]+(?:\.[A-Za-z_$]+)+|.*[()[\]{}].*)$/s;
const BRACKETS = /(?:(?!\(\)|\[\]|\{\})[()[\]{}]){1,3}(?=[^\s"'`,;&<>()[\]{}|\\]|\\[^\s"'\\nrtu])/y;
const ANGLES = new RegExp(`(?!${TAG}|<[a-z][a-z0-9:-]{0,30}[>,])[<>]{1,2}(?=[^\\s"'\`,;&|\\\\/])`, 'iy');
/** The name of the next item, with the sign between names and values. */
const NEXT_WITH_EQUALS = /["'`]?[\p{L}\w.$@%[\]-]{1,60}["'`]?(?:=(?![=\s]|$)|\s?=>|=$)/uy;
const NEXT_WITH_COLON = /["'`]?[\p{L}\w.$@%[\]-]{1,60}["'`]?(?::|=(?![=\s]|$))/uy;
/** What follows a semicolon or an ampersand in shells, cookies, headers and HTML. */
const NEXT_COMMAND =
  /(?:secure|httponly|path|domain|samesite|max-age|expires|charset|partitioned|priority|encrypt|pooling)\b|(?:amp|lt|gt|quot|apos|nbsp|#\d{1,4}|#x[0-9a-f]{1,4});/iy;
/** What XML writes for a sign in a value of a list with semicolons. */
const ENTITY_IN_VALUE = /&(?:amp|lt|gt|#\d{1,4}|#x[0-9a-f]{1,4});(?=[^\s"'`;=<>]+(?:[;"'`]|$))/iy;
/** The condition or command after an operator. */
const NEXT_CONDITION = /(?:&&|\|\|)!?[A-Za-z_$./][\w.$/-]*/y;

/** A line break or tab in a value, rather than an escape of a string around it. */
const LETTER_AFTER_BACKSLASH = /\\{1,2}(?=[nrt][A-Za-z0-9!#$%*+?@^~])[nrt]/iy;

/** The list whose item a value is: the separator in front of its key. */
const LIST = /([,;|&?(])["'`]?[\w.%[\]-]{1,60}["'`]?\s{0,3}(?::=|=>|[:=])\s?$/;
/** A line with nothing but an assignment, as in a file with an environment. */
const ENVIRONMENT = /^(?:export |set )?[A-Za-z_][\w.-]{0,80}=$/;
const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{', '>': '<' };
/** Characters in front of a value that are looked at. */
const NEAR = 500;

/** What stands around a value. */
interface Surroundings {
  /** Whether the value is within a string with such quotes. */
  readonly isInString: (quote: string) => boolean;
  /** Whether a bracket is open that such a one closes. */
  readonly isOpen: (closing: string) => boolean;
  /** The separator of the list that the value is in. */
  readonly list: string | undefined;
  /** Whether there is nothing but a key in front of the value in its line. */
  readonly isEnvironment: boolean;
  readonly isAssignment: boolean;
  readonly isIndented: boolean;
  readonly next: RegExp;
}

function surroundingsOf(text: string, start: number): Surroundings {
  const near = Math.max(0, start - NEAR);
  const before = text.slice(near, start);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.slice(lineStart);
  const isWhole = near === 0 || lineStart > 0;
  const separator = LIST.exec(line.slice(-100))?.[1];
  return {
    isInString: (quote) => !isWhole || countQuotes(line, quote) % 2 === 1,
    isOpen: (closing) => !isWhole || isUnclosed(line, OPENING[closing] as string, closing),
    list: separator === '?' ? '&' : separator === '(' ? ',' : separator,
    isEnvironment: isWhole && ENVIRONMENT.test(line),
    isAssignment: isWhole && ASSIGNMENT_LINE.test(line),
    isIndented: !isWhole || /^[\s"'`]/.test(line),
    next: /:\s?$/.test(line) ? NEXT_WITH_COLON : NEXT_WITH_EQUALS,
  };
}

/** Quotes of `don't` and escaped ones do not count. */
function countQuotes(line: string, quote: string): number {
  let count = 0;
  for (let at = line.indexOf(quote); at !== -1; at = line.indexOf(quote, at + 1)) {
    if (backslashesBefore(line, at) % 2 === 0 && !isShortForm(line, at)) count++;
  }
  return count;
}

function isUnclosed(text: string, opening: string, closing: string): boolean {
  let open = 0;
  for (const character of text) {
    if (character === opening) open++;
    else if (character === closing && open > 0) open--;
  }
  return open > 0;
}

/** The end of a value without quotes. `start` if there is none. */
export function endOfBare(text: string, start: number): number {
  const around = lazily(() => surroundingsOf(text, start));
  let end = matchEnd(CHARACTERS, text, start);
  if (end === -1) {
    end = startOfSigns(text, start, around());
    if (end === -1) return start;
  }
  for (;;) {
    const more = goesOn(text, start, end, around);
    if (more === -1) break;
    const next = matchEnd(CHARACTERS, text, more);
    end = next === -1 ? more : next;
  }
  const line = restOfLine(text, start, end, around);
  if (line !== -1) return line;
  // The query of a URL, after a parameter of its path.
  const query = text[start - 1] === '=' ? text.slice(start, end).search(/\?[a-z]{1,20}=/) : -1;
  if (query > 8 && text.lastIndexOf(';', start) > start - 40) return start + query;
  // A sentence does not end in front of the next item.
  if (text[end] === ';' || text[end] === '&') return end;
  return withoutEndOfSentence(text, start, end, around);
}

/** Up to three words that are no words of a language, at the end of a line. */
const REST_OF_LINE =
  /[,;]?(?: (?![#(/.-]|[^\p{L}\p{N}]+(?:\s|$)|[a-z_]+:|[a-z_.]+[!?.,:;]?(?:\s|$)|(?:[A-Z][a-z]{2,}|No|Is|At|Of|In|On|Or|If|To|By|As|It|Ok|Id)[!?.,:;]?(?:\s|$))[^\s=()"'`<>/→]{1,20}){1,3}(?=\r?\n|$)/uy;
const ASSIGNMENT_LINE = /^[A-Za-z_][\w.-]{0,80}(?: {0,3}= {0,3}|: {1,3})$/;
/** The tag or the anchor of a value in YAML. */
const TAG_OF_YAML = /[!&][!\w-]*\s/y;

/** The end of a value with spaces in it, in a line with nothing but an assignment. */
function restOfLine(text: string, start: number, end: number, around: () => Surroundings): number {
  if (!/[ ,;]/.test(text[end] ?? '')) return -1;
  const to = matchEnd(REST_OF_LINE, text, end);
  return to !== -1 && around().isAssignment && matchEnd(TAG_OF_YAML, text, start) === -1 ? to : -1;
}

/** A value that starts with a sign that ends others, after an equals sign. */
const SIGN_AT_START =
  /[()[\]{}<>\\&;,|]{1,2}(?=[^\s=:"'`,;&<>()[\]{}|\\]{0,20}\d)(?=[^\s=:"'`,;&<>()[\]{}|\\]{0,20}[A-Za-z])[^\s=:"'`,;&<>()[\]{}|\\]{6,}(?=\s|$)/y;

function startOfSigns(text: string, start: number, { list, isEnvironment }: Surroundings): number {
  if (text[start - 1] !== '=' || list !== undefined || !isEnvironment) return -1;
  return matchEnd(SIGN_AT_START, text, start);
}

const ESCAPE = '\u001b';

/** The place after the sign at a place, if the value goes on after it. */
function goesOn(text: string, start: number, at: number, around: () => Surroundings): number {
  const sign = text[at];
  if (sign === undefined || sign === ESCAPE || /\s/.test(sign)) return -1;
  switch (sign) {
    case '"':
    case "'":
    case '`':
      // A role of Sphinx: :class:`Name`.
      if (sign === '`' && text[at - 1] === ':') return -1;
      return /[A-Za-z0-9]/.test(text[at + 1] ?? '') || !around().isInString(sign) ? at + 1 : -1;
    case '\\':
      return around().isInString('"') || around().isInString("'") ? -1 : afterEscape(text, at, around());
    case '(':
    case '[':
    case '{':
    case ')':
    case ']':
    case '}':
      return afterBracket(text, start, at, around);
    case '<':
    case '>':
      return afterAngle(text, at, around);
    default:
      return afterSeparator(text, start, at, around);
  }
}

function afterEscape(text: string, at: number, { next }: Surroundings): number {
  const end = matchEnd(LETTER_AFTER_BACKSLASH, text, at);
  return end !== -1 && matchEnd(next, text, end) === -1 ? end : -1;
}

function afterBracket(text: string, start: number, at: number, around: () => Surroundings): number {
  const within = matchEnd(BRACKETS, text, at);
  if (within !== -1) return within;
  const bracket = text[at] as string;
  const opening = OPENING[bracket];
  const isLast = /[\s"'`,;&]|^$/.test(text[at + 1] ?? '');
  if (!isLast) return -1;
  if (opening === undefined) return isAtEnd(text, at) && around().isEnvironment ? at + 1 : -1;
  // One that closes a bracket in the value ends it.
  const { isOpen, isIndented, list } = around();
  if (isUnclosed(text.slice(Math.max(start, at - NEAR), at), opening, bracket)) {
    // The last one of a line closes what is open in front of the value.
    const [rest = ''] = /^[^\n]*/.exec(text.slice(at + 1, at + NEAR)) ?? [];
    return isOpen(bracket) && !rest.includes(bracket) ? -1 : at + 1;
  }
  return isOpen(bracket) || isIndented || list !== undefined ? -1 : at + 1;
}

const isLineEnd = (text: string, at: number) => /^\r?(?:\n|$)/.test(text.slice(at, at + 2));
const isAtEnd = (text: string, at: number) => /^(?:[,;]?(?:\s|$))/.test(text.slice(at + 1, at + 3));

function afterAngle(text: string, at: number, around: () => Surroundings): number {
  const mixture = matchEnd(BAR_OR_ANGLE, text, at);
  if (mixture !== -1) return mixture;
  if (around().isOpen('>')) return -1;
  const end = matchEnd(ANGLES, text, at);
  if (end !== -1) return end;
  return isAtEnd(text, at) ? at + 1 : -1;
}

function afterSeparator(text: string, start: number, at: number, around: () => Surroundings): number {
  let end = matchEnd(SEPARATOR_OF_MIXTURE, text, at);
  if (end === -1) end = matchEnd(BAR_OR_ANGLE, text, at);
  if (end !== -1) return end;
  const { list, next, isEnvironment } = around();
  if (list === ';') end = matchEnd(ENTITY_IN_VALUE, text, at);
  if (end !== -1) return end;
  if (list === text[at]) return -1;
  if (
    isAtEnd(text, at) &&
    (text[at] === '&' ||
      text[at] === '|' ||
      (isEnvironment && text[at] === ',' && /[\n]|^$/.test(text[at + 1] ?? '')))
  )
    return at + 1;
  end = matchEnd(SEPARATORS, text, at);
  if (end === -1 || EXPRESSION.test(text.slice(start, Math.min(at, start + NEAR)))) return -1;
  if (matchEnd(next, text, end) !== -1 || matchEnd(NEXT_CONDITION, text, at) !== -1) return -1;
  return /[;&]/.test(text[at] as string) && matchEnd(NEXT_COMMAND, text, end) !== -1 ? -1 : end;
}

/** A value with a full stop in it, at the end of its line. */
const FULL_STOPS = /^[A-Za-z0-9]{3,}\.[A-Za-z0-9]*(?:[a-z][A-Z0-9]|[A-Z0-9]{2}|[A-Z0-9][a-z])[A-Za-z0-9]*\.$/;

/** A full stop or colon at the end is none of the value, and then neither is a bracket in front of it: `(passwd:x): no`. */
function withoutEndOfSentence(text: string, start: number, end: number, around: () => Surroundings): number {
  let last = end;
  while (last > start && /[.:]/.test(text[last - 1] as string)) last--;
  if (last === end || around().isEnvironment) return end;
  if (around().isAssignment && FULL_STOPS.test(text.slice(start, end)) && isLineEnd(text, end)) return end;
  while (last > start && /[()[\]{}"'`|<>.:]/.test(text[last - 1] as string)) last--;
  return last;
}
