import { type Keyword, mayStartWord } from '../search/keyword.ts';
import { literalsOfCommand } from './command-literals.ts';
import type { KeyName, Vocabulary } from './vocabulary.ts';

/** A name in a text. */
export interface FoundName {
  readonly start: number;
  /** The place after its last word, without suffixes. */
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
/** How joints start, where they are there. */
const JOINT_STARTS: Readonly<Record<string, string>> = { ' ': '_. -', '-': '_-', '.': '.-:' };
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
  readonly #entries = new Map<string, CompiledName[]>();
  /** Names come again and again in the same spelling. */
  readonly #known = new Map<string, readonly CompiledName[]>();
  readonly #suffix: RegExp;
  readonly #marks: RegExp;
  /** Without places, it was searched as a whole. */
  #last:
    | {
        readonly text: string;
        readonly found: readonly FoundName[];
        readonly places: readonly number[] | undefined;
      }
    | undefined;

  constructor(names: readonly KeyName[], { suffixes, marks }: Pick<Vocabulary, 'suffixes' | 'marks'>) {
    for (const entry of names) {
      const known = this.#entries.get(plain(entry.name));
      if (known === undefined) this.#entries.set(plain(entry.name), [compileName(entry)]);
      else known.push(compileName(entry));
      this.#starts.add(entry);
    }
    this.#suffix = new RegExp(`[_. -]?(?:${suffixes.toSorted(byLength).join('|')})`, 'iy');
    this.#marks = new RegExp(`(?:${marks}){1,3}`, 'iy');
  }

  /**
   * The names in a text, from the left to the right. Rules ask about the same text one after the other.
   *
   * @param places pairs of the first and the last place where one may start, if that is known: see `Candidates`
   */
  in(text: string, places?: readonly number[]): readonly FoundName[] {
    const last = this.#last;
    // Other rules have other literals, and with them other places.
    if (last?.text === text && (last.places === undefined || last.places === places)) return last.found;
    const found: FoundName[] = [];
    if (places === undefined) this.#addNames(text, 0, text.length, found);
    else for (const [from, to] of joinedPlaces(places)) this.#addNames(text, from, to, found);
    this.#last = { text, found, places };
    return found;
  }

