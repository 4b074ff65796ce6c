/*
 * Where a value ends: one definition for each way of writing one, the same for all names.
 */

import type { Place } from '../mask-rule.ts';
import { argumentReader } from './arguments.ts';
import { insertedValues } from './inserted-values.ts';
import { matchEnd } from './key-names.ts';
import { literalAt } from './literal.ts';
import { itemsBelow, valuesBelow, valuesBeside } from './object-fields.ts';

/** Reads the values that start at a place. None: nothing of the kind is there. */
export type ReadValues = (text: string, start: number) => readonly Place[];

/** The start of a string, in a group. */
const OPENING_QUOTE = /(?:[bfurnel@$]|rb|br|u&)?(?:\\{0,7}["'`]|&(?:quot|apos|#3[49]|#x2[27]);)/iy;
/** A word in front of a value in brackets, which hides nothing by itself, and what may stand around a value. */
const BRACKET = /<:?(?:(?:redacted|masked|hidden|removed|filtered|secret)\s)?|[({]/iy;
/** Characters that are parts of a value wherever they are in it. An escape counts as one, unless it is one of a string. */
const CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour of a terminal starts with ESC, which ends a value.
  /(?:[^\s\x1b"'`,;&<>()[\]{}|\\]|\\{2}(?=[^\s"'`,;&<>()[\]{}|\\nrtu])|\\[^\s"'\\nrtu]|\\u(?!00[0-7])[0-9a-f]{4})+/iy;
/** A bracket, or a quote in front of a letter or digit, is a part of a value that goes on. */
const WITHIN = /[()[\]{}]|["'`](?=[A-Za-z0-9])/y;
/**
 * A bar or an angle in a value rather than behind it: no tag and no name, and what follows has a digit or symbol, or the
 * angle closes one.
 */
const BAR_OR_ANGLE =
  /(?:\|(?![\w.-]{1,14}[=:])(?=[A-Za-z]{1,14}[([{]?[0-9!#$%*+?@^~]|[0-9!#$%*+?@^~]{1,14}[A-Za-z])|[<>](?!\/|(?:br|p|b|i|u|td|tr|th|li|ul|ol|a|h[1-6]|em|hr|pre|div|span|code|font|small|strong|table|tbody)[\s/>])(?=[^\s"'`,;&=:/\\0-9!#$%*+?@^~]{0,14}[0-9!#$%*+?@^~]|(?<=<[^\s<>=:]{1,14}>)[A-Za-z0-9])){1,2}/iy;
/** An ampersand or angle within a value that nothing follows: no parameter, no tag. */
const REST_OF_WORD =
  /[&<](?!\/|(?:br|p|b|i|u|td|tr|th|li|ul|ol|a|em|hr|pre|div|span|code|amp|lt|gt|quot|apos)\b)[^\s"'`,;&<>()[\]{}|\\=:]{2,}(?=\s|$)/iy;
/** Behind a separator, the rest of a value rather than the next item: no name, with a letter and a digit or symbol. */
const REST =
  /[;&,](?:[A-Za-z]+[0-9!#$%*+?@^~]|[0-9!#$%*+?@^~]+[A-Za-z]|(?<=[;&])[a-z]+[A-Z]+(?![a-z]+\b))[^\s"'`,;&<>()[\]{}|\\=:]*(?=[\s"'`;&,]|$)/iy;

/** The end of a value without quotes, which ends where a list, a sentence or a call goes on. `start` if there is none. */
export function endOfBare(text: string, start: number): number {
  let end = matchEnd(CHARACTERS, text, start);
  if (end === -1) return start;
  for (;;) {
    let next = matchEnd(WITHIN, text, end);
    if (next === -1) next = matchEnd(BAR_OR_ANGLE, text, end);
    const more = next === -1 ? -1 : matchEnd(CHARACTERS, text, next);
    if (more === -1) break;
    end = more;
  }
  const rest = matchEnd(REST, text, end);
  if (rest !== -1) return Math.max(rest, matchEnd(REST, text, rest));
  const word = matchEnd(REST_OF_WORD, text, end);
  if (word !== -1) return word;
  if (isClosing(text, start, end)) return end + 1;
  // A sentence does not end in front of the next item.
  if (text[end] === ';' || text[end] === '&') return end;
  return withoutEndOfSentence(text, start, end);
}

/** Whether a bracket after a value closes one in it, and ends it. */
function isClosing(text: string, start: number, end: number): boolean {
  const opening = OPENING[text[end] ?? ''];
  if (opening === undefined || !/[\s"'`,;&]|^$/.test(text[end + 1] ?? '')) return false;
  const value = text.slice(start, end);
  return value.split(opening).length > value.split(text[end] as string).length;
}

const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** A full stop or colon at the end is none of the value, and then neither is a bracket in front of it: `(passwd:x): no`. */
function withoutEndOfSentence(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && /[.:]/.test(text[last - 1] as string)) last--;
  if (last < end) while (last > start && /[()[\]{}"'`|<>.:]/.test(text[last - 1] as string)) last--;
  return last;
}

const placesOf = (place: Place | undefined): readonly Place[] => (place === undefined ? [] : [place]);

/** A string in quotes. */
function quoted(text: string, start: number): readonly Place[] {
  const from = matchEnd(OPENING_QUOTE, text, start);
  if (from === -1 || from >= text.length) return [];
  return placesOf(literalAt(text, from, from + 1));
}

/** A string in quotes, or a run of characters without quotes. */
function literal(text: string, start: number): readonly Place[] {
  const from = matchEnd(OPENING_QUOTE, text, start);
  if (from !== -1) return from < text.length ? placesOf(literalAt(text, from, from + 1)) : [];
  const bracket = matchEnd(BRACKET, text, start);
  const first = bracket === -1 ? start : bracket;
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

/** The cells of a row, without their quotes. A quote in a quoted cell is doubled. */
function cellsOf(text: string, from: number, to: number, separator: string): Place[] {
  const cells: Place[] = [];
  for (let at = from; at <= to; ) {
    let end = text.indexOf(separator, at);
    if (end === -1 || end > to) end = to;
    let start = at;
    while (start < end && (text[start] === ' ' || text[start] === '\t')) start++;
    const quote = text[start];
    const isQuoted = quote === '"' || quote === "'";
    let last = end;
    if (isQuoted) {
      let closing = text.indexOf(quote, start + 1);
      while (closing !== -1 && text[closing + 1] === quote) closing = text.indexOf(quote, closing + 2);
      if (closing === -1 || closing > to) return [];
      end = text.indexOf(separator, closing);
      if (end === -1 || end > to) end = to;
      last = closing;
      start++;
    } else while (last > start && /[ \t\r]/.test(text[last - 1] as string)) last--;
    cells.push({ start, end: last });
    at = end + 1;
  }
  return cells;
}

const LONGEST_ROW = 2000;
/** What stands between the names of columns and the first row. */
const RULER = /^[\s|+:=-]*$/;

interface Table {
  readonly text: string;
  /** Where the names of the columns start, and where the last row ends. */
  readonly from: number;
  readonly to: number;
  readonly names: readonly Place[];
  readonly rows: readonly (readonly Place[])[];
}

const separatorOf = (header: string) => [';', '\t', '|', ','].find((one) => header.includes(one));
/** A list in a sentence has spaces. */
const isSentence = (line: string, separator: string) => separator !== '|' && line.includes(`${separator} `);

/** Whether a line has as many cells as the names of columns. */
export function isRowOf(header: string, line: string): boolean {
  const separator = separatorOf(header);
  if (separator === undefined || isSentence(line, separator)) return false;
  return (
    cellsOf(line, 0, line.length, separator).length === cellsOf(header, 0, header.length, separator).length
  );
}

/** The table whose first line has these bounds. */
function readTable(text: string, from: number, end: number): Table {
  const header = text.slice(from, end);
  const separator = separatorOf(header);
  if (separator === undefined || isSentence(header, separator)) {
    return { text, from, to: from, names: [], rows: [] };
  }
  const names = cellsOf(text, from, end, separator);
  const rows: Place[][] = [];
  let to = end;
  while (to < text.length) {
    const start = to + 1;
    const next = text.indexOf('\n', start);
    const last = next === -1 ? text.length : next;
    const line = text.slice(start, last);
    if (!RULER.test(line)) {
      const cells = cellsOf(text, start, last, separator);
      if (cells.length !== names.length || isSentence(line, separator)) break;
      rows.push(cells);
    }
    to = last;
  }
  return { text, from, to, names, rows };
}

let lastTable: Table | undefined;

/** The cells of a column, whose name in the first row ends at a place. */
function cellsBelow(text: string, end: number): readonly Place[] {
  // Names may be many in one long line: none of them may search all of it.
  const before = text.slice(Math.max(0, end - LONGEST_ROW), end);
  const from = end - before.length + before.lastIndexOf('\n') + 1;
  const length = text.slice(end, from + LONGEST_ROW).indexOf('\n');
  if (length === -1 || (from > 0 && text[from - 1] !== '\n')) return [];
  const isKnown = lastTable?.text === text && lastTable.from <= from && from < lastTable.to;
  if (!isKnown) lastTable = readTable(text, from, end + length);
  const { names, rows, from: start } = lastTable as Table;
  // A row of the table is no header of another one, so that each row is read once.
  const column = start === from && names.length > 1 ? names.findIndex((cell) => cell.end === end) : -1;
  if (column === -1) return [];
  return rows.map((cells) => cells[column] as Place).filter((cell) => cell.end > cell.start);
}

export const VALUE_READERS: Readonly<Record<string, ReadValues>> = {
  literal,
  quoted,
  /** A parameter of a URL, which ends where the next one or what is around the URL starts. */
  query: /* @__PURE__ */ matching(/[^\s"'`&;<>#\\)\]}|,]+/y),
  /** Words between two tags. */
  element: /* @__PURE__ */ matching(/[^<>\s\]]+(?:\s[^<>\s\]]+)*/y),
  /** One word in a tag. */
  tagged: /* @__PURE__ */ matching(/[^<>&\s]+/y),
  /** One word, without quotes or braces around it. */
  word: /* @__PURE__ */ matching(/[^\s"'`<>\\{}]+/y),
  /** One word of a sentence, without the sign that ends the sentence. */
  told: /* @__PURE__ */ matching(/[^\s"'`]*[^\s"'`.,;:]/y),
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
  /** The rest of a line, to a space. */
  line: /* @__PURE__ */ matching(/[^\s\\"']+/y),
  /** What stands between bars, tabs or spaces in a table. */
  cell: /* @__PURE__ */ matching(/[^\s|│┃"\\]+/y),
  /** A value in an encoded query or in encoded JSON. */
  percent: /* @__PURE__ */ matching(/(?:[^%\s"'&;]|%[013-9a-f][0-9a-f]|%2[013-57-9a-f])+/iy),
  /** Words of lower-case letters. */
  words: /* @__PURE__ */ matching(/[a-z]{3,20}(?:\s[a-z]{3,20}){4,23}/y),
  /** Bytes as the registry of Windows has them. */
  hex: /* @__PURE__ */ matching(/hex(?:\([0-9a-f]\))?:[0-9a-f]{2}(?:,[0-9a-f]{2})+/iy),
  /** One word in what a language wraps around values. */
  wrapped: /* @__PURE__ */ matching(/[^\s"'`()[\]]{3,}/y),
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
export const APART: ReadonlySet<string> = new Set(['beside', 'below', 'column', 'inserted', 'items']);

const LONGEST_QUOTE = 16;
