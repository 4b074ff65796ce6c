import { hasLoaded, scanStringForLiterals } from '../bytes/byte-masks.ts';
import { type LiteralTables, literalTables, Slots } from '../bytes/literal-tables.ts';
import { isAscii } from '../expression/literals.ts';
import {
  CandidateCollector,
  type CandidateLine,
  type Candidates,
  CharacterCursor,
  LineCollector,
} from './candidates.ts';
import type { Keyword } from './keyword.ts';
import { type Entry, entriesOf, hasEdges, isAt, upper } from './literal-entries.ts';

/** So few that they stay in the fastest cache of a processor. */
const BITS_OF_THREE = 16;
const LF = 0x0a;
/** Shorter strings are searched faster where they are. */
const SHORTEST_IN_BYTES = 32;
/** So often an index is asked before its tables take the place of another one's, which takes as long as a hundred searches. */
const PATIENCE = 1000;
/** Any character can follow a literal of two. */
const ANY = Array.from({ length: 256 }, (_, unit) => unit);

/**
 * Finds the literals of many rules in one pass over a string. It looks at each position whether the characters there, in lower
 * case, are those of a literal: six of a long one, four of a shorter one, or three, those that are rarest in logs. Only where
 * that is so, the literals are compared. `byte-masks.wat` looks at bytes in the same way.
 */
export class LiteralIndex {
  readonly #threes = new Slots<Entry>();
  readonly #fours = new Slots<Entry>();
  readonly #sixes = new Slots<Entry>();
  /** A bit for each hash of three characters, 1 for those that some literal begins with: most places need no other look. */
  readonly #begin = new Uint8Array(1 << (BITS_OF_THREE - 3));
  #tables: LiteralTables | 'none' | undefined;
  /** How often it could have been searched in bytes since that was last so. */
  #asked = 0;
  readonly #literals: readonly Entry[];
  /** Whether each character can be in a literal after its first character, or before its last one. */
  readonly #isBehind = new Uint8Array(128);
  readonly #isBefore = new Uint8Array(128);
  /** Literals of one character, which are looked for by themselves: they would have a fourth of all slots. */
  readonly #characters: readonly Entry[];
  /** Finds a character whose lower case may be in a literal, other than the letters of ASCII. */
  readonly #toLower: RegExp;

