import type { Finding } from './find-values.ts';

/** What masks the lines of one stream. */
export interface StreamMasking {
  /** Characters of the longest literal that a rule is found by. */
  readonly longestLiteral: number;
  /** Whether a rule may match in some characters of a line, or in these and what follows them. */
  readonly mayChange: (text: string) => boolean;
  /** Whether lines before this one have to be known to mask it: its key is in one of them, or it is in a block. */
  readonly isOpen: () => boolean;
  /** The next line, without LF. */
  readonly maskLine: (line: string) => string;
  /** Instead of {@link maskLine} for a line in which nothing is masked. */
  readonly pass: (line: string) => void;
  /** What rules find in a part of a line, in what is written and in what a reader sees of it. */
  readonly find: (text: string) => readonly Finding[];
  readonly replace: (value: string, rule: string) => string;
  /** Told of a value that was masked outside of {@link maskLine}. */
  readonly count: (rule: string) => void;
  /** Whether there are rules without literals, such as those for numbers of several words. */
  readonly findsWords: boolean;
  /** Whether a value may stand before all that says so, at any distance: then a line leaves as a whole. */
  readonly wholeLines: boolean;
  /** Whether a line can be masked only when it is complete, because fields of JSON have policies. */
  readonly isOneDocument: (line: string) => boolean;
}

/** Characters. By default, this many of a line are held at most. */
export const MOST_HELD = 65_536;
export const LEAST_HELD = 16_384;

/** How many characters after a value may follow before the word that says what it is: `h7!k is your new password`. */
const LONGEST_SUFFIX = 120;

/** Characters between words: white space, and letters of scripts that are written without it, each of which is a word by itself. */
const BETWEEN = String.raw`\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303f\uff00-\uffef`;
/** A character of a word. */
const IN = `[^${BETWEEN}]`;
/** Words that no rule masks because of what stands after them: words of a language, and marks of a sentence. */
const ORDINARY = String.raw`\(?(?:\p{L}\p{Ll}*|\p{Lu}+)(?:['’/-]\p{L}?\p{Ll}+)*[.,;:!?)…]*(?!${IN})`;
/** What stands between a value and the words that say what it is. */
const SAYS = String.raw`(?:(?:is|as|als|ist|est|comme|es|como|è|come|jest)\s|[\d(])`;
/**
 * A word that looks like a password, a word that may be a value because of what follows it, an attribute in front of the one with
 * its name, and the start of a block.
 */
const MARKED = new RegExp(
  String.raw`(?<!${IN})(?=${IN}*\p{L})(?=${IN}*(?:\d|[!@#$%^&*?~+][^\s.,;:!?)]))${IN}{6,}|` +
    String.raw`(?<!${IN})(?!${ORDINARY})${IN}+(?=\s*$|\s+(?:\S{1,6}$|${SAYS}))|\b(?:value|content)\s?=\S*|-{4}.*`,
  'gu',
);

/** Words that stay, and what stands between words. */
interface Words {
  readonly held: RegExp;
  readonly between: RegExp;
}
const WORDS: Words = { held: MARKED, between: new RegExp(`[${BETWEEN}]`, 'u') };
/** For rules without literals, each word that is not ordinary may be a value, such as an address in letters of any script. */
const ALL_WORDS: Words = { held: new RegExp(`(?<!\\S)(?!${ORDINARY})\\S+`, 'gu'), between: /\s/ };

/** By so many characters at its start, an encoded word is known. */
const LONGEST_START = 24;
/** Of the characters that are held, this many at the end may be the start of a value when the others have to leave. */
const LONGEST_VALUE = 4096;
/** Of a line of which a part has left, this many characters before the rest say what it is. */
const CONTEXT = 1024;

/** What a line is replaced by that is too long to be masked. */
const LONG_LINE = 'long-line';

