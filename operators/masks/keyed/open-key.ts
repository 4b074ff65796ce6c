import type { Finder, SearchObserver } from '../search/finder.ts';
import type { Keyword } from '../search/keyword.ts';
import { literalsOf, matchEnd } from './key-names.ts';
import { compileVocabulary } from './keyed-finder.ts';
import type { KeyName, Vocabulary } from './vocabulary.ts';

/**
 * A line after whose key no value stands, so that its value may be in the next line. `answer`: that line is one word, which
 * looks like a password. `below`: it is further to the right, or such a word. `block`: so are the lines after it. `rows`: the
 * line names columns, so that many lines may have values. A number: so many lines may have values, and belong to this line
 * alone.
 */
export type OpenKey = 'next' | 'answer' | 'below' | 'block' | 'rows' | number;

/** What asks for a password in SMTP, in base64, and in a terminal. */
const PASSWORD_PROMPT =
  /(?:334 UGFzc3dvcmQ6?|(?:\benter\s(?:\w{1,10}\s){0,2}(?:pass ?phrase|password)|\[sudo\] password|'s password)(?: for [^:]{1,200})?:)\s*$/i;
/** What such a line ends with. */
const PROMPT_END = /[:6Q]\s*$/i;
const PROMPT_KEYWORD = '334 ugfzc3dvcmq';

/** The key of YAML with nothing but a tag or the sign of a block after it, and what a program prints of an array. */
const YAML_KEY = /^\s*(?:- )?["']?[\w.-]*$/;
const YAML_REST = /^["']?\s*:\s*(?:!!?\w+\s*)?([|>][+-]?\d?[+-]?)?\s*$/;
const ARROW_REST = /^["']?(?::(?:protected|private)|:"[\w\\]{1,80}":private)?\]?\s*=>\s*$/;
/** A wrapper or bracket of code that is closed in a later line: `password: Some(`. */
const WRAPPER_REST = /^["']?\)?\s*(?:=>?|:=?)\s*(?:(?:[A-Z]\w{1,30}(?:(?:::|\.)\w{1,20})?)?[(]|[[{])\s*$/;
/** A block of HCL with the name: `variable "api_token" {`. */
const BRACE_REST = /^["']\s*\{\s*$/;
/** A string or a word of base64 that goes on in the next line. */
const PART_REST =
  /^(?:["']?\]?\s*(?:=>?|:=?)\s*(?:["'`][^"'`]*["'`]\s*(?:\\|\+|\.|&)|["'][^"']*\\)|::\s[A-Za-z0-9+/]{16,120})\s*$/;
/** Text that a shell reads from the next lines. */
const HEREDOC_REST = /^(?:=["']?\$\(\s?cat)?\s?<<-?\s?["']?\w{2,20}["']?\s*$/;
/** The name of an option, an argument, a field or a key that stands alone in its line, and in a tag. */
const ALONE = /^\s*(?:(?:[-?*]|\d{1,4}\))\s+)?["'`]?(?:--?)?[\w.-]*$/;
const ALONE_REST = /^["'`]?,?\s*$/;
const HEADING = /^\s*(?:[A-Za-z0-9]{1,20}[\s_.-]){0,3}$/;
const TAG = /(?:<[\w:.-]+(?:\s[^<>]*)?>\s*(?:[\w-]+\s){0,3}|\s(?:name|key|id)\s*=\s*["'][\w.:-]*)$/i;
const TAG_REST = /^(?:\s?:?\s*<\/[\w:.-]+>|["'](?:\s[^<>]*)?\/?>)\s*$/;
/** A name in the field `name` of YAML, JSON or a form, or in an element of XML. */
const NAME_FIELD =
  /(?:^|[\s"'{<,;-])(?:[\w.]*(?:name|key|field|variable|param(?:eter)?|setting|option|property|path|label|attribute|header|env)|k|id)(?:["']?\s*[:=]\s*\\{0,3}["']?|>\s*)[\w.:/-]*$/i;
const NAME_FIELD_REST = /^(?:\\{0,3}["']?\s*,?|<\/[\w:.-]+>)\s*$/;
/** An assignment that goes on in the next line, and an option whose value does. */
const ASSIGNED_REST = /^["']?\]?\s*(?::=|=)\s*\\?\s*$/;
const FLAG_REST = /^\s+\\\s*$/;
const FLAG = /(?:^|\s)--?[\w.-]*$/;
/** The name of a section of a file. */
const SECTION = /^\s*\[[\w.-]*$/;
/** A line that asks for a value, or says whose value follows. */
const QUESTION = /^\s*(?:[\w-]{1,20}\s){0,3}$/;
const QUESTION_REST = /^\p{L}{0,3}(?!\p{L})[^:：=\n]{0,160}[:：]\s*$/u;
/** What ends a line with such a key, at the end of the name: see also {@link REST_END}. */
const REST =
  /(?:["']?\s*:\s*(?:!!?\w+\s*)?(?:[|>][+-]?\d?[+-]?)?|["']?(?::[\w":\\]{1,90})?\]?\s*(?:=>|:?=)\s*\\?|["']?\)?\s*(?:=>?|:=?)\s*(?:[\w:.]{0,60}\(|[[{])|\s+\\|\]|\\{0,3}["'`]?\s*,?|["']\s*\{|["']?\]?\s*(?:=>?|:=?)\s*(?:["'`][^"'`]{0,900}["'`]\s*[\\+.&]|["'][^"']{0,900}\\)|::\s[A-Za-z0-9+/]{16,120}|(?:=["']?\$\(\s?cat)?\s?<<-?\s?["']?\w{2,20}["']?|\s?:?\s*<\/[\w:.-]+>|["'](?:\s[^<>]{0,300})?\/?>|>|[^:：=\n]{1,160}[:：])\s*$/y;
const ELEMENT = /<[\w:.-]*$/;
/** Columns: at least two names between the same separators, which may have brackets, and start with a digit. */
const COLUMN = String.raw`["']?(?=[^,;\t|]{0,60}[\p{L}_])[\p{L}\p{N}_([#*$@][\p{L}\p{N}_ .()[\]#*/%$@?-]{0,60}["']?`;
const COLUMNS = new RegExp(
  String.raw`^\s*[|]?\s*${COLUMN}(?:(?:[,;\t]|\s*\|\s*)${COLUMN}){1,60}\s*[|]?\s*$`,
  'u',
);

/** Names of columns with two spaces or a colon between them. */
const COLUMNS_APART =
  /^\s{0,20}[A-Za-z_#][\w#-]{0,30}(?: [\w#-]{1,30})?(?:\s{2,40}[A-Za-z_][\w#-]{0,30}(?: [\w#-]{1,30})?){1,12}\s*$|^[A-Za-z_]{2,20}(?::[A-Za-z_]{2,20}){1,4}$/;
/** What lines of columns consist of, which tells apart most other lines at once. */
const OF_COLUMNS = /^[\p{L}\p{N}\s_.,;()[\]#*/%$@?|"'-]*$/u;
/** A parameter of a statement, and a statement of SQL whose parameters have their values in the next lines. */
const PARAMETER = /[=(,]\s?(?:\?|%s|\$\d|[:@]p?\d)/;
const PARAMETERS =
  /\b(?:values?\s?\(|(?:set|where|and)\s[^\n]{1,200}=)[^\n;]{0,300}?(?:\?|%s|\$\d|[:@]p?\d)/i;
const MOST_PARAMETERS = 16;

/** A line of a log, which may have columns too. */
const LEVEL = /^\W*(?:trace|debug|info|notice|warn(?:ing)?|error|fatal|crit(?:ical)?)\W/i;

/** Finds lines with an open key, among those with a name. It has no values of its own. */
export class OpenKeyFinder implements Finder {
  end = 0;
  readonly #vocabulary: Vocabulary;
  readonly #onOpen: (key: OpenKey) => void;

  constructor(vocabulary: Vocabulary, onOpen: (key: OpenKey) => void) {
    this.#vocabulary = vocabulary;
    this.#onOpen = onOpen;
  }

  static keywordsOf({ names }: Vocabulary): readonly Keyword[] {
    return [PROMPT_KEYWORD, ...literalsOf(names.filter(canBeInLineBefore))];
  }

  next(text: string, _from: number, observer?: SearchObserver): number {
    const key = text.length <= LONGEST ? this.#openKeyOf(text, observer?.placesIn?.(text)) : undefined;
    if (key !== undefined) this.#onOpen(key);
    return -1;
  }

  #openKeyOf(line: string, places: readonly number[] | undefined): OpenKey | undefined {
    if (PROMPT_END.test(line) && PASSWORD_PROMPT.test(line)) return 'next';
    const hasColumns = OF_COLUMNS.test(line) && COLUMNS.test(line) && !LEVEL.test(line);
    const hasParameters = PARAMETER.test(line) && PARAMETERS.test(line);
    const hasColumnsApart = COLUMNS_APART.test(line);
    const lineEnd = line.trimEnd().length;
    const hasRest = mayHaveRest(line, lineEnd);
    const isAnyLine = !hasColumns && !hasColumnsApart && !hasParameters && !hasRest;
    if (isAnyLine && places?.every((place) => place + LONGEST_KEY < lineEnd)) return undefined;
    const names = compileVocabulary(this.#vocabulary).namesOfKeys();
    const found = names.in(line, places).filter(({ entry }) => canBeInLineBefore(entry));
    for (const name of found) {
      const before = line.slice(0, name.start);
      for (const end of names.endsOf(line, name)) {
        if ((!hasRest && end < lineEnd) || matchEnd(REST, line, end) === -1) continue;
        const rest = line.slice(end);
        const yaml = YAML_REST.exec(rest);
        if (yaml !== null && YAML_KEY.test(before)) return yaml[1] === undefined ? 'below' : 'block';
        if (ARROW_REST.test(rest)) return 'next';
        if (WRAPPER_REST.test(rest)) return 'below';
        if (ASSIGNED_REST.test(rest) || (FLAG_REST.test(rest) && FLAG.test(before))) return 'below';
        if (/^\]\s*$/.test(rest) && SECTION.test(before)) return 'answer';
        if (QUESTION_REST.test(rest) && QUESTION.test(before)) return 'answer';
        if (NAME_FIELD_REST.test(rest) && NAME_FIELD.test(before)) return 'next';
        if (/^>\s*$/.test(rest) && ELEMENT.test(before)) return 'next';
        if (TAG_REST.test(rest) && TAG.test(before)) return 'next';
        if (BRACE_REST.test(rest) || PART_REST.test(rest) || HEREDOC_REST.test(rest)) return 'next';
        if (ALONE_REST.test(rest) && (ALONE.test(before) || (end === name.end && HEADING.test(before))))
          return 'next';
      }
    }
    if (found.length === 0) return undefined;
    return hasParameters ? MOST_PARAMETERS : hasColumns || hasColumnsApart ? 'rows' : undefined;
  }
}

/** Finds lines in front of values of a rule. It has no values of its own. */
export class LineBeforeFinder implements Finder {
  end = 0;
  readonly #expression: () => RegExp;
  readonly #lines: number;
  readonly #onOpen: (key: OpenKey) => void;

  constructor(expression: () => RegExp, lines: number, onOpen: (key: OpenKey) => void) {
    this.#expression = expression;
    this.#lines = lines;
    this.#onOpen = onOpen;
  }

  next(text: string): number {
    if (text.length <= LONGEST && text.search(this.#expression()) !== -1) this.#onOpen(this.#lines);
    return -1;
  }
}

/** Characters of a key at most, after the start of its name. */
const LONGEST_KEY = 250;
/** The last characters of what {@link REST} takes, and what it has if it ends with a letter or a digit. */
const REST_END = ':：>|+-\\=([{])"\'`,.&';
const REST_PART = /[!]|::|<<|[|>][+-]?\d/;

/** Whether a line may end with what {@link REST} takes, if that is not nothing. */
const mayHaveRest = (line: string, end: number): boolean =>
  REST_END.includes(line[end - 1] ?? '') || REST_PART.test(line);

/** Names of few notations, such as commands, have their values in the same line. */
const canBeInLineBefore = ({ only }: KeyName): boolean => only === undefined;

/** Characters of a line that is looked at. */
const LONGEST = 1000;
