/*
 * The arguments of a command, a directive of a configuration or a request of a protocol, and which of them are secrets.
 * They are read as they are written: in a shell, as a list of strings in JSON or in a language, and in records of audit.
 */

import type { Place } from '../mask-rule.ts';
import { matchEnd } from './key-names.ts';
import { closingQuote, literalAt } from './literal.ts';
import type { ReadValues } from './value-readers.ts';
import type { Notation } from './vocabulary.ts';

/** An argument, without quotes around it. */
interface Argument {
  readonly start: number;
  readonly end: number;
  /** What the program is given. */
  readonly content: string;
  /** Whether the whole of it is in quotes, or in a notation that says where it ends. */
  readonly isBounded: boolean;
  /** Whether it is written in hexadecimal digits, so that a part of it has no place of its own. */
  readonly isEncoded?: boolean;
}

const MOST_ARGUMENTS = 40;
/** Characters of an argument that an expression sees. */
const LONGEST = 1000;
/** Characters after a command in which an option is looked for. */
const LONGEST_COMMAND = 10_000;

const LIST = /\\{0,7}["'`]\s{0,3}(?:,\s{0,5})?(?=\\{0,7}["'`])/y;
const NEXT_IN_LIST = /\s{0,3}(?:,\s{0,5})?(?=\\{0,7}["'`])/y;
const AUDIT = /"(?=\sa[0-9]{1,3}=)/y;
const NEXT_IN_AUDIT = /\sa[0-9]{1,3}=/y;
const SPACE = /(?:[ \t\0]|\\\r?\n){1,20}/y;
const QUOTE = /\\{0,7}["'`]/y;
/** A shell reads a command between backquotes. */
const QUOTE_OF_SHELL = /\\{0,7}["']/y;
/** What a quote may directly follow, so that it opens a string: `-p'x'`, `--password="x"`, `user:"x"`. */
const BEFORE_QUOTE = /(?:^-{1,2}[\w-]{1,40}|[=:,@%+/({[])$/;
const BARE = /(?:[^\s\0"'|;&\\]|\\(?!\\{0,6}["'`]|\r?\n)|[;&](?=[^\s;&"'|\\])(?<=[^\s;&].)){1,1000}/y;
/** The quote of a shell that is no end of a word: `'it'\''s'`. */
const JOINED = /\\["'](?=["'])/y;

/** The arguments after a place, which are read as far as forms ask for them: most forms say after a word that they do not fit. */
class Arguments {
  readonly #read: Argument[] = [];
  readonly #rest: Iterator<Argument>;

  constructor(rest: Iterator<Argument>) {
    this.#rest = rest;
  }

  at(index: number): Argument | undefined {
    while (this.#read.length <= index && this.#read.length < MOST_ARGUMENTS) {
      const { value, done } = this.#rest.next();
      if (done === true) break;
      this.#read.push(value);
    }
    return this.#read[index];
  }
}

function* inList(text: string, start: number): Generator<Argument> {
  for (let at = start; at !== -1; ) {
    const from = matchEnd(QUOTE, text, at);
    if (from === -1) return;
    const { start: end, end: next, isClosed } = closingOf(text, from);
    yield {
      start: from,
      end,
      content: text.slice(from, Math.min(end, from + LONGEST)),
      isBounded: true,
    };
    at = isClosed ? matchEnd(NEXT_IN_LIST, text, next) : -1;
  }
}

function closingOf(text: string, from: number) {
  let depth = 0;
  while (text[from - 2 - depth] === '\\') depth++;
  return closingQuote(text, from, { character: text[from - 1] as string, depth, count: 1 });
}

function* inAudit(text: string, start: number): Generator<Argument> {
  for (let at = matchEnd(NEXT_IN_AUDIT, text, start); at !== -1; ) {
    const isQuoted = text[at] === '"';
    const from = isQuoted ? at + 1 : at;
    const end = matchEnd(isQuoted ? /[^"\n]*/y : /[0-9A-F]*/iy, text, from);
    const written = text.slice(from, Math.min(end, from + LONGEST));
    const content = isQuoted ? written : fromHex(written);
    yield { start: from, end, content, isBounded: true, isEncoded: !isQuoted };
    at = matchEnd(NEXT_IN_AUDIT, text, isQuoted ? end + 1 : end);
  }
}

/** The bytes that hexadecimal digits stand for. Flags are of ASCII. */
const fromHex = (digits: string): string =>
  digits.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));

function* inShell(text: string, start: number): Generator<Argument> {
  for (let at = start; ; ) {
    const from = isOneSpace(text, at) ? at + 1 : matchEnd(SPACE, text, at);
    if (from === -1) return;
    const argument = plainWordAt(text, from) ?? wordAt(text, from);
    if (argument === undefined) return;
    yield argument;
    at = argument.next;
  }
}

/** Whether a space is the only one between two words, as most are. */
const isOneSpace = (text: string, at: number): boolean =>
  text.charCodeAt(at) === 0x20 && (KINDS[text.charCodeAt(at + 1)] ?? SPECIAL) === PLAIN;

/** What a character of ASCII is in a word: a part of it, what ends it, or what has to be looked at. */
const PLAIN = 0;
const END = 1;
const SPECIAL = 2;
const KINDS = /* @__PURE__ */ Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit);
  if (/[\s\0|]/.test(character)) return END;
  return /["'`;&\\]/.test(character) ? SPECIAL : PLAIN;
});

/** A word without quotes and escapes, as most are. Undefined if there is none, or anything else. */
function plainWordAt(text: string, start: number): (Argument & { readonly next: number }) | undefined {
  let at = start;
  let kind = PLAIN;
  for (; at < text.length; at++) {
    kind = KINDS[text.charCodeAt(at)] ?? SPECIAL;
    if (kind !== PLAIN) break;
  }
  if (at === start || kind === SPECIAL) return undefined;
  const content = text.slice(start, Math.min(at, start + LONGEST));
  // The element of XML around the command ends.
  const tag = content.endsWith('>') ? content.indexOf('</') : -1;
  if (tag > 0) return { start, end: start + tag, content: content.slice(0, tag), isBounded: false, next: at };
  return { start, end: at, content, isBounded: false, next: at };
}

/** A word of a shell. A quote in front of which a word stands ends what is around the command. */
function wordAt(text: string, start: number): (Argument & { readonly next: number }) | undefined {
  let at = start;
  let whole: Place | undefined;
  for (;;) {
    const bare = matchEnd(BARE, text, at);
    if (bare !== -1) {
      at = bare;
      continue;
    }
    const escaped = matchEnd(JOINED, text, at);
    if (escaped !== -1) {
      at = escaped;
      continue;
    }
    const from = matchEnd(QUOTE_OF_SHELL, text, at);
    if (from === -1) break;
    const isFirst = at === start;
    const isAfterQuote = at > start && /["'`]/.test(text[at - 1] as string);
    if (!isFirst && !isAfterQuote && !BEFORE_QUOTE.test(text.slice(Math.max(start, at - 60), at))) break;
    const closing = closingOf(text, from);
    if (!closing.isClosed || text.slice(from, Math.min(closing.start, from + LONGEST)).includes('\n')) break;
    if (isFirst) whole = { start: from, end: closing.start };
    at = closing.end;
  }
  if (at === start) return undefined;
  const isWhole = whole !== undefined && whole.end + (whole.start - start) === at;
  const place = isWhole ? (whole as Place) : { start, end: at };
  const content = text.slice(place.start, Math.min(place.end, place.start + LONGEST));
  return { ...place, content, isBounded: isWhole, next: at };
}

/** One part of a form: `…`, `$`, or an argument, which is a value or has one in it. */
interface Part {
  readonly kind: 'any' | 'end' | 'argument';
  /** For an argument: what it is, or, if it has a value, what precedes and follows the value. */
  readonly is?: RegExp;
  readonly before?: RegExp;
  readonly after?: RegExp;
  readonly isOptional?: boolean;
  /** The argument has to be in quotes. */
  readonly isQuoted?: boolean;
}

/** `X` in a part is any text. */
const escapedX = (source: string): string => source.replace(/(?<!-)\bX\b/g, '.{1,200}?');

function partOf(written: string, flags: string): Part {
  if (written === '…') return { kind: 'any' };
  if (written === '$') return { kind: 'end' };
  if (written === '"VALUE"') return { kind: 'argument', isQuoted: true };
  if (written === 'X') return { kind: 'argument', is: /^(?!-)./s };
  const value = written.indexOf('VALUE');
  const isOptional = /^\(.*\)\?$/.test(written) && value === -1;
  if (value === -1) {
    return { kind: 'argument', is: new RegExp(`^(?:${escapedX(written)})$`, `${flags}s`), isOptional };
  }
  const [before, after] = [written.slice(0, value), written.slice(value + 'VALUE'.length)].map(escapedX);
  return {
    kind: 'argument',
    ...(before !== '' && { before: new RegExp(`^(?:${before})`, flags) }),
    ...(after !== '' && { after: new RegExp(`(?:${after})$`, flags) }),
  };
}

/** A form of a command, compiled. */
interface Form {
  readonly parts: readonly Part[];
  /** The argument after those that may be any: a line without it need not be read. */
  readonly option: RegExp | undefined;
}

function compileForm(form: string, flags: string): Form {
  const words = form.split(' ');
  const skipped = words.indexOf('…');
  const option = skipped === -1 ? undefined : words[skipped + 1]?.split('VALUE')[0];
  const isKnown = option !== undefined && option !== '' && option !== '…';
  return {
    parts: words.map((word) => partOf(word, flags)),
    option: isKnown ? new RegExp(`["'\`\\s\0](?:${escapedX(option)})`, flags) : undefined,
  };
}

/** A line with commands. In one with many of them, an option is looked for once. */
class CommandLine {
  #text: string;
  readonly #start: number;
  readonly #end: number;
  /** For each option where the search for it started, and where the first one after that is. */
  readonly #options = new Map<RegExp, { readonly from: number; readonly at: number }>();

  constructor(text: string, start: number) {
    this.#text = text;
    this.#start = start;
    let end = text.indexOf('\n', start);
    // A backslash continues a command in the next line.
    while (end > start && /\\\r?$/.test(text.slice(end - 2, end))) end = text.indexOf('\n', end + 1);
    this.#end = end === -1 ? text.length : end;
  }

  has(text: string, at: number): boolean {
    if (at < this.#start || at >= this.#end || this.#text !== text) return false;
    // Another string with the same characters is compared with them once only.
    this.#text = text;
    return true;
  }

  /** Whether an option may stand among the arguments of a command that ends at a place. */
  hasOption(option: RegExp, from: number): boolean {
    let found = this.#options.get(option);
    if (found === undefined || from < found.from || from > found.at) {
      const length = this.#text.slice(from, this.#end).search(option);
      found = { from, at: length === -1 ? Number.POSITIVE_INFINITY : from + length };
      this.#options.set(option, found);
    }
    return found.at < from + LONGEST_COMMAND;
  }
}

/** Reads the values among the arguments after a place, as forms say: see `Notation`. */
export function argumentsReader(forms: readonly string[], exact: Notation['exact']): ReadValues {
  const flags = exact === undefined ? 'i' : '';
  const compiled = forms.map((form) => compileForm(form, flags));
  const isCommand = exact === 'arguments';
  return (text, start) => {
    const { given, line } = argumentsOf(text, start, isCommand);
    const found: Place[] = [];
    if (given.at(0) === undefined) return found;
    for (const { parts, option } of compiled) {
      if (option === undefined || line === undefined || line.hasOption(option, start))
        match(text, given, 0, parts, 0, [], found);
    }
    return found;
  };
}

/** What stands after the name of a command. */
interface GivenArguments {
  readonly given: Arguments;
  /** Their line, unless they are written in a way in which options are not to be seen. */
  readonly line: CommandLine | undefined;
}

/** Several forms ask for the arguments at the same place, and several commands for their line. */
let last:
  | (GivenArguments & { readonly text: string; readonly start: number; readonly isCommand: boolean })
  | undefined;
let lastLine: CommandLine | undefined;

function argumentsOf(text: string, start: number, isCommand: boolean): GivenArguments {
  if (last?.text !== text || last.start !== start || last.isCommand !== isCommand) {
    last = { text, start, isCommand, ...argumentsAt(text, start, isCommand) };
  }
  return last;
}

/** Those of a directive or a request stand in no list. */
function argumentsAt(text: string, start: number, isCommand: boolean): GivenArguments {
  if (isCommand) {
    const list = matchEnd(LIST, text, start);
    if (list !== -1) return { given: new Arguments(inList(text, list)), line: undefined };
    const audit = matchEnd(AUDIT, text, start);
    if (audit !== -1) return { given: new Arguments(inAudit(text, audit)), line: undefined };
  }
  if (lastLine?.has(text, start) !== true) lastLine = new CommandLine(text, start);
  return { given: new Arguments(inShell(text, start)), line: lastLine };
}

/** Whether parts of a form match arguments, from one on. Adds the values to what was found. */
function match(
  text: string,
  given: Arguments,
  at: number,
  parts: readonly Part[],
  next: number,
  values: readonly Place[],
  found: Place[],
): boolean {
  const part = parts[next];
  if (part === undefined) {
    for (const value of values) if (!found.some(({ start }) => start === value.start)) found.push(value);
    return true;
  }
  if (part.kind === 'any') {
    let isFound = false;
    for (let skip = at; given.at(skip) !== undefined; skip++) {
      if (match(text, given, skip, parts, next + 1, values, found)) isFound = true;
    }
    return isFound;
  }
  if (part.kind === 'end')
    return given.at(at) === undefined && match(text, given, at, parts, next + 1, values, found);
  const argument = given.at(at);
  if (argument !== undefined) {
    if (part.is !== undefined) {
      // What can be absent, and is there, is no value.
      if (part.is.test(argument.content)) return match(text, given, at + 1, parts, next + 1, values, found);
    } else {
      const value = valueIn(text, argument, part);
      if (value !== undefined && match(text, given, at + 1, parts, next + 1, [...values, value], found))
        return true;
    }
  }
  return part.isOptional === true && match(text, given, at, parts, next + 1, values, found);
}

/** The value in an argument. */
function valueIn(text: string, argument: Argument, { before, after, isQuoted }: Part): Place | undefined {
  const { start, end, content, isBounded, isEncoded = false } = argument;
  if (isQuoted === true && !isBounded) return undefined;
  const from = before === undefined ? 0 : (before.exec(content)?.[0].length ?? -1);
  if (from === -1 || from >= content.length) return undefined;
  const rest = after === undefined ? 0 : (after.exec(content.slice(from))?.[0].length ?? -1);
  if (rest === -1 || from + rest >= content.length) return undefined;
  if (isEncoded) return { start, end };
  if (isBounded || rest > 0) {
    const isQuotedAgain =
      content.length - rest - from > 2 && QUOTED_AGAIN.test(content.slice(from, content.length - rest));
    return isQuotedAgain
      ? { start: start + from + 1, end: end - rest - 1 }
      : { start: start + from, end: end - rest };
  }
  const open = openQuoteIn(content.slice(0, from));
  if (open !== undefined) {
    const closing = text.indexOf(open, start + from);
    return closing === -1 || closing > end ? undefined : { start: start + from, end: closing };
  }
  const opening = matchEnd(QUOTE, text, start + from);
  if (opening !== -1) return literalAt(text, opening, opening + 1);
  return literalAt(text, start + from, endOfWord(text, start + from, end));
}

/** A string in the quotes of a shell: `'"secret"'`. */
const QUOTED_AGAIN = /^(["'])[^"']*\1$/;

/** The quote that is open at the end of a part of a word: `-u"user:`. */
function openQuoteIn(part: string): string | undefined {
  const [quote] = /\\{0,7}["']/.exec(part) ?? [];
  return quote !== undefined && part.split(quote).length % 2 === 0 ? quote : undefined;
}

/** An escape of a line break, and a closing tag, end a word that is not in quotes. */
const AFTER_WORD = /\\{1,3}[rn]|<\//;
const CLOSING = /[)\]},.;:`]$/;
const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** The end of a word without what is around the command, or ends a sentence. */
function endOfWord(text: string, start: number, end: number): number {
  const length = text.slice(start, end).search(AFTER_WORD);
  let word = text.slice(start, length === -1 ? end : start + length);
  while (CLOSING.test(word)) {
    const closing = word.at(-1) as string;
    const opening = OPENING[closing];
    if (opening !== undefined && word.split(opening).length >= word.split(closing).length) break;
    word = word.slice(0, -1);
  }
  return start + word.length;
}
