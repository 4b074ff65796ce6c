import type { Fields, Parser } from './formats.ts';
import { COLOUR, ESCAPE } from './level.ts';

/** A no-break space and its like are parts of words. */
const SPACES = ' \t\r\n\v\f';

/** A longer line would become an event with millions of fields. */
const MOST_PAIRS = 1000;
/** A word that may stand for `word=true`. What may be a secret must not become the name of a field, where few masks look. */
const FLAG = /^[A-Za-z][A-Za-z_.-]{0,31}$/;

/**
 * Parses `level=info msg="it works"`, as Go's libraries write it. All values are strings, and a list of strings for a key
 * that is there several times. A single word between pairs is a key whose value is true. Others become `rest`, unless
 * they are more than the pairs: then the line is a sentence, and not logfmt.
 *
 * @param delimiter between pairs. Default: white space.
 */
export function logfmtParser(delimiter?: string): Parser {
  const classes = classesOf(delimiter);
  return (text) => {
    const fields = new FieldList();
    let pairs = 0;
    let words: string[] = [];
    const others: string[] = [];
    const endOfWords = () => {
      const [word = ''] = words;
      if (words.length === 1 && FLAG.test(word)) fields.add(word, true);
      else others.push(...words);
      words = [];
    };
    const scan = new Scan(text, classes);
    while (!scan.isAtEnd) {
      const part = scan.next();
      if (part === undefined || pairs + others.length + words.length >= MOST_PAIRS) return undefined;
      if (part.value === undefined) {
        words.push(part.key);
      } else {
        endOfWords();
        pairs++;
        fields.add(part.key, part.value);
      }
    }
    endOfWords();
    if (pairs === 0 || others.length > pairs) return undefined;
    if (others.length > 0) fields.add('rest', others.join(' '));
    return fields.toFields();
  };
}

/** Runs of characters, each from `lastIndex` on. */
interface Classes {
  readonly delimiter: string | undefined;
  readonly spaces: RegExp;
  readonly gap: RegExp;
  readonly key: RegExp;
  readonly word: RegExp;
  readonly value: RegExp;
}

function classesOf(delimiter: string | undefined): Classes {
  const stop = delimiter === undefined ? SPACES : delimiter.replace(/[\\\]^-]/g, '\\$&');
  return {
    delimiter,
    spaces: new RegExp(`[${SPACES}]*`, 'y'),
    gap: new RegExp(`[${SPACES}${stop}]*`, 'y'),
    key: new RegExp(`[^="${stop}]*`, 'y'),
    word: new RegExp(`[^"${stop}]*`, 'y'),
    value: new RegExp(`[^${stop}]*`, 'y'),
  };
}

/** Goes through a line pair by pair. Not an expression, since the engines take seconds for long quotes that are not closed. */
class Scan {
  readonly #text: string;
  readonly #classes: Classes;
  #at = 0;

