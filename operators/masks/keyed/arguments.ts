/*
 * The arguments of a call, as programming languages, SQL and stack traces write them: `login('bob', b"secret")`,
 * `PDO->__construct('mysql:host=db', 'root', 'secr...', Array)`, `request.basic_auth "bob", "secret"`.
 */

import type { Place } from '../mask-rule.ts';
import { closingQuote, literalAt, type Quote, written } from './literal.ts';

/** Characters from the start of a call. */
const LONGEST_CALL = 1000;
const DEEPEST = 8;
const MOST_ARGUMENTS = 16;
const MOST_BACKSLASHES = 7;

/** A prefix of a string, which no other character of a word stands in front of. */
const PREFIX = /(?<![\w$])(?:[bfurnelBFURNEL]|[rR][bB]|[bB][rR]|[@$&])$/;
/** What may follow a string in an argument. */
const AFTER_STRING = /^(?:$|[\s,)\]}.+;:?=|&<>!*-]|\\)/;
/** What turns a string into bytes, or wraps it, in front of its quote. */
const WRAPPERS =
  /^(?:[\s&*(]|\\[nrt]|(?:new|await|yield)\s|(?:[\w$]{1,30}(?:\.|::|->))*(?:\[\]byte|bytes?|bytearray|get_?bytes|from|string|str|some|just|ok|of|new|secret\w{0,20}|\w{0,20}secret|sensitive\w{0,20}|\w{0,20}securitykey|encode|decode|b64decode|base64_decode|base64decode|atob|buffer|to_?bytes|utf8|wrap|array|uint8array|textencoder\(\)\.encode|literal|char\[\])\s?[({]\s?){0,8}$/i;
/** The name of an argument: `password=`, `password:`. */
const NAMED = /^\s{0,20}[A-Za-z_$][\w$-]{0,60}\s?(?:=(?![=>])|:(?!:))/;
/** A string that is the key of an object, or a condition. */
const NO_VALUE = /^\s{0,20}(?:[:?](?!:)|=|!=|\.(?:format|join|get)\b)/;
/** What is put into a string when the program runs. */
const INTERPOLATED: Readonly<Record<string, RegExp>> = { '`': /\$\{/, '"': /#\{\w[^{}]*\}/ };

interface Argument {
  /** Where its text starts and ends. */
  readonly start: number;
  readonly end: number;
  /** Its first string: where the quote and the prefix stand, and where its content starts and ends. */
  readonly string?: StringInCode | undefined;
}

interface StringInCode {
  readonly start: number;
  /** The place after its opening quote. */
  readonly from: number;
  readonly end: number;
  /** The place after its closing quote. */
  readonly after: number;
  readonly quote: Quote;
}

/**
 * Reads secrets among the arguments of a call.
 *
 * @param form `2`, `2 4`, `last`, or `2 of 2` for a call that has no more arguments
 */
export function argumentReader(form: string): (text: string, start: number) => readonly Place[] {
  const [positions = '', count] = form.split(' of ');
  const wanted = positions === 'last' ? undefined : positions.split(' ').map(Number);
  const most = count === undefined && wanted !== undefined ? Math.max(...wanted) : MOST_ARGUMENTS;
  return (text, start) => {
    const found = argumentsAt(text, start, most);
    if (count !== undefined && found.length !== Number(count)) return [];
    const taken = wanted === undefined ? [found.at(-1)] : wanted.map((position) => found[position - 1]);
    return taken.flatMap((argument) => (argument && secretIn(text, argument)) ?? []);
  };
}

/**
 * The arguments in front of the bracket that closes a call, without those that have names. In front of a quote instead of a
 * bracket, arguments end with their line.
 */
function argumentsAt(text: string, start: number, most: number): readonly Argument[] {
  const isBare = /\s/.test(text[start - 1] ?? '');
  const found: Argument[] = [];
  const limit = Math.min(text.length, start + LONGEST_CALL);
  let depth = 0;
  let from = start;
  let string: StringInCode | undefined;
  const add = (end: number) => {
    const argument = { start: from, end, string };
    const content = text.slice(from, string?.start ?? end);
    if (!NAMED.test(content) && (string !== undefined || content.trim() !== '')) found.push(argument);
    from = end + 1;
    string = undefined;
  };
  let at = start;
  for (; at < limit && found.length < most; at++) {
    const character = text[at] as string;
    if (character === '"' || character === "'" || character === '`') {
      const opened = stringAt(text, at);
      if (opened === undefined) continue;
      if (!AFTER_STRING.test(text.slice(opened.after, opened.after + 2))) return found;
      if (depth === 0 || string === undefined) string ??= opened;
      at = opened.after - 1;
    } else if (character === '(' || character === '[' || character === '{') {
      if (++depth > DEEPEST) return found;
    } else if (character === ')' || character === ']' || character === '}') {
      if (--depth < 0) break;
    } else if (character === ',' && depth === 0) add(at);
    else if (depth === 0 && (character === ';' || (isBare && character === '\n'))) break;
  }
  if (found.length < most) add(Math.min(at, text.length));
  return found;
}

/** The string whose quote is at a place. Undefined for an apostrophe in a word. */
function stringAt(text: string, at: number): StringInCode | undefined {
  const character = text[at] as string;
  let depth = 0;
  while (depth < MOST_BACKSLASHES && text[at - depth - 1] === '\\') depth++;
  const one: Quote = { character, depth, count: 1 };
  const mark = written(one);
  let count = 1;
  while (count < 3 && text.startsWith(mark, at + 1 + (count - 1) * mark.length)) count++;
  const afterTwo = at + 1 + mark.length;
  const isEmpty = count === 2 && AFTER_STRING.test(text.slice(afterTwo, afterTwo + 2));
  const before = text.slice(Math.max(0, at - depth - 3), at - depth);
  const prefix = PREFIX.exec(before)?.[0].length ?? 0;
  if (prefix === 0 && /[\p{L}\p{N}]$/u.test(before)) return undefined;
  const start = at - depth - prefix;
  const quote = isEmpty ? one : { ...one, count };
  const from = at + 1 + (quote.count - 1) * mark.length;
  if (isEmpty) return { start, from, end: from, after: from + mark.length, quote };
  const closing = closingQuote(text, from, quote);
  return { start, from, end: closing.start, after: closing.end, quote };
}

/** The string that an argument is, without what shows that a stack trace cut it. */
function secretIn(text: string, { start, end, string }: Argument): readonly Place[] | undefined {
  if (string === undefined || string.end === string.from) return undefined;
  if (string.start - start > 120 || !WRAPPERS.test(text.slice(start, string.start))) return undefined;
  if (NO_VALUE.test(text.slice(string.after, end))) return undefined;
  const content = text.slice(string.from, string.end);
  if (INTERPOLATED[string.quote.character]?.test(content)) return undefined;
  if (/[^.]\.{3}$/.test(content)) return [{ start: string.from, end: string.end - 3 }];
  const place = literalAt(
    text,
    string.from - (string.quote.count - 1) * (string.quote.depth + 1),
    string.end,
  );
  return place === undefined ? undefined : [place];
}
