import { isPassword, isToken } from './secret-value.ts';

/** What stands in front of the values of a statement, with its columns. */
const STATEMENT =
  /\b(?:insert|replace)\s[^()]{0,200}?\(([^()]{1,4000})\)\s*(?:overriding\s+\w+\s+value\s*)?values\s*(?=\()/gi;
/** Strings, escaped ones of JSON, brackets and commas. The last string may be cut. */
const PART = /'((?:[^'\\]|\\.|'')*)(?:'|$)|\\?"((?:[^"\\]|\\[^"])*)(?:\\?"|$)|[(),]|[^'"(),\\]+|\\/gy;
/** What may stand behind the name of a secret: `password_hash`, but not `password_changed_at`. */
const SUFFIX =
  's?(?:[_. -]?(?:old|new|current|previous|confirm(?:ation)?|repeat|again|value|hash|hashed|digest|salt|plain|text|string|b64|base64|enc|encrypted|b?crypt|argon2|sha[0-9]{0,3}|md5|data|secret|key|token|v?[0-9]{1,3})){0,2}$';
/** The words of the rule `password` of secrets/context. */
const PASSWORD = new RegExp(
  `(?:(?<!by|com|tres|sur)pass|pass(?:[_-]{0,2}word|w[oö]rt(?:er)?|wd|wrd|ord|phrase|code)|p(?:ss)?wd|psw|(?<=^|_|root|user|admin|login|my|db)pw|mdp|senha|contrase(?:[nñ]|n?%C3%B1)a|kennw[oö]rt(?:er)?|wachtwoord|parola|has[lł]o|l[oö]senord|adgangskode|salasana|heslo|jelsz[oó]|[sş]ifre|парол[ья]|密[码碼]|パスワード|비밀번호)${SUFFIX}`,
  'i',
);
const TOKEN = new RegExp(
  `(?:secret|token|(?:api|access|private|encryption|signing)[_-]?key|credential)${SUFFIX}`,
  'i',
);
const QUOTES_OF_NAMES = /[\s"'`[\]\\]/g;

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
      .map((column) => column.replace(QUOTES_OF_NAMES, ''))
      .map((name) => (PASSWORD.test(name) ? isPassword : TOKEN.test(name) ? isToken : undefined));
    if (columns.some((check) => check !== undefined)) {
      addStarts(starts, columns, text, match.index + match[0].length);
    }
  }
  return starts;
}

/** Follows the rows of values from the bracket that opens the first. In a call, each string is a value. */
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