  constructor(text: string, classes: Classes) {
    this.#text = text;
    this.#classes = classes;
    this.#run(classes.gap);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** A pair, or a word without a value; undefined for quotes that are wrong. */
  next(): { readonly key: string; readonly value?: string } | undefined {
    const quotedKey = this.#quoted('"');
    const start = this.#at;
    if (quotedKey === undefined) {
      // A word may start with the sign: `=x` is no pair.
      this.#run(this.#text[start] === '=' ? this.#classes.word : this.#classes.key);
    }
    const key = quotedKey ?? bare(this.#text.slice(start, this.#at));
    if (this.#text[this.#at] !== '=') return quotedKey === undefined && this.#end() ? { key } : undefined;
    this.#at++;
    const value = this.#value();
    return value === undefined ? undefined : { key, value };
  }

  #value(): string | undefined {
    if (this.#classes.delimiter !== undefined) this.#run(this.#classes.spaces);
    const start = this.#at;
    const quoted = this.#quoted('"');
    if (quoted !== undefined) return this.#end() ? quoted : undefined;
    const single = this.#quoted("'");
    if (single !== undefined && this.#end()) return single;
    this.#at = start;
    if (this.#text[start] === '"') return undefined;
    this.#run(this.#classes.value);
    const value = this.#text.slice(start, this.#at);
    this.#end();
    // With an open quote, the value may continue after the space.
    return hasOpenQuote(value) ? undefined : bare(value);
  }

  /** What is in quotes here; undefined if nothing is, or they are not closed. */
  #quoted(quote: string): string | undefined {
    if (this.#text[this.#at] !== quote) return undefined;
    const start = this.#at + 1;
    let close = this.#text.indexOf(quote, start);
    while (close !== -1 && this.#isEscaped(start, close)) close = this.#text.indexOf(quote, close + 1);
    if (close === -1) return undefined;
    this.#at = close + 1;
    return unescaped(this.#text.slice(start, close));
  }

  #isEscaped(start: number, at: number): boolean {
    let first = at;
    while (first > start && this.#text[first - 1] === '\\') first--;
    return (at - first) % 2 === 1;
  }

  /** Whether a pair ends here; goes on to the next one. */
  #end(): boolean {
    const { gap, delimiter } = this.#classes;
    const start = this.#at;
    this.#run(gap);
    if (this.isAtEnd) return true;
    return delimiter === undefined ? this.#at > start : this.#text.slice(start, this.#at).includes(delimiter);
  }

  /** Each of these takes one class of characters, so none ever goes back. */
  #run(expression: RegExp): void {
    expression.lastIndex = this.#at;
    expression.test(this.#text);
    this.#at = expression.lastIndex;
  }
}

/** Console writers colour keys and values. */
function bare(text: string): string {
  const plain = withoutSpaces(text);
  return plain.includes(ESCAPE) ? plain.replace(COLOUR, '') : plain;
}

/** Without white space at the end. */
function withoutSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\r\n\v\f'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function hasOpenQuote(text: string): boolean {
  let isOpen = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) isOpen = !isOpen;
  return isOpen;
}

/** Fields in their order; several values of one are a list. */
class FieldList {
  readonly #values = new Map<string, unknown[]>();

  add(field: string, value: unknown): void {
    const values = this.#values.get(field);
    if (values === undefined) this.#values.set(field, [value]);
    else values.push(value);
  }

  toFields(): Fields {
    return Object.fromEntries(
      Array.from(this.#values, ([field, values]) => [field, values.length === 1 ? values[0] : values]),
    );
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '/': '/',
};
/** The escapes of Go and of JSON. Without groups, which take eight times as long for millions of escapes. */
const ESCAPED = /(?:\\x[\da-fA-F]{2}|\\[0-3][0-7]{2})+|\\U[\da-fA-F]{8}|\\u[\da-fA-F]{4}|\\[\s\S]/g;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function unescaped(text: string): string {
  return text.includes('\\') ? text.replace(ESCAPED, character) : text;
}

/** What is no escape stays as it is, with its backslash. */
function character(sequence: string): string {
  if (sequence.length === 2) return ESCAPES[sequence.charAt(1)] ?? sequence;
  const kind = sequence.charAt(1);
  if (kind !== 'u' && kind !== 'U') return bytesOf(sequence);
  const code = Number.parseInt(sequence.slice(2), 16);
  if (kind === 'u') return String.fromCharCode(code);
  return code <= 0x10ffff ? String.fromCodePoint(code) : sequence;
}

/** `\x1b`, `\303\244`: bytes of UTF-8. */
function bytesOf(sequence: string): string {
  const escapes = sequence.match(/.{4}/gs) ?? [];
  const bytes = escapes.map((each) =>
    each.charAt(1) === 'x' ? Number.parseInt(each.slice(2), 16) : Number.parseInt(each.slice(1), 8),
  );
  try {
    return utf8.decode(Uint8Array.from(bytes));
  } catch {
    return bytes.map((byte, index) => (byte < 0x80 ? String.fromCharCode(byte) : escapes[index])).join('');
  }
}