const LOW_SURROGATE = /[\udc00-\udfff]/;
const END_OF_VALUE = /[\s"'`,;&|<>)\]}]/;

/**
 * Masks a text that arrives in pieces. Nothing of a value leaves before the value is masked, however the text is cut:
 *
 * 1. What leaves before the end of its line has no literal of a rule, so no rule matches in it. It leaves word by word: the last
 *    one may go on.
 * 2. Some rules know a value by what follows it. So words that may be one stay until {@link LONGEST_SUFFIX} further characters have
 *    said nothing of them.
 * 3. As soon as a line has a literal, the rest of it stays until its end, and is masked with the line.
 * 4. A line longer than `mostHeld` leaves in parts, each but for its end, which may be the start of a value. One that can be masked
 *    only as a whole is replaced.
 */
export class StreamMasker {
  readonly #masking: StreamMasking;
  readonly #mostHeld: number;
  readonly #overlap: number;
  readonly #words: Words;
  /** The last line, from its start, or from {@link CONTEXT} characters before what has not left. */
  #line = '';
  /** How much of it has left. */
  #sent = 0;
  /** How much of it was searched for literals. */
  #searched = 0;
  /** Where its last word starts, which may go on. */
  #word = 0;
  /** Whether nothing leaves before the end of the line. */
  #isHeld = false;
  /** Whether the start of the line is lost, so that it is masked by what is found in the rest. */
  #isCut = false;
  /** Whether what comes next belongs to a value that was masked already. */
  #isInValue = false;
  /** Whether the rest of the line is left out, because it is too long to be masked. */
  #isLost = false;

  /** @param mostHeld characters */
  constructor(masking: StreamMasking, mostHeld: number) {
    this.#masking = masking;
    this.#mostHeld = mostHeld;
    this.#overlap = Math.max(masking.longestLiteral + 4, LONGEST_START);
    this.#words = masking.findsWords ? ALL_WORDS : WORDS;
    this.#isHeld = masking.isOpen();
  }

  /** How many characters have not left. */
  get held(): number {
    return this.#line.length - this.#sent;
  }

  /** The next piece. Returns what leaves now. */
  write(piece: string): string {
    let masked = '';
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      masked += `${this.#finish(piece.slice(start, end))}\n`;
      start = end + 1;
    }
    this.#take(start === 0 ? piece : piece.slice(start));
    return masked + this.#advance();
  }

  /** What has been held long enough, except for the start of a value, which is masked together with what follows it. */
  flush(): string {
    const { isOpen, isOneDocument } = this.#masking;
    if (this.held === 0 || isOpen() || isOneDocument(this.#line)) return '';
    const { length } = this.#line;
    const findings = this.#masking.find(this.#line);
    if (findings.some(({ end }) => end === length)) {
      const masked = this.#maskedUpTo(length, findings);
      this.#isInValue = true;
      return masked;
    }
    // A key, and a word that is not complete: the word may be the start of a value.
    const end = this.#isHeld ? this.#line.search(/(?<!\S)\S*[^\s:=>?]$|$/) : length;
    return this.#maskedUpTo(Math.max(end, this.#sent), findings);
  }

  /** The rest, after the last piece. */
  end(): string {
    const isEmpty = this.#line === '' && !this.#isCut;
    return isEmpty ? '' : this.#finish('');
  }

  #take(piece: string): void {
    if (this.#isLost) return;
    let rest = piece;
    if (this.#isInValue && piece !== '') {
      const end = piece.search(END_OF_VALUE);
      rest = end === -1 ? '' : piece.slice(end);
      this.#isInValue = end === -1;
    }
    let word = rest.length;
    while (word > 0 && !this.#words.between.test(rest[word - 1] as string)) word--;
    if (word > 0) this.#word = this.#line.length + word;
    this.#line += rest;
  }

  #finish(piece: string): string {
    this.#take(piece);
    this.#isInValue = false;
    if (!this.#isHeld) this.#search();
    const masked = this.#isLost ? '' : this.#restOfLine();
    this.#forget();
    this.#isCut = false;
    this.#isLost = false;
    this.#isHeld = this.#masking.isOpen();
    return masked;
  }

  #forget(): void {
    this.#line = '';
    this.#sent = 0;
    this.#searched = 0;
    this.#word = 0;
  }

  #restOfLine(): string {
    const { maskLine, pass } = this.#masking;
    const line = this.#line;
    const end = line.endsWith('\r') ? '\r' : '';
    if (!this.#isHeld) {
      pass(line);
      return line.slice(this.#sent);
    }
    if (this.#isCut) return this.#maskedUpTo(line.length, this.#masking.find(line));
    const sent = line.slice(0, this.#sent);
    const masked = maskLine(end === '' ? line : line.slice(0, -1)) + end;
    if (masked.startsWith(sent)) return masked.slice(sent.length);
    return this.#maskedUpTo(line.length, this.#masking.find(line));
  }

  /** Searches what is new, and what may be the start of a literal or of an encoded word before it. */
  #search(): void {
    const { mayChange, wholeLines, findsWords } = this.#masking;
    const before = this.#searched - this.#overlap;
    const from = Math.max(0, findsWords ? Math.min(before, this.#sent) : before);
    this.#isHeld = wholeLines || mayChange(from === 0 ? this.#line : this.#line.slice(from));
    this.#searched = this.#line.length;
  }

  #advance(): string {
    if (this.#searched === this.#line.length) return '';
    if (!this.#isHeld) this.#search();
    const masked = this.#isHeld ? '' : this.#upTo(this.#firstUnusual());
    if (this.held > this.#mostHeld) return masked + this.#cut();
    // A line that never ends, such as that of a progress bar, must not be kept from its start.
    if (this.#sent > this.#mostHeld) this.#forgetSent();
    return masked;
  }

  /** Where the first word starts that has to stay. */
  #firstUnusual(): number {
    const line = this.#line;
    // A word that goes on and on is not read again with each piece.
    if (this.#word <= this.#sent) return this.#sent;
    const { held } = this.#words;
    held.lastIndex = this.#sent;
    for (let word = held.exec(line); word !== null; word = held.exec(line)) {
      if (line.length - held.lastIndex < LONGEST_SUFFIX) return word.index;
    }
    return this.#word;
  }

  /** What leaves as it is. */
  #upTo(end: number): string {
    const sent = this.#line.slice(this.#sent, end);
    this.#sent = end;
    return sent;
  }

  /** Lets most of a line leave that is longer than what may be held. */
  #cut(): string {
    const line = this.#line;
    const { isOneDocument, isOpen, maskLine, count, replace } = this.#masking;
    if (isOneDocument(line)) {
      this.#forget();
      this.#isLost = true;
      count(LONG_LINE);
      return replace(line, LONG_LINE);
    }
    if (isOpen()) {
      this.#forget();
      return maskLine(line);
    }
    const findings = this.#masking.find(line);
    const { length } = line;
    const rest = line.slice(this.#sent, length - LONGEST_VALUE);
    const boundary = /[\s"'`,;&|<>)\]}](?=[^\s"'`,;&|<>)\]}]*$)/.exec(rest);
    let end = boundary === null ? length - LONGEST_VALUE : this.#sent + boundary.index + 1;
    // Both halves of a surrogate pair leave together: UTF-8 has none of a half.
    if (LOW_SURROGATE.test(line[end] as string)) end--;
    const crossing = findings.find((found) => found.start < end && found.end > end);
    if (crossing !== undefined) end = crossing.start > this.#sent ? crossing.start : crossing.end;
    const masked = this.#maskedUpTo(end, findings);
    this.#isInValue = end === length;
    this.#forgetSent();
    return masked;
  }

  /** Forgets what has left of the line, except for {@link CONTEXT}. */
  #forgetSent(): void {
    const from = Math.max(0, this.#sent - CONTEXT);
    this.#line = this.#line.slice(from);
    this.#sent -= from;
    this.#word = Math.max(0, this.#word - from);
    this.#searched = this.#line.length;
    this.#isCut ||= from > 0;
  }

  /** Lets a part of the line leave, with what is found in it replaced. */
  #maskedUpTo(end: number, findings: readonly Finding[]): string {
    const { replace, count } = this.#masking;
    let masked = '';
    let copied = this.#sent;
    for (const { rule, start, end: stop } of findings) {
      if (stop <= copied || start >= end) continue;
      const from = Math.max(copied, start);
      masked += this.#line.slice(copied, from) + replace(this.#line.slice(from, stop), rule);
      count(rule);
      copied = stop;
    }
    if (copied < end) masked += this.#line.slice(copied, end);
    this.#sent = Math.max(end, copied);
    return masked;
  }
}
