import type { KeyName, Vocabulary } from './vocabulary.ts';

/** A name in a text. */
export interface FoundName {
  readonly start: number;
  /** Behind its last word, without suffixes. */
  readonly end: number;
  readonly entry: KeyName;
  /** Worked out by {@link KeyNames.endsOf}. */
  ends?: readonly number[];
}

/** How words of a name are joined. */
const JOINTS: Readonly<Record<string, string>> = {
  ' ': '[_. -]?',
  '-': '[_-]{0,2}',
  '.': '(?:\\.|->|::)?',
};
const SEPARATORS = ['', '_', '-', '.', ' ', '__'];
/** So many letters of a word in front of a name make a literal rare enough. */
const LETTERS_BEFORE = 4;

const byLength = (a: string, b: string) => b.length - a.length;
const plain = (text: string) => text.toLowerCase().replace(/[_. :>-]/g, '');
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/**
 * Finds names in texts.
 *
 * @example
 * const apiKey = { name: 'api key', kind: 'token' };
 * new KeyNames([apiKey], { suffixes: ['old'], marks: '(?!)' }).in('githubApiKey=x'); // [{ start: 6, end: 12, entry: apiKey }]
 */
export class KeyNames {
  readonly #starts = new NameStarts();
  /** Sticky. */
  readonly #expression: RegExp;
  readonly #entries = new Map<string, CompiledName[]>();
  /** Names come again and again in the same spelling. */
  readonly #known = new Map<string, readonly CompiledName[]>();
  readonly #suffix: RegExp;
  readonly #marks: RegExp;
  #last: { readonly text: string; readonly found: readonly FoundName[] } | undefined;

  constructor(names: readonly KeyName[], { suffixes, marks }: Pick<Vocabulary, 'suffixes' | 'marks'>) {
    const sources = new Map<string, string>();
    for (const entry of names) {
      const known = this.#entries.get(plain(entry.name));
      if (known === undefined) this.#entries.set(plain(entry.name), [compileName(entry)]);
      else known.push(compileName(entry));
      sources.set(sourceOf(entry), entry.name);
      this.#starts.add(entry.name);
    }
    // The longest first: `passphrase` rather than `pass`.
    const longestFirst = [...sources].sort(([, a], [, b]) => byLength(a, b)).map(([source]) => source);
    this.#expression = new RegExp(longestFirst.join('|'), 'iy');
    this.#suffix = new RegExp(`[_. -]?(?:${suffixes.toSorted(byLength).join('|')})`, 'iy');
    this.#marks = new RegExp(`(?:${marks}){1,3}`, 'iy');
  }