  /**
   * @param literalsOf for each rule its literals, as {@link isIndexed} takes them; undefined for a rule that is not searched
   * for. Those that are not ASCII are not found in bytes.
   */
  constructor(literalsOf: readonly (readonly Keyword[] | undefined)[]) {
    const entries = entriesOf(literalsOf);
    this.#characters = entries.filter(({ literal }) => literal.length === 1);
    this.#literals = entries.filter(({ literal }) => literal.length > 1);
    for (const entry of this.#literals) this.#add(entry);
    this.#toLower = entries.every(({ literal }) => isAscii(literal)) ? BECOMES_ASCII : BEYOND_ASCII;
  }

  /** Characters of the longest literal. */
  get longest(): number {
    return Math.max(0, ...this.#literals.map(({ literal }) => literal.length));
  }

  get isEmpty(): boolean {
    return this.#literals.length === 0 && this.#characters.length === 0;
  }

  /** What {@link linesInBytes} takes the hits of. Undefined for too many literals. */
  get tables(): LiteralTables | undefined {
    this.#tables ??= literalTables(this.#literals, [this.#threes, this.#fours, this.#sixes]) ?? 'none';
    return this.#tables === 'none' ? undefined : this.#tables;
  }

  #add(entry: Entry): void {
    const { literal, offset } = entry;
    const last = literal.length - 1;
    for (let i = 0; i <= last; i++) {
      const unit = literal.charCodeAt(i);
      for (const cased of [unit, upper(unit)]) {
        if (i > 0) this.#isBehind[cased] = 1;
        if (i < last) this.#isBefore[cased] = 1;
      }
    }
    const unitAt = (index: number) => (offset + index > last ? 0 : literal.charCodeAt(offset + index));
    const [a, b, c, d, e, f] = [unitAt(0), unitAt(1), unitAt(2), unitAt(3), unitAt(4), unitAt(5)] as const;
    const four = fourOf(a, b, c, d);
    for (const third of literal.length >= 3 ? [c] : ANY) {
      const slot = hashOf(fourOf(a, b, third, 0) & THREE) >>> (32 - BITS_OF_THREE);
      this.#begin[slot >> 3] = (this.#begin[slot >> 3] as number) | (1 << (slot & 7));
    }
    if (literal.length >= 6) this.#sixes.add(hashOfSix(four, twoOf(e, f)), entry);
    else if (literal.length >= 4) this.#fours.add(hashOf(four), entry);
    else {
      for (const third of literal.length === 3 ? [c] : ANY) {
        this.#threes.add(hashOf(fourOf(a, b, third, 0) & THREE), entry);
      }
    }
  }

  /** The rules that have a literal in a string. */
  candidatesIn(given: string): Candidates {
    if (this.isEmpty) return NONE;
    const found = new CandidateCollector();
    const hits = this.#hitsIn(given);
    const text = hits === undefined && this.#toLower.test(given) ? given.toLowerCase() : given;
    if (hits === undefined) this.#scan(text, given, (entry, start) => found.add(entry, start));
    else
      this.#eachHit(
        hits,
        (index) => given.charCodeAt(index),
        (entry, start) => found.add(entry, start),
      );
    for (const entry of this.#characters) if (text.includes(entry.literal)) found.add(entry, 0);
    const candidates = found.take() ?? NONE;
    // Where the places of characters are others in lower case, those of names are not known.
    return text.length === given.length ? candidates : { ...candidates, places: undefined };
  }

  /** What {@link linesInBytes} takes, for a string. Undefined if it is not searched in bytes. */
  #hitsIn(text: string): Int32Array | undefined {
    if (text.length < SHORTEST_IN_BYTES) return undefined;
    if (this.#tables === undefined || this.#tables === 'none' || !hasLoaded(this.#tables)) {
      if (++this.#asked < PATIENCE) return undefined;
      this.#asked = 0;
    }
    return scanStringForLiterals(this.tables, text);
  }

  #eachHit(
    hits: Int32Array,
    at: (index: number) => number,
    found: (entry: Entry, start: number) => void,
  ): void {
    for (let i = 0; i < hits.length; i += 2) {
      const start = hits[i] as number;
      const entry = this.#literals[hits[i + 1] as number] as Entry;
      if (hasEdges(entry, start, at, at)) found(entry, start);
    }
  }

  /** The numbers of the rules that have a literal in a string, ascending. */
  rulesIn(text: string): readonly number[] {
    return this.candidatesIn(text).rules;
  }