  #addNames(text: string, from: number, to: number, found: FoundName[]): void {
    const starts = this.#starts;
    for (let at = starts.next(text, from, to); at !== -1; at = starts.next(text, at + 1, to)) {
      const end = matchEnd(starts.expression, text, at);
      if (end === -1) continue;
      for (const name of this.#entriesOf(text.slice(at, end))) {
        if (isNameAt(text, at, name)) found.push({ start: at, end, entry: name.entry });
      }
    }
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
    // `S` of `secretString` is the start of a word, rather than a plural.
    for (const start of plural > end ? [plural, end] : [end]) {
      let at = start;
      for (let i = 0; i < MOST_SUFFIXES; i++) {
        const next = matchEnd(this.#suffix, text, at);
        if (next === -1) break;
        if (!ends.includes(next)) ends.push(next);
        at = next;
      }
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

/** What the character of a name at an index may be in a text. Words may be joined in several ways there. */
function unitsAt(name: string, index: number): readonly number[] {
  const character = name[index];
  if (character === undefined) return ANY;
  const units =
    (JOINT_STARTS[character] ?? character) + (character in JOINT_STARTS ? (name[index + 1] ?? '') : '');
  return [...units].map((one) => one.charCodeAt(0));
}

/** Names with the same first three characters. */
interface StartedNames {
  /** The three characters, in either case. */
  readonly three: number;
  readonly names: Set<KeyName>;
  /** Whether each character can be the fourth, in either case. Undefined if any can. */
  isFourth: Uint8Array | undefined;
  /** What the names are. Sticky. */
  expression: RegExp | undefined;
  /** Others whose characters have the same slot. */
  readonly next: StartedNames | undefined;
}

/** Places where a name may start, by the first four characters. */
class NameStarts {
  /** A bit for each slot, 1 for those that have names. So it is small enough for a cache of a processor. */
  readonly #bits = new Uint8Array(1 << (BITS - 3));
  /** Where in the list the names of each slot are, or 0. */
  readonly #slots = new Uint16Array(1 << BITS);
  readonly #list: (StartedNames | undefined)[] = [undefined];
  #found: StartedNames | undefined;

  add(entry: KeyName): void {
    const { name } = entry;
    for (const cased of [name.toLowerCase(), name.toUpperCase()]) {
      for (const third of unitsAt(cased, 2)) {
        const started = this.#namesOf(threeOf(cased.charCodeAt(0), cased.charCodeAt(1), third));
        started.names.add(entry);
        // After a joint that is not there, the fourth character is a later one.
        const isKnown = name.length > 3 && JOINT_STARTS[name[2] as string] === undefined;
        if (!isKnown) started.isFourth = undefined;
        else if (started.isFourth) for (const unit of unitsAt(cased, 3)) started.isFourth[lowered(unit)] = 1;
      }
    }
  }

  #namesOf(three: number): StartedNames {
    const slot = slotOf(three);
    const list = this.#list;
    const next = list[this.#slots[slot] as number];
    for (let names = next; names !== undefined; names = names.next) if (names.three === three) return names;
    const names = {
      three,
      names: new Set<KeyName>(),
      isFourth: new Uint8Array(256),
      expression: undefined,
      next,
    };
    this.#slots[slot] = list.push(names) - 1;
    this.#bits[slot >> 3] = (this.#bits[slot >> 3] as number) | (1 << (slot & 7));
    return names;
  }

  /** The first place from one to another, or −1. */
  next(text: string, from: number, to: number): number {
    const bits = this.#bits;
    const { length } = text;
    const last = Math.min(to, length - 2);
    // Beyond the end of a string, a character is no number, which would make the loop slow.
    const unitAt = (at: number) => (at < length ? text.charCodeAt(at) : 0);
    let a = unitAt(from);
    let b = unitAt(from + 1);
    for (let at = from; at <= last; at++) {
      const c = unitAt(at + 2);
      const three = threeOf(a, b, c);
      const slot = slotOf(three);
      if ((((bits[slot >> 3] as number) >> (slot & 7)) & 1) === 1 && this.#finds(three, unitAt(at + 3)))
        return at;
      a = b;
      b = c;
    }
    return -1;
  }

  #finds(three: number, fourth: number): boolean {
    let found = this.#list[this.#slots[slotOf(three)] as number];
    while (found !== undefined && found.three !== three) found = found.next;
    if (found === undefined || found.isFourth?.[lowered(fourth)] === 0) return false;
    this.#found = found;
    return true;
  }

  /** What the names are that may start at the place that was found last. Sticky. */
  get expression(): RegExp {
    const found = this.#found as StartedNames;
    found.expression ??= expressionFor([...found.names]);
    return found.expression;
  }
}

/** A character in either case. */
const lowered = (unit: number): number => (unit & 0xff) | 0x20;

function expressionFor(names: readonly KeyName[]): RegExp {
  // The longest first: `passphrase` rather than `pass`.
  const longestFirst = names.toSorted((a, b) => byLength(a.name, b.name)).map(sourceOf);
  return new RegExp([...new Set(longestFirst)].join('|'), 'iy');
}

const threeOf = (a: number, b: number, c: number): number =>
  lowered(a) | (lowered(b) << 8) | (lowered(c) << 16);
const slotOf = (three: number): number => Math.imul(three, 0x9e3779b1) >>> (32 - BITS);

const MOST_SUFFIXES = 2;

/** Where a sticky expression ends that matches at a place, or −1. */
export function matchEnd(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : -1;
}

/** An expression for a name. That of a command is written in one way only. */
const sourceOf = ({ name, next }: KeyName): string =>
  next !== undefined
    ? escaped(name)
    : name
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
  if (notAfter?.endAt(text, start) === true || isInToken(text, start)) return false;
  if (onlyAfter !== undefined) return onlyAfter.endAt(text, start);
  if (entry.start === undefined || isWordStart(text, start)) return true;
  return after?.endAt(text, start) === true;
}

/** Whether so much base64 stands in front of a place that letters there are no word: `Pw=` at its end is no key. */
function isInToken(text: string, at: number): boolean {
  if (at < TOKEN_LENGTH || !LETTER_OR_DIGIT.test(text[at - 1] as string)) return false;
  const before = text.slice(at - TOKEN_LENGTH, at);
  return BASE64.test(before) && (before.match(NO_LETTERS)?.length ?? 0) >= PARTS_OF_TOKEN;
}

const TOKEN_LENGTH = 40;
/** Names of classes have fewer numbers in them. */
const PARTS_OF_TOKEN = 3;
const LETTER_OR_DIGIT = /[A-Za-z0-9+/]/;
const BASE64 = /^[A-Za-z0-9+/]*$/;
const NO_LETTERS = /[0-9+/]+/g;

/** Words in front of a name. */
class WordsBefore {
  readonly #words: readonly string[];
  /** Sticky. It says quickly that there is none, as in most places. */
  readonly #any: RegExp;

  constructor(words: readonly string[], separator: string) {
    this.#words = words;
    const sources = words.map((word) => escaped(word).replaceAll(' ', '[_. -]?'));
    this.#any = new RegExp(`(?<=(?:${sources.join('|')})${separator})`, 'iy');
  }

  /** Whether one of them ends in front of a name. If the name starts as a word, the word in front of it does too. */
  endAt(text: string, start: number): boolean {
    if (matchEnd(this.#any, text, start) === -1) return false;
    let end = start;
    while (start - end < 2 && SEPARATOR.test(text[end - 1] as string)) end--;
    if (end === start && !isWordStart(text, start)) return true;
    const before = text
      .slice(Math.max(0, end - LONGEST_WORD), end)
      .toLowerCase()
      .replace(/[_.-]/g, ' ');
    return this.#words.some((word) => before.endsWith(word) && isWordStart(text, end - word.length));
  }
}

const SEPARATOR = /[_. -]/;
const LONGEST_WORD = 30;

/** Whether a word starts at a place: `P` of `dbPass`, `DBPass` and `db_pass`, but not of `compass`. */
function isWordStart(text: string, at: number): boolean {
  // Most places are decided by characters of ASCII.
  if (!mayStartWord((index) => text.charCodeAt(index), at, true)) return false;
  const before = text[at - 1] ?? '';
  if (!/[\p{L}\p{N}]/u.test(before) || ENCODED.test(text.slice(Math.max(0, at - 6), at))) return true;
  const [first = '', second = ''] = [text[at], text[at + 1]];
  if (!/\p{Lu}/u.test(first)) return false;
  return /[\p{Ll}\p{N}]/u.test(before) || /\p{Ll}/u.test(second);
}

/** A character in percent encoding, or an escape of JSON or of a log of nginx. */
const ENCODED = /(?:%[0-9A-F]{2}|\\[nrt]|\\x[0-9A-F]{2}|\\u[0-9A-F]{4})$/i;

/** Places in order, those that overlap as one. */
function joinedPlaces(places: readonly number[]): readonly (readonly [from: number, to: number])[] {
  const joined: [number, number][] = [];
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0; i < places.length; i += 2)
    pairs.push([Math.max(0, places[i] as number), places[i + 1] as number]);
  if (pairs.length > 1) pairs.sort(([a], [b]) => a - b);
  for (const [from, to] of pairs) {
    const last = joined.at(-1);
    if (last === undefined || from > last[1]) joined.push([from, to]);
    else if (to > last[1]) last[1] = to;
  }
  return joined;
}

/** Keywords of which a text has one if it has one of the names, with how far before it the name starts. */
export const literalsOf = (names: readonly KeyName[]): Keyword[] => names.flatMap(literalsOfName);

function literalsOfName(entry: KeyName): readonly Keyword[] {
  const { name, start, after, only_after, opens, next } = entry;
  const startsWord = start !== undefined && after === undefined && only_after === undefined;
  if (next !== undefined) {
    const how = start === 'alone' ? start : startsWord;
    return literalsOfCommand(entry, next).map((keyword) => ({ ...keyword, startsWord: how, back: 0 }));
  }
  const lower = name.toLowerCase();
  const words = lower.split(' ');
  if (opens !== undefined) {
    const last = /[^ .]*$/.exec(lower)?.[0] ?? lower;
    const back = longestOf(lower.slice(0, lower.length - last.length));
    return opens.map((opening) => ({ text: last + opening, startsWord: startsWord && back === 0, back }));
  }
  if (only_after !== undefined && words.length === 1) {
    return only_after.flatMap((words) => joined(words.split(' ').at(-1) as string, lower, 0));
  }
  if (words.length === 1) {
    const parts = lower.split('-');
    const longest = parts.reduce((a, b) => (b.length > a.length ? b : a));
    const back = longestOf(lower.slice(0, lower.indexOf(longest)));
    return [{ text: longest, startsWord: startsWord && back === 0, back }];
  }
  // Two words together are rarer than each.
  const pairs = words.slice(1).map((word, i) => [words[i] as string, word] as const);
  const pair = pairs.reduce((a, b) => (b.join('').length > a.join('').length ? b : a));
  return joined(...pair, longestOf(lower.slice(0, lower.indexOf(pair.join(' ')))));
}

/** How many characters a part of a name has at most: two for some joints. */
const longestOf = (part: string): number => part.length + (part.match(/[.-]/g)?.length ?? 0);

const joined = (first: string, second: string, before: number): Keyword[] =>
  SEPARATORS.map((separator) => ({
    text: first.slice(-LETTERS_BEFORE) + separator + second,
    back: before + Math.max(0, first.length - LETTERS_BEFORE),
  }));
