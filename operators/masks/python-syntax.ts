import { ExpressionError } from './expression-error.ts';
import { letterEscape, notKnown } from './python-escapes.ts';

export interface Translation {
  /** The expression in JavaScript's syntax, valid with and without the `u` flag. */
  readonly source: string;
  /** Whether it means the right thing only with the `u` flag. */
  readonly needsUnicode: boolean;
}

const QUANTIFIER = /\{(\d*)(,?)(\d*)\}/y;
const NAMED_GROUP = /\(\?P?<([^>=!][^>]*)>/y;
const NAMED_REFERENCE = /\(\?P=([^)]*)\)/y;
const COMMENT = /\(\?#[^)]*\)/y;
const POSIX_CLASS = /\[:\^?[a-z]+:\]/y;
/** Escapes of more than one letter; the others are looked up in `letterEscape`. */
const LONG_ESCAPE =
  /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|U[0-9A-Fa-f]{8}|[pP]\{[^}]*\}|k<[^>]+>|c[A-Za-z])/y;
const NUMBER = /\\\d+/y;

/**
 * Translates an expression, without its leading flags, from Python's spellings.
 *
 * @throws ExpressionError for what JavaScript would silently take for something else.
 */
export function translate(expression: string): Translation {
  return new Translator(expression).run();
}

/** Each method takes one piece of the expression and returns it in JavaScript's spelling. */
class Translator {
  readonly #text: string;
  #at = 0;
  #inClass = false;
  #needsUnicode = false;
  #groups = 0;
  #highestReference = 0;
  readonly #names = new Set<string>();
  readonly #referencedNames = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  run(): Translation {
    let source = '';
    while (this.#at < this.#text.length) source += this.#inClass ? this.#classMember() : this.#term();
    if (this.#highestReference > this.#groups) {
      throw new ExpressionError(`\\${this.#highestReference} refers to a group that is not there`);
    }
    for (const name of this.#referencedNames) {
      if (!this.#names.has(name)) throw new ExpressionError(`there is no group named ${name} to refer to`);
    }
    return { source, needsUnicode: this.#needsUnicode };
  }

  #term(): string {
    switch (this.#text[this.#at]) {
      case '\\':
        return this.#backslash();
      case '(':
        return this.#group();
      case '[':
        return this.#openClass();
      case '{':
        return this.#brace();
      case '}':
      case ']':
        return this.#literal();
      default:
        return this.#character();
    }
  }

  #group(): string {
    if (this.#take(COMMENT) !== undefined) return '';
    const named = this.#take(NAMED_GROUP)?.[1];
    if (named !== undefined) {
      this.#groups++;
      this.#names.add(named);
      return `(?<${named}>`;
    }
    const reference = this.#take(NAMED_REFERENCE)?.[1];
    if (reference !== undefined) {
      this.#referencedNames.add(reference);
      return `\\k<${reference}>`;
    }
    if (this.#text[this.#at + 1] !== '?') this.#groups++;
    return this.#character();
  }

  #openClass(): string {
    const open = this.#text[this.#at + 1] === '^' ? '[^' : '[';
    this.#at += open.length;
    if (this.#text[this.#at] === ']') {
      throw new ExpressionError(
        `${open}] means different things to Python and JavaScript; write ${open}\\]…] for a bracket, [\\s\\S] for any character`,
      );
    }
    this.#inClass = true;
    return open;
  }

  #classMember(): string {
    const character = this.#text[this.#at];
    if (character === '\\') return this.#backslash();
    if (character === '[') {
      if (this.#take(POSIX_CLASS) === undefined) return this.#literal();
      throw new ExpressionError('POSIX classes, as in [[:alpha:]], are not supported; write a-zA-Z');
    }
    if (character === ']') this.#inClass = false;
    return this.#character();
  }

  /** A quantifier, or a brace that stands for itself. */
  #brace(): string {
    const quantifier = this.#take(QUANTIFIER);
    if (quantifier === undefined) return this.#literal();
    const [all, minimum, comma, maximum] = quantifier;
    if (minimum !== '') return all;
    return comma === '' ? '\\{\\}' : `{0,${maximum}}`;
  }

  #backslash(): string {
    const long = this.#take(LONG_ESCAPE)?.[0];
    if (long !== undefined) return this.#longEscape(long);
    const number = this.#take(NUMBER)?.[0];
    if (number !== undefined) return this.#octalOrReference(number.slice(1));
    this.#at++;
    const character = this.#text[this.#at];
    if (character === undefined) throw new ExpressionError('\\ at the end');
    if (/[A-Za-z]/.test(character)) {
      this.#at++;
      return letterEscape(character, this.#inClass);
    }
    const hasMeaning = this.#inClass ? /[-$^\\.*+?()[\]{}|/]/ : /[$^\\.*+?()[\]{}|/]/;
    // Needless escapes, such as `\@`, are mistakes with the `u` flag.
    return hasMeaning.test(character) ? this.#literal() : this.#character();
  }

  #longEscape(text: string): string {
    if (text.startsWith('\\k')) {
      if (this.#inClass) throw notKnown('\\k', true);
      this.#referencedNames.add(text.slice(3, -1));
    }
    if (/^\\(?:p|P|U|u\{)/.test(text)) this.#needsUnicode = true;
    return text.startsWith('\\U') ? `\\u{${text.slice(2)}}` : text;
  }

  /** JavaScript takes a reference to a group that is not there for an octal code, and `\0` only alone. */
  #octalOrReference(digits: string): string {
    const octal = /^(?:0[0-7]{0,2}|[1-3][0-7]{2})/.exec(digits)?.[0];
    if (octal !== undefined) {
      const hex = Number.parseInt(octal, 8).toString(16).padStart(2, '0');
      return `\\x${hex}${digits.slice(octal.length)}`;
    }
    if (this.#inClass) throw new ExpressionError(`\\${digits} inside […]: a class holds no references`);
    this.#highestReference = Math.max(this.#highestReference, Number(digits));
    // A digit may follow it, after a comment.
    return `(?:\\${digits})`;
  }

  /** The character at hand, escaped: it stands for itself. */
  #literal(): string {
    return `\\${this.#character()}`;
  }

  /** The character at hand, as it is. */
  #character(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) as number);
    if (character.length === 2) this.#needsUnicode = true;
    this.#at += character.length;
    return character;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match;
  }
}
