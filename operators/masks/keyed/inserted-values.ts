import type { Place, Span } from '../search/finder.ts';

/** What stands in front of the values of a statement, with its columns in a group. */
const STATEMENT =
  /\b(?:insert|replace)(?:\s|\\[nrt])[^()]{0,200}?\(([^()]{1,4000})\)(?:\s|\\[nrt])*(?:overriding\s+\w+\s+value\s*)?(?:values(?:\s|\\[nrt])*(?=\()|select\s+(?=[^()]))/dgi;
/** Strings, also with escaped quotes, brackets and commas. The last string may be cut. */
const PART =
  /'((?:[^'\\]|\\.|'')*)(?:'|$)|\\{1,7}'((?:[^'\\]|\\{1,7}[^'\\]|\\{1,7}'\\{1,7}')*)(?:\\{0,7}'|$)|\\?"((?:[^"\\]|\\[^"])*)(?:\\?"|$)|[(),]|[^'"(),\\]+|\\[nrt]?/gy;
/** How often a text may be read for its statements: each that has no end is followed to the end of the text. */
const MOST_READS = 16;

/** A column of a statement, and its values in all rows. */
interface Column extends Span {
  readonly values: Place[];
}

/** The columns in the last text that was asked about. */
let last: { readonly text: string; readonly columns: readonly Column[] } | undefined;

/**
 * The values that a statement of SQL inserts into a column.
 *
 * @param at a place in the name of the column
 *
 * @example
 * insertedValues("INSERT INTO t (id, pw) VALUES (1, 'x'), (2, 'y')", 19).length; // 2
 */
export function insertedValues(text: string, at: number): readonly Place[] {
  if (last?.text !== text) last = { text, columns: columnsIn(text) };
  return last.columns.find(({ start, end }) => start <= at && at <= end)?.values ?? [];
}

function columnsIn(text: string): Column[] {
  let left = MOST_READS * text.length;
  const found: Column[] = [];
  for (const match of text.matchAll(STATEMENT)) {
    const [start] = match.indices?.[1] ?? [0];
    let end = start - 1;
    const columns = (match[1] as string).split(',').map((name): Column => {
      const from = end + 1;
      end = from + name.length;
      return { start: from, end, values: [] };
    });
    found.push(...columns);
    if (left <= 0) break;
    const values = match.index + match[0].length;
    left -= addValues(columns, text, values) - values;
  }
  return found;
}

/**
 * Follows the rows of values from the bracket that opens the first. In a call, each string is a value. A string at the
 * end of a row belongs to the last column, even if the row has more or fewer values than the statement has columns.
 *
 * @returns where the statement ends
 */
function addValues(columns: readonly Column[], text: string, from: number): number {
  // The values of a SELECT have no brackets around them.
  const least = text[from] === '(' ? 0 : 1;
  let depth = least;
  let column = 0;
  let lastValue: Place | undefined;
  PART.lastIndex = from;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [whole, single, escaped, double] = part;
    const string = single ?? escaped ?? double;
    if (string !== undefined) {
      const start = part.index + whole.search(/['"]/) + 1;
      lastValue = { start, end: start + string.length };
      if (depth > 0 && string !== '') columns[column]?.values.push(lastValue);
    } else if (whole === '(') {
      if (depth++ === 0) {
        column = 0;
        lastValue = undefined;
      }
    } else if (whole === ')') {
      if (--depth === 0 && lastValue !== undefined && column !== columns.length - 1)
        columns.at(-1)?.values.push(lastValue);
    } else if (whole === ',' && depth === 1) {
      column++;
      lastValue = undefined;
    }
    // The statement ends where no row follows.
    else if (depth === 1 && least === 1 && /\bfrom\b|;/i.test(whole)) return part.index;
    else if (depth === 0 && !/^(?:[\s,]|\\[nrt])*$/.test(whole)) return part.index;
  }
  return text.length;
}
