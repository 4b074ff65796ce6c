/*
 * Values that a program binds to the parameters of a statement of SQL, as libraries log them: in a list after the statement,
 * or each with its number.
 */

import type { Place, Span } from '../search/finder.ts';

/** A sign for a parameter: `?`, `%s`, `$1`, `:1`, `@p1`. Some have a number. */
const PARAMETER = /\?|%s|\$(\d{1,3})|[:@]p?(\d{1,3})/;
const PARAMETERS = new RegExp(PARAMETER, 'g');
const VERB = /\b(?:insert|update|select|delete|replace|merge|with|call)\s/i;
const INSERT =
  /\b(?:insert|replace|merge)\b[^()]{0,200}\(([^()]{1,2000})\)\s{0,20}values?\s{0,20}\(([^()]{1,2000})\)/dgi;
const COMPARED = new RegExp(
  String.raw`([\w$]{1,60})[\\"'${'`'}\]]{0,4}\s{0,3}(?:=|<>|!=|\blike\b|\bin\s?\()\s{0,3}(?:${PARAMETER.source})`,
  'dgi',
);
/** A value with the number of its parameter. */
const NUMBERED = [
  /binding parameter \[(\d{1,3})\] as \[[^\]\n]{0,40}\] - \[([^\n]{1,500})\]\s{0,3}$/dgm,
  /binding parameter \((\d{1,3}):[\w()]{1,40}\) <- \[([^\n]{1,500})\]\s{0,3}$/dgm,
  /(?:\$|@p?|:p?)(\d{1,3})\s?=\s?'((?:[^'\n]|''){1,500})'/dg,
  /["']?(\d{1,3})["']?\s?=>\s?["']((?:[^"'\n\\]|\\.){1,500})["']/dg,
];
/** What MyBatis writes: `ada(String), 7(Integer)`. */
const TYPED =
  /(?:^|,\s)((?:(?!\(\w{2,20}\)(?:,\s|$))[^\n]){0,500})\((?:String|Integer|Long|Boolean|Timestamp|[A-Z]\w{2,20})\)/dgm;
const TYPED_START = /\bParameters:\s/;
/** A list with the values, which starts with one. */
const LIST = /[[(](?=\s{0,3}(?:[bru]?\\{0,3}["']|\d|null|None|true|false))/gi;
/** A name of such a list, for lists that stand in front of their statement. */
const NAMED_LIST =
  /\b(?:bindings|param(?:eter)?s|values|arg(?:ument)?s|replacements)\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?[[(]/gi;
const ITEM =
  /\s{0,20}(?:[bru]?(\\{0,3}["'])((?:(?!\1)(?:[^\\\n]|\\[^\n])|\1\1){0,500})\1|([^,\])}\n"'\\]{1,200}))\s{0,20}([,\])}]|$)/dy;
/** Characters after a statement, and in front of it, in which its values are looked for. */
const LONGEST_REST = 4000;
const MOST_ITEMS = 64;

interface BoundColumn extends Span {
  readonly parameter: number;
}

let last:
  | {
      readonly text: string;
      readonly columns: readonly BoundColumn[];
      readonly start: number;
      readonly end: number;
    }
  | undefined;

/**
 * The value that is bound to the column, or to the parameter that a column is compared with.
 *
 * @param at the end of the name of the column
 *
 * @example
 * boundValues('UPDATE t SET pw = ? WHERE id = ? ["x7", 3]', 15); // [{ start: 35, end: 37 }]
 */
export function boundValues(text: string, at: number): readonly Place[] {
  if (last?.text !== text) last = { text, ...columnsIn(text) };
  const { columns, start, end } = last;
  const column = columns.find((one) => one.start <= at && at <= one.end);
  if (column === undefined) return [];
  const value = valueIn(text, end, column.parameter) ?? valueBefore(text, start, column.parameter);
  return value === undefined || value.end === value.start ? [] : [value];
}

function columnsIn(text: string): { columns: BoundColumn[]; start: number; end: number } {
  const start = text.search(VERB);
  const columns: BoundColumn[] = [];
  if (start === -1) return { columns, start, end: text.length };
  // A mark in the values of a list of them is none of the statement.
  const line = text.indexOf('\n', start);
  const statement = text.slice(0, line === -1 ? text.length : line);
  let end = start;
  let count = 0;
  const numbers = new Map<number, number>();
  for (const match of statement.slice(start).matchAll(PARAMETERS)) {
    const number = match[1] ?? match[2];
    numbers.set(start + match.index, number === undefined ? ++count : Number(number));
  }
  const add = (name: Span, sign: number) => {
    columns.push({ ...name, parameter: numbers.get(sign) as number });
    end = Math.max(end, sign + 1);
  };
  for (const { indices } of statement.matchAll(COMPARED)) {
    const [, to] = indices?.[0] ?? [0, 0];
    const [from, until] = indices?.[1] ?? [0, 0];
    const sign = [...numbers.keys()].find((place) => place >= until && place < to);
    if (sign !== undefined) columns.push({ start: from, end: until, parameter: numbers.get(sign) as number });
  }
  for (const match of statement.matchAll(INSERT)) {
    const [from] = match.indices?.[1] ?? [0];
    const [values] = match.indices?.[2] ?? [0];
    const names = placesBetweenCommas(match[1] as string, from);
    for (const [i, value] of placesBetweenCommas(match[2] as string, values).entries()) {
      const sign = [...numbers.keys()].find((place) => place >= value.start && place < value.end);
      const name = names[i];
      if (sign !== undefined && name !== undefined) add(name, sign);
    }
  }
  return { columns, start, end };
}

function placesBetweenCommas(list: string, from: number): Span[] {
  let at = from;
  return list.split(',').map((part) => {
    const start = at;
    at += part.length + 1;
    return { start, end: start + part.length };
  });
}

function valueIn(text: string, from: number, parameter: number): Place | undefined {
  const rest = text.slice(from, from + LONGEST_REST);
  for (const expression of NUMBERED) {
    for (const { 1: number, indices } of rest.matchAll(expression)) {
      const [start, end] = indices?.[2] ?? [0, 0];
      if (Number(number) === parameter) return { start: from + start, end: from + end };
    }
  }
  const typed = TYPED_START.exec(rest);
  if (typed !== null) {
    const after = typed.index + typed[0].length;
    const [start, end] = [...rest.slice(after).matchAll(TYPED)][parameter - 1]?.indices?.[1] ?? [0, 0];
    return { start: from + after + start, end: from + after + end };
  }
  for (const { index } of rest.matchAll(LIST)) {
    // Lists in a list are pairs of a name and a value.
    if (/\[\s?$/.test(rest.slice(0, index))) return undefined;
    const value = itemsAt(text, from + index + 1)?.[parameter - 1];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** In the list that stands last in front of a statement, as loggers write the fields of an object in any order. */
function valueBefore(text: string, statement: number, parameter: number): Place | undefined {
  const from = Math.max(0, statement - LONGEST_REST);
  const [list] = [...text.slice(from, statement).matchAll(NAMED_LIST)].slice(-1);
  return list && itemsAt(text, from + list.index + list[0].length)?.[parameter - 1];
}

/** The items of a list, of which those without quotes are empty. Undefined if it does not end. */
function itemsAt(text: string, from: number): readonly (Place | undefined)[] | undefined {
  const items: (Place | undefined)[] = [];
  ITEM.lastIndex = from;
  while (items.length < MOST_ITEMS) {
    const match = ITEM.exec(text);
    if (match === null) return undefined;
    const [start, end] = match.indices?.[2] ?? [0, 0];
    items.push(end > start ? { start, end } : undefined);
    if (match[4] !== ',') return match[4] === '' ? undefined : items;
    // A comma after the last one.
    if (/^\s?[\])}]/.test(text.slice(ITEM.lastIndex, ITEM.lastIndex + 2))) return items;
  }
  return undefined;
}