  /**
   * The lines of a string, joined by LF, that have a literal.
   *
   * @param scan finds hits in bytes, if it can
   */
  linesIn(text: string, scan?: (bytes: Uint8Array) => Int32Array | undefined): readonly CandidateLine[] {
    if (this.isEmpty) return [];
    const bytes = scan && asBytes(text);
    const hits = bytes && scan?.(bytes);
    const found = bytes && hits ? this.linesInBytes(bytes, hits) : this.#linesInText(text);
    const others = linesWith(this.#toLower, text);
    if (others.length === 0) return found;
    const lines = new Map(found.map((candidate) => [candidate.line, candidate]));
    for (const { line, content } of others) {
      const candidates = this.candidatesIn(content);
      if (candidates.rules.length > 0) lines.set(line, { line, ...candidates });
      else lines.delete(line);
    }
    return [...lines.values()].sort((a, b) => a.line - b.line);
  }

  #linesInText(text: string): readonly CandidateLine[] {
    const lines = new LineCollector((from) => text.indexOf('\n', from), text.length);
    const characters = new CharacterCursor(this.#characters, (literal, from) => text.indexOf(literal, from));
    this.#scan(text, text, (entry, start) => {
      characters.addUpTo(start, lines);
      lines.add(entry, start);
    });
    characters.addUpTo(text.length, lines);
    return lines.found();
  }

  /**
   * {@link linesIn} for bytes.
   *
   * @param hits pairs of a place where a literal is and its number, line by line. What stands around it is not known yet.
   */
  linesInBytes(bytes: Uint8Array, hits: Int32Array): readonly CandidateLine[] {
    const lines = new LineCollector((from) => bytes.indexOf(LF, from), bytes.length);
    const characters = new CharacterCursor(this.#characters, (literal, from) =>
      bytes.indexOf(literal.charCodeAt(0), from),
    );
    const at = (index: number) => bytes[index] as number;
    this.#eachHit(hits, at, (entry, start) => {
      characters.addUpTo(start, lines);
      lines.add(entry, start);
    });
    characters.addUpTo(bytes.length, lines);
    return lines.found();
  }

  /** @param given the text, of which `text` may be the lower case */
  #scan(text: string, given: string, found: (entry: Entry, start: number) => void): void {
    const at = (index: number) => text.charCodeAt(index);
    // Where the places of characters are others in lower case, capital letters cannot be seen.
    const givenAt = given.length === text.length ? (index: number) => given.charCodeAt(index) : undefined;
    const { length } = text;
    // Beyond its end, a string has no number.
    const unitAt = (index: number) => (index < length ? text.charCodeAt(index) : 0);
    const addAll = (entries: readonly Entry[], position: number) => {
      for (const entry of entries) {
        const start = position - entry.offset;
        if (start >= 0 && isAt(entry.literal, start, at) && hasEdges(entry, start, at, givenAt))
          found(entry, start);
      }
    };
    let four = fourOf(0, unitAt(0), unitAt(1), unitAt(2));
    const begin = this.#begin;
    for (let position = 0; position < length - 1; position++) {
      four = next(four, unitAt(position + 3));
      const three = hashOf(four & THREE);
      const slot = three >>> (32 - BITS_OF_THREE);
      if ((((begin[slot >> 3] as number) >> (slot & 7)) & 1) === 0) continue;
      const two = twoOf(unitAt(position + 4), unitAt(position + 5));
      const six = this.#sixes.at(hashOfSix(four, two));
      if (six.length > 0) addAll(six, position);
      const fours = this.#fours.at(hashOf(four));
      if (fours.length > 0) addAll(fours, position);
      const threes = this.#threes.at(three);
      if (threes.length > 0) addAll(threes, position);
    }
  }

  /** Whether a string cannot bring in a literal, wherever it is put. */
  isInert(text: string): boolean {
    if (this.isEmpty) return true;
    if (text === '') return false;
    const first = text.charCodeAt(0);
    const last = text.charCodeAt(text.length - 1);
    return this.#isBehind[first] !== 1 && this.#isBefore[last] !== 1 && this.rulesIn(text).length === 0;
  }
}

/** A byte for each character of a string, one that no literal has for those beyond ASCII. */
function asBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[i] = unit < 0x80 ? unit : 0xff;
  }
  return bytes;
}

/** The lines of a string that have a certain character, with their numbers. */
function linesWith(
  character: RegExp,
  text: string,
): readonly { readonly line: number; readonly content: string }[] {
  const found: { line: number; content: string }[] = [];
  if (!character.test(text)) return found;
  let line = 0;
  for (const content of text.split('\n')) {
    if (character.test(content)) found.push({ line, content });
    line++;
  }
  return found;
}

/** The characters beyond ASCII whose lower case has a letter of ASCII. */
const BECOMES_ASCII = /[\u0130\u212a]/;
const BEYOND_ASCII = /[^\0-\x7f]/;
const NONE: Candidates = { rules: [], places: [] };

/** Four characters in either case: of a byte each, for others it does not matter. */
const fourOf = (a: number, b: number, c: number, d: number): number => next(next(next(next(0, a), b), c), d);
/** The four characters, moved on by one. */
const next = (four: number, unit: number): number => (four >>> 8) | (((unit & 0xff) | 0x20) << 24);
const THREE = 0xffffff;
const twoOf = (e: number, f: number): number => (e & 0xff) | 0x20 | (((f & 0xff) | 0x20) << 8);
const hashOf = (characters: number): number => Math.imul(characters, 0x9e3779b1);
const hashOfSix = (four: number, two: number): number => (hashOf(four) + Math.imul(two, 0x85ebca6b)) | 0;
