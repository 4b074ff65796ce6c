import { isPassword, isToken } from './secret-value.ts';

/** What stands in front of the values of a statement, with its columns. */
const STATEMENT =
  /\b(?:insert|replace)(?:\s|\\[nrt])[^()]{0,200}?\(([^()]{1,4000})\)(?:\s|\\[nrt])*(?:overriding\s+\w+\s+value\s*)?values(?:\s|\\[nrt])*(?=\()/gi;
/** Strings, also with escaped quotes, brackets and commas. The last string may be cut. */
const PART =
  /'((?:[^'\\]|\\.|'')*)(?:'|$)|\\{1,7}'((?:[^'\\]|\\{1,7}[^'\\]|\\{1,7}'\\{1,7}')*)(?:\\{0,7}'|$)|\\?"((?:[^"\\]|\\[^"])*)(?:\\?"|$)|[(),]|[^'"(),\\]+|\\[nrt]?/gy;
/** What may follow the name of a secret: `password_hash`, but not `password_changed_at`. */
const SUFFIX =
  's?(?:[_. -]?(?:old|new|current|previous|confirm(?:ation)?|repeat|again|value|hash|hashed|digest|salt|plain|text|string|b64|base64|enc|encrypted|b?crypt|argon2|sha[0-9]{0,3}|md5|data|secret|key|token|v?[0-9]{1,3})){0,2}$';
/** The part `password` of the pack secrets/context, as it is there. A test compares the two. */
export const PASSWORD_NAME = String.raw`(?:pass(?:[_-]{0,2}word|w[oö]rt(?:er)?|wd|wrd|ord|phrase|code|e(?<=(?:mot[_ -]?de[_ -]?|palavra[_ -]?)passe)|(?<!(?:\b|_)(?:by|com|under|over|tres|encom)pass))|p(?:ss)?wd|psw|pw(?<=(?:\b|_|root|user|admin|login|my|db)pw)|mdp(?<=(?:\b|_)mdp)|senha|contrase(?:[nñ]|n?%C3%B1)a|kennw[oö]rt(?:er)?|wachtwoord|parola(?:[_ -]?chiave|[_ -]d['’ _-]?ordine)?|has[lł]o|l[oö]senord|adgangskode|salasana|heslo|jelsz[oó]|[sş]ifre(?<=(?:\b|_)sifre|şifre)|kata[ _]sandi|парол[ья]|密[码碼]|パスワード|비밀번호)`;
const PASSWORD = new RegExp(`(?:${PASSWORD_NAME}|mdp|sifre|katasandi)${SUFFIX}`, 'i');
const TOKEN = new RegExp(
  `(?:secret|token|(?:api|access|private|encryption|signing)[_-]?key|credential)${SUFFIX}`,
  'i',
);
const QUOTES_OF_NAMES = /\\[nrt]|[\s"'`[\]\\]/g;

type IsSecret = (value: string, text: string, start: number) => boolean;

/** Where the values of columns with the name of a secret start, in the last text that was asked about. */
let last: { readonly text: string; readonly starts: ReadonlyMap<number, IsSecret> } | undefined;

/** A string in a statement of SQL that is inserted into a column with the name of a password or token. */
export function isInsertedPassword(value: string, text: string, start: number): boolean {
  if (last?.text !== text) last = { text, starts: startsIn(text) };
  return last.starts.get(start)?.(value, text, start) ?? false;
}

/** How often a text may be read for its statements: each that has no end is followed to the end of the text. */
const MOST_READS = 16;

function startsIn(text: string): Map<number, IsSecret> {
  let left = MOST_READS * text.length;
  const starts = new Map<number, IsSecret>();
  for (const match of text.matchAll(STATEMENT)) {
    const columns = (match[1] as string)
      .split(',')
      .map((column) => column.replace(QUOTES_OF_NAMES, ''))
      .map((name) => (PASSWORD.test(name) ? isPassword : TOKEN.test(name) ? isToken : undefined));
    if (left > 0 && columns.some((check) => check !== undefined)) {
      const from = match.index + match[0].length;
      left -= addStarts(starts, columns, text, from) - from;
    }
  }
  return starts;
}

/**
 * Follows the rows of values from the bracket that opens the first. In a call, each string is a value. A string at the
 * end of a row belongs to the last column, even if the row has more or fewer values than the statement has columns.
 *
 * @returns where the statement ends
 */
function addStarts(
  starts: Map<number, IsSecret>,
  columns: readonly (IsSecret | undefined)[],
  text: string,
  from: number,
): number {
  let depth = 0;
  let column = 0;
  let lastStart = 0;
  PART.lastIndex = from;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [whole, single, escaped, double] = part;
    const string = single ?? escaped ?? double;
    const check = columns[column];
    if (string !== undefined) {
      lastStart = part.index + whole.search(/['"]/) + 1;
      if (depth > 0 && check !== undefined) starts.set(lastStart, check);
    } else if (whole === '(') {
      if (depth++ === 0) column = lastStart = 0;
    } else if (whole === ')') {
      const ofLast = columns.at(-1);
      if (--depth === 0 && ofLast !== undefined && column !== columns.length - 1)
        starts.set(lastStart, ofLast);
    } else if (whole === ',' && depth === 1) {
      column++;
      lastStart = 0;
    }
    // The statement ends where no row follows.
    else if (depth === 0 && !/^(?:[\s,]|\\[nrt])*$/.test(whole)) return part.index;
  }
  return text.length;
}
