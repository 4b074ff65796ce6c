/*
 * Where a value ends: one definition for each way of writing one, the same for all names.
 */

import type { Place } from '../mask-rule.ts';
import { argumentReader } from './arguments.ts';
import { endOfBare } from './bare-value.ts';
import { BEFORE_DATE, DATE, NUMBER, PERSON, PHONE, POSTAL } from './bare-values-of-people.ts';
import { boundValues } from './bound-values.ts';
import { insertedValues } from './inserted-values.ts';
import { matchEnd } from './key-names.ts';
import { literalAt } from './literal.ts';
import { itemsBelow, valuesBelow, valuesBeside } from './object-fields.ts';
import { cellsApart, cellsBelow } from './tables.ts';

/** Reads the values that start at a place. None: nothing of the kind is there. */
export type ReadValues = (text: string, start: number) => readonly Place[];

/** The start of a string, in a group. */
const OPENING_QUOTE =
  /(?:[bfurnel@$]|rb|br|u&|b?r#{1,3}(?="))?(?:\\{0,7}["'`]|&(?:quot|apos|#3[49]|#x2[27]);)/iy;
/** A word in front of a value in brackets, which hides nothing by itself, and what may stand around a value. */
const BRACKET = /<:?(?:(?:redacted|masked|hidden|removed|filtered|secret)\s)?|[({]/iy;
const placesOf = (place: Place | undefined): readonly Place[] => (place === undefined ? [] : [place]);

/** A string of Perl: `q(…)`. */
const PERL_STRING = /q{1,2}([({|!])(?=[^\s)}|!])/y;
const CLOSING_BRACKET: Readonly<Record<string, string>> = { '(': ')', '{': '}' };
/** What stands in front of such a string: an assignment of code. */
const ASSIGNED = /(?:=|=>|,|\()\s{0,20}$/;

function perlString(text: string, start: number): Place | undefined {
  const from = text[start] === 'q' ? matchEnd(PERL_STRING, text, start) : -1;
  if (from === -1 || !ASSIGNED.test(text.slice(Math.max(0, start - 24), start))) return undefined;
  const bracket = text[from - 1] as string;
  const [line = ''] = /^[^\n]*/.exec(text.slice(from, from + NEAR)) ?? [];
  const length = line.indexOf(CLOSING_BRACKET[bracket] ?? bracket);
  if (length < 1 || !/^\s{0,3}[;,)]/.test(line.slice(length + 1))) return undefined;
  return { start: from, end: from + length };
}

/** A string in quotes. */
function quoted(text: string, start: number): readonly Place[] {
  const perl = perlString(text, start);
  if (perl !== undefined) return [perl];
  const from = matchEnd(OPENING_QUOTE, text, start);
  if (from === -1 || from >= text.length) return [];
  return placesOf(literalAt(text, from, from + 1));
}

/** A bracket is closed in the same line. */
const CLOSED = /^[^\n]*[>)}]/;
const NEAR = 500;

/** A string in quotes, or a run of characters without quotes. */
function literal(text: string, start: number): readonly Place[] {
  const perl = perlString(text, start);
  if (perl !== undefined) return [perl];
  const from = matchEnd(OPENING_QUOTE, text, start);
  if (from !== -1) return from < text.length ? placesOf(literalAt(text, from, from + 1)) : [];
  const bracket = matchEnd(BRACKET, text, start);
  const first = bracket === -1 || !CLOSED.test(text.slice(bracket, bracket + NEAR)) ? start : bracket;
  const end = endOfBare(text, first);
  return end - first < 2 ? [] : placesOf(literalAt(text, first, end));
}

/** A value that an expression describes as a whole. */
const matching =
  (expression: RegExp): ReadValues =>
  (text, start) => {
    const end = matchEnd(expression, text, start);
    return end <= start ? [] : [{ start, end }];
  };

/** A string in quotes, or words without quotes that an expression describes. */
const quotedOr =
  (bare: RegExp, prefix?: RegExp): ReadValues =>
  (text, start) => {
    const isQuoted = matchEnd(OPENING_QUOTE, text, start) !== -1;
    const before = prefix === undefined || isQuoted ? -1 : matchEnd(prefix, text, start);
    return isQuoted ? literal(text, start) : matching(bare)(text, Math.max(start, before));
  };

/** Lines of a block that are read. */
const MOST_LINES = 200;
const LINE_OF_BLOCK = /([ \t]*)(\S(?:[^\n]*[^\s])?)?[ \t\r]*(?:\n|$)/y;

/** The lines that start at a place and are as far to the right. */
function linesOfBlock(text: string, start: number): readonly Place[] {
  const lines: Place[] = [];
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  LINE_OF_BLOCK.lastIndex = start - column;
  while (lines.length < MOST_LINES && LINE_OF_BLOCK.lastIndex < text.length) {
    const at = LINE_OF_BLOCK.lastIndex;
    const [, indent = '', words] = LINE_OF_BLOCK.exec(text) ?? [];
    if (words === undefined) continue;
    if (indent.length < column) break;
    lines.push({ start: at + indent.length, end: at + indent.length + words.length });
  }
  return lines;
}

/** Marks of other languages, of markup and of HTML, in front of a value, and those after it. */
const OPENING_MARK = /(\*\*|__|[*_«„“”‚‘「『‹]|<(?:b|i|em|strong|code|kbd|tt|u)>)[ \u00a0]?/iy;
const CLOSING_MARK: Readonly<Record<string, string>> = {
  '**': '**',
  __: '__',
  '*': '*',
  _: '_',
  '«': '»',
  '„': '“',
  '“': '”',
  '”': '”',
  '‚': '‘',
  '‘': '’',
  '「': '」',
  '『': '』',
  '‹': '›',
};
const LONGEST_IN_MARKS = 200;

function inMarks(text: string, start: number): Place | undefined {
  OPENING_MARK.lastIndex = start;
  const [whole = '', mark = ''] = OPENING_MARK.exec(text) ?? [];
  if (whole === '') return undefined;
  const from = start + whole.length;
  const [line = ''] = /^[^\n]*/.exec(text.slice(from, from + LONGEST_IN_MARKS)) ?? [];
  const length = line.slice(0, line.indexOf(CLOSING_MARK[mark] ?? '<')).trimEnd().length;
  return length < 2 || line.length === length ? undefined : { start: from, end: from + length };
}

/** A further question mark with a name, as the server of a game has it between parameters. */
const NEXT_PARAMETER = /\?[A-Za-z]{3,40}(?:=|\?|$)/;

/** The fragment of a URL, which is a word or a path. */
const FRAGMENT = /#[!/]?(?:[A-Za-z][a-z]*[-_/=]?)*$/;

/** Characters of a tag in front of a name and after it. */
const LONGEST_TAG = 1000;
const VALUE_ATTRIBUTE = /\s(?:[\w-]+:)?(?:value|content|val)\s{0,3}=\s{0,3}(\\{0,7}["'])/gi;

/** The values in the attributes of the tag that a place is in. */
function valuesInTag(text: string, at: number): readonly Place[] {
  const before = text.slice(Math.max(0, at - LONGEST_TAG), at);
  const opening = before.lastIndexOf('<');
  if (opening === -1 || before.includes('>', opening)) return [];
  const start = at - before.length + opening;
  const tag = text.slice(start, at + LONGEST_TAG);
  const places: Place[] = [];
  for (const { 0: attribute, 1: quote = '', index } of tag.matchAll(VALUE_ATTRIBUTE)) {
    const from = index + attribute.length;
    const end = tag.indexOf(quote, from);
    if (tag.slice(at - start, index).includes('>') || end <= from) break;
    places.push({ start: start + from, end: start + end });
  }
  return places;
}

/** Variables before the one that ends at a place, and those after it. */
const VARIABLES_BEFORE =
  /(?:^|[\n;]|^\s{0,20}(?:const|let|var|my|local)\s)\s{0,40}[[(]?((?:[\w.$@-]{1,60},\s?){0,8})[\w.$@-]{1,60}$/;
const VARIABLES_AFTER = /(?:\s?,\s?[\w.$@]{1,60}){0,8}[\])]?\s?:?=\s(?![=\s])[([]?/y;

function unpackedValues(text: string, at: number): readonly Place[] {
  const before = VARIABLES_BEFORE.exec(text.slice(Math.max(0, at - LONGEST_TAG), at))?.[1];
  const start = matchEnd(VARIABLES_AFTER, text, at);
  if (before === undefined || start === -1) return [];
  const place = before.split(',').length;
  const isAlone = place === 1 && !text.slice(at, start).includes(',');
  return isAlone ? [] : argumentReader(String(place))(text, start);
}

/** A value of letters and signs of ASCII, after which a sentence goes on without a space: `Mango42に変更`. */
const LATIN_BEFORE_JAPANESE = /^[!-~]{4,}(?=[\u3040-\u30ff\u4e00-\u9fff])/;

/** Words of a sentence after a name, and the characters that they have together. Those with a digit may be a password. */
const MOST_WORDS = 12;
const LONGEST_NEAR = 120;
/** The start of the next word, without what opens a quotation. */
const NEXT_WORD = /[^\S\n]{1,3}(?:["'`«„“”‚‘「『‹([*_]|\*\*){0,2}/y;
const REST_OF_WORD = /[^\s]{0,200}/y;

function nextWords(text: string, start: number): readonly Place[] {
  const places: Place[] = [];
  let at = start;
  for (let words = 0; words < MOST_WORDS && at < start + LONGEST_NEAR; words++) {
    const from = matchEnd(NEXT_WORD, text, at);
    if (from === -1) break;
    const marked = inMarks(text, from - 1);
    const end = Math.min(endOfBare(text, from), marked?.start === from ? marked.end : text.length);
    if (end > from && /\d/.test(text.slice(from, end))) places.push({ start: from, end });
    at = matchEnd(REST_OF_WORD, text, from);
  }
  return places;
}

export const VALUE_READERS: Readonly<Record<string, ReadValues>> = {
  literal,
  quoted,
  /** A parameter of a URL, which ends where the next one or what is around the URL starts. */
  query: (text, start) => {
    const bare = endOfBare(text, start);
    const next = text.slice(start, bare).search(NEXT_PARAMETER);
    const end = next > 0 ? start + next : bare;
    const [fragment = ''] = FRAGMENT.exec(text.slice(start, end)) ?? [];
    return end - fragment.length > start ? [{ start, end: end - fragment.length }] : [];
  },
  /** Words between two tags. */
  element: /* @__PURE__ */ matching(/(?:(?!\]\]>)[^<>\s])+(?:\s(?:(?!\]\]>)[^<>\s])+)*/y),
  /** One word in a tag. */
  tagged: /* @__PURE__ */ matching(/(?:[^<>&\s]|&(?!lt;\/)[a-z#\d]{1,8};)+/iy),
  /** One word, without quotes or braces around it. */
  word: /* @__PURE__ */ matching(/[^\s"'`<>\\{}]+/y),
  /** One word of a sentence, without the sign that ends the sentence. */
  told: (text, start) => {
    const end = endOfBare(text, start);
    return end > start ? [{ start, end }] : [];
  },
  /** What a sentence tells: in quotes of any language, in bold, or one word. */
  said: (text, start) => {
    const marked = inMarks(text, start);
    if (marked !== undefined) return [marked];
    const from = matchEnd(OPENING_QUOTE, text, start);
    if (from !== -1) return from < text.length ? placesOf(literalAt(text, from, from + 1)) : [];
    const end = endOfBare(text, start);
    const [latin = ''] = LATIN_BEFORE_JAPANESE.exec(text.slice(start, end)) ?? [];
    const length = latin === '' ? end - start : latin.length;
    return length > 0 ? [{ start, end: start + length }] : [];
  },
  /** The next words of a sentence, of which one may be the value. */
  near: nextWords,
  /** One argument of a command, whose quote may be open already. */
  argument: (text, start) => {
    const end = matchEnd(/[^\s"']+/y, text, start);
    return end === -1 ? [] : placesOf(literalAt(text, start, end));
  },
  /** An argument of a command, as a shell reads it. */
  shell: (text, start) => {
    const from = matchEnd(OPENING_QUOTE, text, start);
    if (from !== -1) return from < text.length ? placesOf(literalAt(text, from, from + 1)) : [];
    const end = matchEnd(/[^\s"'|;&\\<-](?:[^\s"'|;&\\]|\\(?![nrt"'\\]))*/y, text, start);
    return end === -1 ? [] : placesOf(literalAt(text, start, end));
  },
  /** The lines of a block of YAML, each of its own. */
  block: linesOfBlock,
  /** The cells of a table below the name of their column. */
  column: cellsBelow,
  /** The same where two spaces or a colon stand between cells. */
  column_apart: cellsApart,
  /** The rest of a line, to a space. */
  line: /* @__PURE__ */ matching(/[^\s\\"']+/y),
  /** What stands between bars, tabs or spaces in a table. */
  cell: /* @__PURE__ */ matching(/[^\s|│┃"\\]+(?:"[^\s|│┃"\\]+)*/y),
  /** The same, of several words with one space between them. */
  words_of_line: /* @__PURE__ */ matching(/[^\s\\"']+(?: [^\s\\"']+){0,15}/y),
  tagged_words: /* @__PURE__ */ matching(
    /(?:[^<>&\s]|&(?!lt;\/)[a-z#\d]{1,8};)+(?: (?:[^<>&\s]|&(?!lt;\/)[a-z#\d]{1,8};)+){0,15}/iy,
  ),
  cells: /* @__PURE__ */ matching(/[^\s|│┃"\\]+(?: [^\s|│┃"\\]+){0,15}/y),
  /** Values of people, which may have several words. */
  person: /* @__PURE__ */ quotedOr(PERSON),
  postal: /* @__PURE__ */ quotedOr(POSTAL),
  date: /* @__PURE__ */ quotedOr(DATE, BEFORE_DATE),
  number: /* @__PURE__ */ quotedOr(NUMBER),
  phone: /* @__PURE__ */ quotedOr(PHONE),
  /** A value in an encoded query or in encoded JSON. */
  percent: /* @__PURE__ */ matching(/(?:[^%\s"'&;]|%[013-9a-f][0-9a-f]|%2[013-57-9a-f])+/iy),
  /** What stands between quotes that are escaped, as nginx logs them: `\x22…\x22`. */
  escaped: /* @__PURE__ */ matching(
    /(?:(?!\\{1,4}(?:x22|u0022))[^\s"])+(?: (?:(?!\\{1,4}(?:x22|u0022))[^\s"])+){0,15}/iy,
  ),
  /** Words of lower-case letters. */
  words: /* @__PURE__ */ matching(/[A-Za-z][a-z]{2,19}(?:\s[A-Za-z][a-z]{2,19}){2,23}/y),
  /** Bytes as the registry of Windows has them. */
  hex: /* @__PURE__ */ matching(/hex(?:\([0-9a-f]\))?:[0-9a-f]{2}(?:,[0-9a-f]{2})+/iy),
  /** One word in what a language wraps around values. */
  wrapped: /* @__PURE__ */ matching(/[^\s"'`()[\]]{3,}/y),
  /** A list of characters, and of bytes. */
  characters: /* @__PURE__ */ matching(/(["']?)[^\s"',]\1(?:,\s?\1[^\s"',]\1){3,}/y),
  numbers_of_bytes: /* @__PURE__ */ matching(/(?:0x)?[0-9a-f]{2,3}(?:,?\s{0,2}(?:0x)?[0-9a-f]{2,3}){5,}/iy),
  /** The rest of what stands between braces, in one word. */
  braced: /* @__PURE__ */ matching(/[^\s"'`{}]{3,200}/y),
  /** What stands between brackets, in one word. */
  bracketed: /* @__PURE__ */ matching(/[^\s"'`(),;<>[\]{}|]{1,200}/y),
  /** One word between square brackets, and one between round ones. */
  squared: /* @__PURE__ */ matching(/[^\]\s]{1,200}/y),
  round: /* @__PURE__ */ matching(/[^()\s]{1,200}/y),
  /** The value in a field beside the one with the name, in front of whose end the quote after the name stands. */
  beside: (text, end) => {
    let start = end;
    while (end - start < LONGEST_QUOTE && /["'\\]/.test(text[start - 1] ?? '')) start--;
    return valuesBeside(text, start, end);
  },
  /** The value in a tag that has the name in another attribute. */
  attributes: valuesInTag,
  /** What is assigned to a variable with others: `user, password = "ada", "…"`. */
  unpacked: unpackedValues,
  /** What is bound to the parameter of a statement for the column with the name. */
  bound: boundValues,
  /** What a statement of SQL inserts into the column with the name. */
  inserted: insertedValues,
  /** What is in an object or array, whose bracket is at the place. */
  below: valuesBelow,
  /** What is in an array, but in no object. */
  items: itemsBelow,
};

/** The reader of this name; `arguments 2` reads the second argument of a call. Undefined if there is none. */
export function readerNamed(name: string): ReadValues | undefined {
  const [, positions] = /^arguments ((?:\d+(?: \d+)*|last)(?: of \d+)?)$/.exec(name) ?? [];
  if (positions !== undefined) return argumentReader(positions);
  return Object.hasOwn(VALUE_READERS, name) ? VALUE_READERS[name] : undefined;
}

/** Readers of values that do not follow their names directly. */
export const APART: ReadonlySet<string> = new Set([
  'beside',
  'below',
  'bound',
  'column',
  'column_apart',
  'inserted',
  'items',
]);

const LONGEST_QUOTE = 16;
