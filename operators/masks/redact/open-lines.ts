import { DEFAULT_MAX_KEYS, LruMap } from '../../support/lru-map.ts';
import type { OpenKey } from '../keyed/open-key.ts';
import { isRowOf, UNDERLINE } from '../keyed/tables.ts';
import type { FieldPart } from './block-tracker.ts';
import type { TextMasker } from './text-masker.ts';

/** The last lines of a source with a key whose value may be in the next line. */
interface OpenLines {
  readonly key: OpenKey;
  readonly text: string;
  /** Characters in front of the first of them. */
  readonly indent: number;
  /** How many further lines may be looked at. */
  readonly left: number;
  /** Whether the line may be one of a log: it names columns only if a line of dashes follows it. */
  readonly isInLog?: boolean | undefined;
}

/** Lines after a key in which its value is looked for. A block or a table may have more. */
const MOST_LINES = 3;
const MOST_ROWS = 100_000;
/** Characters. */
const LONGEST = 2000;
const LONGEST_ROW = 100_000;

/**
 * One word with a digit or a symbol, as it answers a question: no key, nothing that starts a list, a section or a comment, and no word that
 * says how it went.
 */
const isAnswer = (line: string): boolean =>
  /^\s*[^\s#[{<>}\]`|-][^\s=`]{3,200}(?<![:,;{(])\s*$/.test(line) && /[0-9!#$%^&*?~+@]/.test(line);

const indentOf = (line: string): number => /^[\s-]*/.exec(line)?.[0].length ?? 0;
/** Where the part of a value starts that started in a line before. */
const startOfPart = (line: string): number => /^\s*(?:"(?=[^"]*")|'(?=[^']*'))?/.exec(line)?.[0].length ?? 0;
/** The value before a change, after which that after it follows. */
const OLD_VALUE = /^\s*["']?(?:old|from|before|previous)\b/i;
/** An item of a list, after which further ones may follow. */
const ITEM = /^\s*(?:-\s|["'`][^"'`]*["'`],?\s*$)/;
/** A field of an object, in front of the one with its value. */
const FIELD = /^\s*["']?[A-Za-z][\w-]{1,30}["']?\s?[:=]\s/;
/** What stands between the names of columns and the first row, or between rows. */
const BETWEEN_ROWS = /^(?:[\s|+:=-]*|\s*#.*)$/;

/** Masks values whose keys are in a line before: the rules search both together. */
export class LineContext {
  readonly #texts: TextMasker;
  readonly #open = new LruMap<string, OpenLines>(DEFAULT_MAX_KEYS);
  /** The last line of each source; undefined if it was masked with others. */
  readonly #previous = new LruMap<string, string | undefined>(DEFAULT_MAX_KEYS);

  constructor(texts: TextMasker) {
    this.#texts = texts;
  }

  /** Whether the next line of a source may have the value of a key in the last one. */
  isOpen(source: string): boolean {
    return this.#open.has(source);
  }

  close(source: string): void {
    this.#open.delete(source);
    this.pass(source);
  }

  /** Notes that lines of a source have been masked without this, because no key in them is open. */
  pass(source: string): void {
    this.#previous.set(source, undefined);
  }

  /** Notes a line in which no key is open, and which was not masked. */
  passLine(source: string, line: string): void {
    this.#previous.set(source, line.length > LONGEST ? undefined : line);
  }

  /** Whether the line after the last one of a source may be a line of a log, rather than the names of columns. */
  #isInLog(source: string, line: string): boolean {
    if (!this.#previous.has(source)) return false;
    const previous = this.#previous.get(source);
    return previous === undefined || isRowOf(line, previous);
  }

  mask(source: string, line: string, onFind: Parameters<TextMasker['maskParts']>[1]): string {
    const open = this.#open.get(source);
    const parts = open && this.#partsWithKeysBefore(open, line);
    this.#texts.takeOpenKey();
    const masked = parts === undefined ? this.#texts.mask(line) : this.#texts.maskParts(parts, onFind);
    const key = this.#texts.takeOpenKey();
    const next =
      parts === undefined && key !== undefined
        ? opened(key, line, key === 'rows' && this.#isInLog(source, line))
        : continued(open, line, parts !== undefined);
    if (next !== undefined) this.#open.set(source, next);
    else if (open !== undefined) this.#open.delete(source);
    this.passLine(source, line);
    return masked;
  }

  /** The parts of a line with values that rules find only together with the lines before; undefined if there are none. */
  #partsWithKeysBefore(open: OpenLines, line: string): readonly FieldPart[] | undefined {
    const { key, text, indent, isInLog } = open;
    if (isInLog === true || line.length > (key === 'rows' ? LONGEST_ROW : LONGEST)) return undefined;
    const isRight = (key !== 'below' && key !== 'block') || indentOf(line) > indent;
    if ((!isRight || key === 'answer') && !isAnswer(line)) return undefined;
    const from = text.length + 1;
    const own = this.#texts.find(line);
    const found = this.#texts
      .find(`${text}\n${line}`)
      .filter(({ end }) => end > from)
      .map(({ rule, start, end }) => ({
        rule,
        start: start >= from ? start - from : startOfPart(line),
        end: end - from,
      }))
      .filter(({ start, end }) => start < end)
      .filter(({ start, end }) => !own.some((one) => one.start <= start && end <= one.end));
    if (found.length === 0) return undefined;
    const parts: FieldPart[] = [];
    let copied = 0;
    for (const { rule, start, end } of found) {
      if (start < copied) continue;
      parts.push(
        { text: line.slice(copied, start), rule: undefined },
        { text: line.slice(start, end), rule },
      );
      copied = end;
    }
    return [...parts, { text: line.slice(copied), rule: undefined }];
  }
}

const opened = (key: OpenKey, line: string, isInLog: boolean): OpenLines => ({
  isInLog,
  key,
  text: line,
  indent: indentOf(line),
  left: typeof key === 'number' ? key : key === 'rows' || key === 'block' ? MOST_ROWS : MOST_LINES,
});

/** What is open after a further line. */
function continued(open: OpenLines | undefined, line: string, hasValue: boolean): OpenLines | undefined {
  if (open === undefined || open.left <= 1) return undefined;
  const left = open.left - 1;
  if (typeof open.key === 'number') return { ...open, left };
  switch (open.key) {
    case 'rows':
      if (open.isInLog === true) return UNDERLINE.test(line) ? { ...open, left, isInLog: false } : undefined;
      return hasValue || BETWEEN_ROWS.test(line) || isRowOf(open.text, line) ? { ...open, left } : undefined;
    case 'block':
      return line.trim() === '' || indentOf(line) > open.indent ? { ...open, left } : undefined;
    default:
      if (hasValue && open.key === 'below' && ITEM.test(line) && open.text.indexOf('\n') === -1)
        return { ...open, key: 'block', left: MOST_ROWS };
      if (hasValue && !OLD_VALUE.test(line)) return undefined;
      if (open.key === 'below' && line.trim() !== '' && !(FIELD.test(line) && indentOf(line) > open.indent))
        return undefined;
      return open.text.length + line.length > LONGEST
        ? undefined
        : { ...open, text: `${open.text}\n${line}`, left };
  }
}
