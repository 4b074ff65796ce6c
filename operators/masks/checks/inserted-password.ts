import { isPassword, isToken } from './secret-value.ts';

/** What stands in front of the values of a statement, with its columns. */
const STATEMENT = /\b(?:insert|replace)\s[^()]{0,200}?\(([^()]{1,4000})\)\s*values\s*(?=\()/gi;
/** Strings, escaped ones of JSON, brackets and commas. The last string may be cut. */
const PART = /'((?:[^'\\]|\\.|'')*)(?:'|$)|\\?"((?:[^"\\]|\\[^"])*)\\?"|[(),]|[^'"(),\\]+|\\/gy;
const PASSWORD =
  /(?:^|[^a-z])(?:user|db)?(?:pass(?![a-z])|passw|passphrase|passcode|passhash|pwd|pw(?![a-z])|mdp|senha|contrase|kennwort|wachtwoord|heslo|has[lł]o)/i;
const TOKEN = /(?:secret|token|api_?key|private_?key|credential)s?(?![a-z])/i;

type IsSecret = (value: string, text: string, start: number) => boolean;

/** Where the values of columns with the name of a secret start, in the last text that was asked about. */
let last: { readonly text: string; readonly starts: ReadonlyMap<number, IsSecret> } | undefined;

/** A string in a statement of SQL that is inserted into a column with the name of a password or token. */
export function isInsertedPassword(value: string, text: string, start: number): boolean {
  if (last?.text !== text) last = { text, starts: startsIn(text) };
  return last.starts.get(start)?.(value, text, start) ?? false;
}

function startsIn(text: string): Map<number, IsSecret> {
  const starts = new Map<number, IsSecret>();
  for (const match of text.matchAll(STATEMENT)) {
    const columns = (match[1] as string)
      .split(',')
      .map((name) => (PASSWORD.test(name) ? isPassword : TOKEN.test(name) ? isToken : undefined));
    if (columns.some((check) => check !== undefined)) {
      addStarts(starts, columns, text, match.index + match[0].length);
    }
  }
  return starts;
}

/** Follows the rows of values from the bracket that opens the first. Of a call, the first string is the value. */
function addStarts(
  starts: Map<number, IsSecret>,
  columns: readonly (IsSecret | undefined)[],
  text: string,
  from: number,
): void {
  let depth = 0;
  let column = 0;
  PART.lastIndex = from;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [whole, single, double] = part;
    const string = single ?? double;
    const check = columns[column];
    if (string !== undefined) {
      if (depth > 0 && check !== undefined) starts.set(part.index + whole.indexOf(string, 1), check);
    } else if (whole === '(') {
      if (depth++ === 0) column = 0;
    } else if (whole === ')') depth--;
    else if (whole === ',' && depth === 1) column++;
    // The statement ends where no row follows.
    else if (depth === 0 && /\S/.test(whole) && whole !== ',') return;
  }
}