  /** The names in a text, from the left to the right. Rules ask about the same text one after the other. */
  in(text: string): readonly FoundName[] {
    if (this.#last?.text === text) return this.#last.found;
    const found: FoundName[] = [];
    const expression = this.#expression;
    for (let at = this.#starts.next(text, 0); at !== -1; at = this.#starts.next(text, at + 1)) {
      const end = matchEnd(expression, text, at);
      if (end === -1) continue;
      for (const name of this.#entriesOf(text.slice(at, end))) {
        if (isNameAt(text, at, name)) found.push({ start: at, end, entry: name.entry });
      }
    }
    this.#last = { text, found };
    return found;
  }

  #entriesOf(written: string): readonly CompiledName[] {
    let entries = this.#known.get(written);
    if (entries === undefined) {
      entries = (this.#entries.get(plain(written)) ?? []).filter(({ whole }) => whole.test(written));
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(written, entries);
    }
    return entries;
  }

  /**
   * Where a key with a name may end, the furthest first: words such as `old`, numbers, and brackets may follow the name. They
   * may also belong to what comes after the key, as in `--password admin`.
   */
  endsOf(text: string, name: FoundName): readonly number[] {
    name.ends ??= this.#endsAfter(text, name.end);
    return name.ends;
  }

  #endsAfter(text: string, end: number): readonly number[] {
    const ends = [end];
    const plural = text[end] === 's' || text[end] === 'S' ? end + 1 : end;
    if (plural > end) ends.push(plural);
    let at = plural;
    for (let i = 0; i < MOST_SUFFIXES; i++) {
      const next = matchEnd(this.#suffix, text, at);
      if (next === -1) break;
      ends.push(next);
      at = next;
    }
    for (const before of [...ends]) {
      const marks = matchEnd(this.#marks, text, before);
      if (marks !== -1) ends.push(marks);
    }
    return ends.length === 1 ? ends : ends.sort((a, b) => b - a);
  }
}

const MOST_KNOWN = 1000;
/** With so many slots, few texts that start no name have that of one. */
const BITS = 15;
const ANY = Array.from({ length: 256 }, (_, unit) => unit);

const JOINT = -1;

/** Places where a name may start, by the first three characters. */
class NameStarts {
  readonly #slots = new Uint8Array(1 << BITS);

  add(name: string): void {
    for (const cased of [name.toLowerCase(), name.toUpperCase()]) {
      const [a = 0, b = 0, c] = [...cased].map((character) =>
        Object.hasOwn(JOINTS, character) ? JOINT : character.charCodeAt(0),
      );
      // Words may be joined in several ways.
      for (const third of c === undefined || c === JOINT ? ANY : [c]) this.#slots[slotOf(a, b, third)] = 1;
    }
  }

  /** The first place at or after another one, or −1. */
  next(text: string, from: number): number {
    const slots = this.#slots;
    const last = text.length - 2;
    let [a, b] = [text.charCodeAt(from), text.charCodeAt(from + 1)];
    for (let at = from; at <= last; at++) {
      const c = text.charCodeAt(at + 2);
      if (slots[slotOf(a, b, c)] === 1) return at;
      a = b;
      b = c;
    }
    return -1;
  }
}

/** A slot for three characters in either case. Beyond the end of a string, a character is no number, which counts as 0. */
const slotOf = (a: number, b: number, c: number): number =>
  Math.imul((a & 0xff) | 0x20 | (((b & 0xff) | 0x20) << 8) | (((c & 0xff) | 0x20) << 16), 0x9e3779b1) >>>
  (32 - BITS);

const MOST_SUFFIXES = 2;

/** Where a sticky expression ends that matches at a place, or −1. */
export function matchEnd(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : -1;
}

/** An expression for a name. */
const sourceOf = ({ name }: KeyName): string =>
  name
    .split(/([ .-])/)
    .map((part) => JOINTS[part] ?? escaped(part))
    .join('');

/** An entry, with the words that have to stand in front of its name. */
interface CompiledName {
  readonly entry: KeyName;
  readonly whole: RegExp;
  readonly after: WordsBefore | undefined;
  readonly onlyAfter: WordsBefore | undefined;
  readonly notAfter: WordsBefore | undefined;
}

const compileName = (entry: KeyName): CompiledName => ({
  entry,
  whole: new RegExp(`^(?:${sourceOf(entry)})$`, 'i'),
  after: entry.after && new WordsBefore(entry.after, ''),
  onlyAfter: entry.only_after && new WordsBefore(entry.only_after, '(?:[_. -]|__)?'),
  notAfter: entry.not_after && new WordsBefore(entry.not_after, '(?:[_. -]|__)?'),
});

function isNameAt(text: string, start: number, { entry, after, onlyAfter, notAfter }: CompiledName): boolean {
  if (notAfter?.endAt(text, start) === true) return false;
  if (onlyAfter !== undefined) return onlyAfter.endAt(text, start);
  if (entry.start === undefined || isWordStart(text, start)) return true;
  return after?.endAt(text, start) === true;
}

/** Words in front of a name. */
class WordsBefore {
  readonly #words: readonly string[];
  /** Sticky. It says quickly that there is none, as in most places. */
  readonly #any: RegExp;

  constructor(words: readonly string[], separator: string) {
    this.#words = words;
    this.#any = new RegExp(`(?<=(?:${words.map(escaped).join('|')})${separator})`, 'iy');
  }

  /** Whether one of them ends in front of a name. If the name starts as a word, the word in front of it does too. */
  endAt(text: string, start: number): boolean {
    if (matchEnd(this.#any, text, start) === -1) return false;
    let end = start;
    while (start - end < 2 && SEPARATOR.test(text[end - 1] as string)) end--;
    if (end === start && !isWordStart(text, start)) return true;
    const before = text.slice(Math.max(0, end - LONGEST_WORD), end).toLowerCase();
    return this.#words.some((word) => before.endsWith(word) && isWordStart(text, end - word.length));
  }
}

const SEPARATOR = /[_. -]/;
const LONGEST_WORD = 30;

/** Whether a word starts at a place: `P` of `dbPass`, `DBPass` and `db_pass`, but not of `compass`. */
function isWordStart(text: string, at: number): boolean {
  const before = text[at - 1] ?? '';
  if (!/[\p{L}\p{N}]/u.test(before) || ENCODED.test(text.slice(Math.max(0, at - 3), at))) return true;
  const [first = '', second = ''] = [text[at], text[at + 1]];
  if (!/\p{Lu}/u.test(first)) return false;
  return /[\p{Ll}\p{N}]/u.test(before) || /\p{Ll}/u.test(second);
}

/** A character in percent encoding, or an escape of JSON. */
const ENCODED = /%[0-9A-F]{2}$|\\[nrt]$/i;

/** Literals in lower case of which a text has one if it has one of the names. */
export function literalsOf(names: readonly KeyName[]): string[] {
  return [...new Set(names.flatMap(literalsOfName))];
}

function literalsOfName({ name, only_after, opens }: KeyName): readonly string[] {
  const lower = name.toLowerCase();
  const words = lower.split(' ');
  if (opens !== undefined) {
    const last = /[^ .]*$/.exec(lower)?.[0] ?? lower;
    return opens.map((opening) => last + opening);
  }
  if (only_after !== undefined && words.length === 1) {
    return only_after.flatMap((word) => joined(word, lower));
  }
  if (words.length === 1) {
    const parts = lower.split('-');
    return [parts.reduce((a, b) => (b.length > a.length ? b : a))];
  }
  // Two words together are rarer than each.
  const pairs = words.slice(1).map((word, i) => [words[i] as string, word] as const);
  const [first, second] = pairs.reduce((a, b) => (b.join('').length > a.join('').length ? b : a));
  return joined(first, second);
}

const joined = (first: string, second: string): string[] =>
  SEPARATORS.map((separator) => first.slice(-LETTERS_BEFORE) + separator + second);
