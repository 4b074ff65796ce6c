/*
 * Where a value ends: one definition for all names and all notations. An expression finds the name, the separator and the
 * start of the value. The rest is read here, as it is written in JSON, CSV, SQL, programming languages, HTML and a shell.
 */

import type { Place, Span } from '../mask-rule.ts';
import { matchEnd } from './key-names.ts';

/** How a string is quoted: by `"`, by `\"` within a string of JSON (depth 1), by `""` within a field of CSV (count 2). */
export interface Quote {
  readonly character: string;
  /** Backslashes in front of each quote. */
  readonly depth: number;
  /** Quotes that stand together. */
  readonly count: number;
}

/** Where a string ends: at its closing quote, or where what is around it ends. */
export interface Closing {
  readonly start: number;
  /** The place after its quote. */
  readonly end: number;
  readonly isClosed: boolean;
}

const MOST_BACKSLASHES = 7;
/** Characters in front of a quote, and of a string without quotes, in which another quote is looked for. */
const NEAR = 500;

/** A character of a value, rather than one after it. */
const WORD = /[\p{L}\p{N}_@#%^*~!$?]/u;
const WORDS = /[\p{L}\p{N}_@#%^*~!$?]+(?:[-.+=/:]+[\p{L}\p{N}_@#%^*~!$?]+)*/uy;
/** What follows two quotes that have nothing between them. */
const AFTER_EMPTY = /^(?:$|[\s,;:)\]}>&|.="'`\\]|\/>)/;
/** How text starts that stands between two strings of code, so that nothing can be joined to it. */
const BETWEEN_STRINGS = /^[\s+,):;\]}.]/;
/** Spaces that a shell takes as they are, in JSON as well, with what follows them. */
const ESCAPED_SPACES = /(?:\\{1,4}[ \t](?=[^\s\\])(?:[^\s"'`,;&<>()[\]{}|\\]|\\[^\s"'\\nrtu])*)+/y;
/** A quote that a shell takes as it is, between strings: `'it'\''s'` and `'it'"'"'s'`. */
const ESCAPED_QUOTE = /(?:\\{1,4}["']|"'"|'"')(?=["'`\p{L}\p{N}])/uy;
/** What joins two strings in programming languages and SQL. */
const JOIN =
  /(?:\s{0,20}(?:\+|\.{1,2}|\|\||&)\s{0,20}(?:\r?\n\s{0,200})?|\s?\\\r?\n\s{0,200})(?=\\{0,7}["'`])/y;
const IN_BRACES = /(?:[^{}"'`\n]|\}\}){1,200}(?=\}(?:[\s;"'\\]|$))/y;
const SHORT_FORM = /[\p{L}]'(?:s|t|re|ve|ll|d|m)\b/iuy;

/** What opens a raw string of Rust, which the same signs close: `r#"…"#`. */
const RAW = /(?<!\w)b?r(#{1,3})"$/;

/** Quotes as HTML writes them. */
const OPENING_ENTITY = /&(?:quot|apos|#3[49]|#x2[27]);$/i;
const LONGEST_ENTITY = 6;
const CLOSING_ENTITY = /&(?:quot|apos|#3[49]|#x2[27]);/gi;
/** Where a value after such a quote ends if there is no other one. */
const AFTER_WORD = /[\s<>]|&(?!amp;|lt;|gt;)/g;

/**
 * The value at a place, which may be directly after its opening quote. Undefined if there is nothing between the quotes.
 *
 * If the last of several strings that are joined has other quotes than the first one, the quotes belong to the value: the
 * mask stands alone then, without half a pair of them.
 *
 * @param end where a value without quotes ends, as an expression found it
 *
 * @example
 * literalAt(`PASSWORD='it''s mine' x`, 10, 11); // { start: 10, end: 20 }
 */
export function literalAt(text: string, start: number, end: number): Place | undefined {
  if (text[start - 1] === ';' && OPENING_ENTITY.test(text.slice(Math.max(0, start - LONGEST_ENTITY), start)))
    return afterEntity(text, start);
  if (!isQuote(text[start - 1])) {
    const first = { start, end };
    return placeOf({ start, end: endOfBraces(text, start) ?? joinedToBare(text, start, end) }, first);
  }
  const hashes =
    text[start - 2] === '#' ? RAW.exec(text.slice(Math.max(0, start - 6), start))?.[1] : undefined;
  if (hashes !== undefined) {
    const end = text.indexOf(`"${hashes}`, start);
    return end <= start ? undefined : { start, end };
  }
  const { quote, from } = openingQuote(text, start);
  if (quote.count > 1 && AFTER_EMPTY.test(text.slice(from, from + 2))) return undefined;
  const closing = closingQuote(text, from, quote);
  // What TeX writes: ``words''.
  if (quote.character === '`' && quote.count > 1 && !closing.isClosed) return undefined;
  const first = { start: from, end: closing.start };
  if (BETWEEN_STRINGS.test(text.slice(from, from + 1))) return first;
  const whole = joinedToString(text, closing, quote, first);
  return whole.end === first.end && whole.start === first.start
    ? withoutInnerQuotes(text, first)
    : placeOf(whole, first);
}

/** Quotes within those of a string, around all of it, as `repr` and JSON write a string. */
const INNER_QUOTES = /^(\\{0,3}["']|&(?:quot|apos|#3[49]);)([^"'&\\]{3,})\1$/;

function withoutInnerQuotes(text: string, { start, end }: Span): Span {
  const quote = text[start];
  if (quote !== '"' && quote !== "'" && quote !== '\\' && quote !== '&') return { start, end };
  const [, inner = ''] = INNER_QUOTES.exec(text.slice(start, Math.min(end, start + 5000))) ?? [];
  return { start: start + inner.length, end: end - inner.length };
}

const placeOf = (span: Span, first: Span): Place => (span.end === first.end ? span : { ...span, first });

export const isQuote = (character: string | undefined): boolean =>
  character === '"' || character === "'" || character === '`';

export function backslashesBefore(text: string, at: number, most = Number.POSITIVE_INFINITY): number {
  let count = 0;
  while (count < most && text[at - count - 1] === '\\') count++;
  return count;
}

/** One of the quotes. */
export const written = ({ character, depth }: Quote) => '\\'.repeat(depth) + character;

/** The quote whose first character is in front of a place, and where its content starts. */
function openingQuote(text: string, at: number): { readonly quote: Quote; readonly from: number } {
  const character = text[at - 1] as string;
  const one: Quote = { character, depth: backslashesBefore(text, at - 1, MOST_BACKSLASHES), count: 1 };
  const count = 1 + repeated(text, at, written(one));
  return { quote: { ...one, count }, from: at + (count - 1) * (one.depth + 1) };
}

/** How often something stands at a place. */
function repeated(text: string, at: number, part: string): number {
  let count = 0;
  while (text.startsWith(part, at + count * part.length)) count++;
  return count;
}

/**
 * A quote with more backslashes than the opening one is a part of the value, and one with fewer ends what is around it.
 * Twice the opening quote is a part of the value as well, if there is a closing quote after it.
 */
export function closingQuote(text: string, from: number, quote: Quote): Closing {
  const { character, depth, count } = quote;
  const one = written(quote);
  const period = 2 * one.length;
  const isOfThree = count === 3;
  let doubled: Closing | undefined;
  for (let at = text.indexOf(character, from); at !== -1; at = text.indexOf(character, at)) {
    const backslashes = backslashesBefore(text, at);
    const level = backslashes % period;
    if (level === period - 1) {
      // YAML, SQL and shells know no escaped single quotes.
      if (character === "'" && !WORD.test(text[at + 1] ?? '')) return openAt(at - 1);
      at++;
      continue;
    }
    if (level !== depth) return doubled ?? openAt(at - backslashes);
    const start = at - depth;
    const run = repeated(text, start, one);
    const closing = { start, end: start + count * one.length, isClosed: true };
    at = start + run * one.length;
    if (run === 2 * count && !isOfThree) {
      if (!WORD.test(text[at] ?? '') && (doubled !== undefined || isWithin(text, from, quote)))
        return doubled ?? closing;
      doubled ??= closing;
    } else if (run >= count) return closing;
    else if (!isOfThree) return doubled ?? openAt(start);
  }
  return doubled ?? openAt(text.length);
}

const openAt = (start: number): Closing => ({ start, end: start, isClosed: false });

/** Whether the quote in front of a place is within a string that has the same quotes without an escape: `msg="a="b""`. */
const isWithin = (text: string, from: number, { character }: Quote): boolean =>
  quotesBefore(text, from, character) % 2 === 0;

/** How many quotes there are in front of a place in its line. Those of `don't` and escaped ones do not count. */
function quotesBefore(text: string, at: number, character: string): number {
  const near = Math.max(0, at - NEAR);
  // The rest of a long text is not searched for a line break.
  const start = near + text.slice(near, at).lastIndexOf('\n') + 1;
  return quotesIn(text, start, at, character);
}

function quotesIn(text: string, start: number, end: number, character: string): number {
  const part = text.slice(start, end);
  let count = 0;
  for (let at = part.indexOf(character); at !== -1; at = part.indexOf(character, at + 1)) {
    if (text[start + at - 1] !== '\\' && !isShortForm(text, start + at)) count++;
  }
  return count;
}

export function isShortForm(text: string, at: number): boolean {
  SHORT_FORM.lastIndex = at - 1;
  return at > 0 && SHORT_FORM.test(text);
}

/** A value that starts as a string, with what is joined to it. */
function joinedToString(text: string, first: Closing, quote: Quote, content: Span): Span {
  let last: Closing | undefined = first;
  let at = first.end;
  while (last === undefined || last.isClosed) {
    const words =
      matchAt(ESCAPED_QUOTE, text, at) || matchAt(WORDS, text, at) || matchAt(ESCAPED_SPACES, text, at);
    const join = matchAt(JOIN, text, at);
    const next = words > 0 ? undefined : stringAt(text, at + join, join > 0 ? quote : undefined);
    if (words === 0 && next === undefined) break;
    last = next;
    at = next?.end ?? at + words;
  }
  const isPair = last !== undefined && text[last.end - 1] === quote.character;
  if (last === first || isPair) return { start: content.start, end: last?.start ?? at };
  return { start: content.start - quote.count * (quote.depth + 1), end: at };
}

/** The end of a value in braces, as ODBC writes it: `Pwd={a}}b;c}`. */
function endOfBraces(text: string, start: number): number | undefined {
  if (text[start - 1] !== '{' || text[start - 2] !== '=') return undefined;
  const length = matchAt(IN_BRACES, text, start);
  return length === 0 ? undefined : start + length;
}

/** The end of a value that starts without quotes, after strings and spaces that belong to it. */
function joinedToBare(text: string, start: number, first: number): number {
  let end = first;
  for (let length = 1; length > 0; end += length) {
    length =
      matchAt(ESCAPED_SPACES, text, end) ||
      matchAt(ESCAPED_QUOTE, text, end) ||
      lengthOfString(text, start, end) ||
      (end > first ? matchAt(WORDS, text, end) : 0);
  }
  return end;
}

/** How much of a string that starts in a value without quotes, or after it, is after a place. */
function lengthOfString(text: string, start: number, at: number): number {
  for (const character of ['"', "'"]) {
    if (quotesIn(text, start, at, character) % 2 === 0 || quotesBefore(text, start, character) % 2 === 1)
      continue;
    const { end, isClosed } = closingQuote(text, at, { character, depth: 0, count: 1 });
    const string = text.slice(at, end);
    if (isClosed && string.length < NEAR && /^[^\n]*[^\s\\].$/.test(string) && !WORD.test(text[end] ?? ''))
      return string.length;
  }
  const next = quotesBefore(text, start, text[at] as string) % 2 === 0 ? stringAt(text, at) : undefined;
  return next === undefined ? 0 : next.end - at;
}

/** A string that starts at a place, and is closed. */
function stringAt(text: string, at: number, like?: Quote): Closing | undefined {
  const depth = repeated(text, at, '\\');
  const character = text[at + depth] as string;
  if (!isQuote(character) || !WORD.test(text[at + depth + 1] ?? '')) return undefined;
  if (like !== undefined && (character !== like.character || depth !== like.depth)) return undefined;
  const closing = closingQuote(text, at + depth + 1, { character, depth, count: 1 });
  return closing.isClosed ? closing : undefined;
}

/** How much an expression matches at a place. */
const matchAt = (expression: RegExp, text: string, at: number): number =>
  Math.max(at, matchEnd(expression, text, at)) - at;

function afterEntity(text: string, start: number): Place | undefined {
  const closing = firstMatch(CLOSING_ENTITY, text, start);
  const isInLine = !/[<>\n]/.test(text.slice(start, closing));
  const end = isInLine && closing < text.length ? closing : firstMatch(AFTER_WORD, text, start);
  return end === start ? undefined : { start, end };
}

function firstMatch(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from;
  return expression.exec(text)?.index ?? text.length;
}
