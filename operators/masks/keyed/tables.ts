/*
 * Tables in text: names of columns in one line, and rows below it, as CSV, SQL clients and Markdown write them. A log whose
 * fields are separated in the same way is no table, although one of its lines may have the name of a secret in a field.
 */

import type { Place } from '../mask-rule.ts';

const LONGEST_HEADER = 2000;
const SEPARATORS = [';', '\t', '|', ','];
/** What stands between the names of columns and the first row. */
const RULER = /^[\s|+:=-]*$/;
/** A line of dashes, as SQL clients and Markdown have it below the names. */
export const UNDERLINE = /^[\s|+:=-]*-{2}[\s|+:=-]*$/;
const QUOTED = /"(?:[^"]|"")*"|'(?:[^']|'')*'/g;

interface Table {
  readonly text: string;
  /** Where the names of the columns start, and where the last row ends. */
  readonly from: number;
  readonly to: number;
  readonly names: readonly Place[];
  readonly rows: readonly (readonly Place[])[];
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

/** A list in a sentence has spaces after its commas. */
const isSentence = (line: string, separator: string) =>
  separator !== '|' && line.includes(`${separator} `) && line.replace(QUOTED, '').includes(`${separator} `);

const countOf = (line: string, separator: string): number =>
  line.includes(separator) && !isSentence(line, separator)
    ? cellsOf(line, 0, line.length, separator).length
    : 0;

/** Whether a line has as many cells as another one, in front of which it may stand: both may be lines of a log. */
export const isRowOf = (header: string, line: string): boolean =>
  SEPARATORS.some((separator) => {
    const count = countOf(header, separator);
    return count > 1 && count === countOf(line, separator);
  });

/** The separator beside the name that ends at a place. */
function separatorBeside(text: string, from: number, end: number, to: number): string | undefined {
  const [, after] = /^["'\])}\s]{0,40}?([;\t|,])/.exec(text.slice(end, to)) ?? [];
  if (after !== undefined) return after;
  const before = text.slice(from, end);
  const at = Math.max(...SEPARATORS.map((separator) => before.lastIndexOf(separator)));
  return at === -1 ? undefined : before[at];
}

/** The table whose first line has these bounds. */
function readTable(text: string, from: number, end: number, separator: string): Table {
  const none = { text, from, to: from, names: [], rows: [] };
  const header = text.slice(from, end);
  if (isSentence(header, separator)) return none;
  const names = cellsOf(text, from, end, separator);
  // A comma or a tab beside one word makes no table.
  if (separator !== '|' && names.filter((name) => name.start < name.end).length < 2) return none;
  // A number or a date is no name.
  if (!names.every(({ start, end }) => start === end || /[\p{L}_]/u.test(text.slice(start, end))))
    return none;
  const rows: Place[][] = [];
  let to = end;
  let isCertain = from === 0 || !isRowOf(header, text.slice(text.lastIndexOf('\n', from - 2) + 1, from - 1));
  while (to < text.length) {
    const start = to + 1;
    const next = text.indexOf('\n', start);
    const last = next === -1 ? text.length : next;
    const line = text.slice(start, last);
    if (RULER.test(line)) {
      if (rows.length === 0 && UNDERLINE.test(line)) isCertain = true;
    } else {
      const cells = cellsOf(text, start, last, separator);
      if (cells.length !== names.length || isSentence(line, separator)) break;
      rows.push(cells);
    }
    to = last;
  }
  return isCertain ? { text, from, to, names, rows } : none;
}

let lastTable: Table | undefined;

/** The cells of a column, whose name in the first row ends at a place. */
export function cellsBelow(text: string, end: number): readonly Place[] {
  // Names may be many in one long line: none of them may search all of it.
  const before = text.slice(Math.max(0, end - LONGEST_HEADER), end);
  const from = end - before.length + before.lastIndexOf('\n') + 1;
  const length = text.slice(end, from + LONGEST_HEADER).indexOf('\n');
  if (length === -1 || (from > 0 && text[from - 1] !== '\n')) return [];
  const isKnown = lastTable?.text === text && lastTable.from <= from && from < lastTable.to;
  if (!isKnown) {
    const separator = separatorBeside(text, from, end, end + length);
    if (separator === undefined) return [];
    lastTable = readTable(text, from, end + length, separator);
  }
  const { names, rows, from: start } = lastTable as Table;
  // A row of the table is no header of another one, so that each row is read once.
  const column = start === from && names.length > 1 ? names.findIndex((cell) => cell.end === end) : -1;
  if (column === -1) return [];
  return rows.map((cells) => cells[column] as Place).filter((cell) => cell.end > cell.start);
}

/** What stands between cells that no sign of {@link SEPARATORS} separates. */
const APART = [/\s{2,}/g, /:/g];
const NAME_OF_COLUMN = /^[\p{L}_#][\p{L}\p{N}_ #-]*$/u;
const MOST_ROWS_APART = 200;

/** Where the parts of a line are between separators. */
function partsBetween(text: string, from: number, to: number, separator: RegExp): Place[] {
  const line = text.slice(from, to).trimEnd();
  const parts: Place[] = [];
  let start = line.length - line.trimStart().length;
  for (const { 0: between, index } of line.matchAll(separator)) {
    if (index < start) continue;
    parts.push({ start: from + start, end: from + index });
    start = index + between.length;
  }
  return [...parts, { start: from + start, end: from + line.length }];
}

/** The cells below a name that ends at a place, in a table whose cells are separated by several spaces or by colons. */
export function cellsApart(text: string, end: number): readonly Place[] {
  const from = text.lastIndexOf('\n', end - 1) + 1;
  const last = text.indexOf('\n', end);
  if (last === -1 || last - from > LONGEST_HEADER) return [];
  for (const separator of APART) {
    const names = partsBetween(text, from, last, separator);
    const column = names.findIndex((name) => name.end === end);
    if (names.length < 2 || column === -1) continue;
    if (!names.every((name) => NAME_OF_COLUMN.test(text.slice(name.start, name.end)))) continue;
    const cells: Place[] = [];
    for (let start = last + 1, rows = 0; start <= text.length && rows < MOST_ROWS_APART; rows++) {
      const next = text.indexOf('\n', start);
      const to = next === -1 ? text.length : next;
      if (to - start > LONGEST_HEADER) break;
      if (!RULER.test(text.slice(start, to))) {
        const row = partsBetween(text, start, to, separator);
        if (row.length !== names.length) break;
        cells.push(row[column] as Place);
      }
      start = to + 1;
    }
    return cells.filter((cell) => cell.end > cell.start);
  }
  return [];
}
