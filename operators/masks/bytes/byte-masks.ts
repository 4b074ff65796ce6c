import type { Outline } from '../expression/outline.ts';
import { type UnitSet, WORD } from '../expression/unit-set.ts';
import { type Automaton, automatonOf, type Program } from './automaton.ts';
import { CODE } from './byte-masks-code.ts';
import type { LiteralTables } from './literal-tables.ts';
import { type OutlineVector, outlineVectors } from './outline-vectors.ts';

/** Characters that a match begins with, up to a literal. */
export interface Run {
  readonly units: UnitSet;
  readonly min: number;
  readonly max: number;
  /** Whether a match can start at one position of a run and not at another. */
  readonly triesAll: boolean;
}

/** A character that every match of an expression has, and what may stand before it in the match. */
interface Anchor {
  /** Of ASCII. */
  readonly unit: number;
  /** Takes none that `unit` is, unless its `min` and `max` are the same. */
  readonly run: Run;
}

/** What of a rule is needed to search for it in bytes. */
export interface ByteSearch {
  readonly anchor: Anchor;
  readonly program: Program;
}

export interface ByteMask extends ByteSearch {
  /** Of ASCII. */
  readonly replacement: string;
}

interface Masker {
  readonly memory: Uint8Array;
  /** Where strings are written. */
  readonly string: Uint8Array;
  /** How many matches `mask` has masked. */
  readonly count: { readonly value: number };
  readonly mask: (rule: number, from: number, end: number, to: number, limit: number) => number;
  readonly scan: (from: number, end: number, tables: number, hits: number, limit: number) => number;
  readonly outline: (from: number, end: number, vector: number, hits: number, limit: number) => number;
}

/** Of the memory: the rules; a text; what becomes of it; where literals are in it, and their tables. */
const RULES = 16;
const TEXT = 128 * 1024;
const OTHER = 320 * 1024;
const HITS = 512 * 1024;
const TABLES = 768 * 1024;
const MEMORY = 2048 * 1024;
/** A page behind all that, for strings: a text that is masked in bytes stays where it is meanwhile. */
const STRING = MEMORY;
const STRING_HITS = MEMORY + 32 * 1024;
const MOST_STRING_HITS = 4096;
/** Bytes of a hit: a place, and the number of a literal. */
const HIT = 8;
/** Bytes of a place with the steps at which outlines are complete. */
const OUTLINE = 32;
const MOST_OUTLINES = (TABLES - HITS) / OUTLINE;
/** What may be read and written beyond a text. */
const BEYOND = 32;
const MOST_TEXT = OTHER - TEXT - BEYOND;
/** Twice the number of a kind is a byte. */
const MOST_KINDS = 127;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** One for all: each has an address space of gigabytes, most of it never used. */
let masker: Masker | 'none' | undefined;
/** Whose rules its memory has. */
let loaded: object | undefined;
let loadedTables: LiteralTables | undefined;

/** So many bytes at most are searched for literals at once. */
const MOST_SCANNED = 64 * 1024;
const MOST_HITS = (TABLES - HITS) / HIT;

/**
 * Finds literals in bytes, as `LiteralIndex` describes it.
 *
 * @returns pairs of the place where a literal starts and its number, until the next call. What follows a literal may be
 * something else than its conditions allow. Undefined for too many bytes, literals or hits, or where there is no WebAssembly
 * with vectors.
 */
export function scanForLiterals(
  tables: LiteralTables | undefined,
  bytes: Uint8Array,
): Int32Array | undefined {
  const masker = maskerFor(tables);
  if (masker === undefined || bytes.length > MOST_SCANNED) return undefined;
  const { memory, scan } = masker;
  memory.set(bytes, TEXT);
  const hits = scan(TEXT, TEXT + bytes.length, TABLES, HITS, HITS + MOST_HITS * HIT);
  return hits === MOST_HITS ? undefined : new Int32Array(memory.buffer, HITS, 2 * hits);
}

/** {@link scanForLiterals} for a string. Undefined for one that is not of ASCII, too. */
export function scanStringForLiterals(
  tables: LiteralTables | undefined,
  text: string,
): Int32Array | undefined {
  const masker = maskerFor(tables);
  if (masker === undefined) return undefined;
  const { memory, string, scan } = masker;
  const { written } = encoder.encodeInto(text, string);
  if (written !== text.length) return undefined;
  const hits = scan(STRING, STRING + written, TABLES, STRING_HITS, STRING_HITS + MOST_STRING_HITS * HIT);
  if (hits === 0) return NO_HITS;
  return hits === MOST_STRING_HITS ? undefined : new Int32Array(memory.buffer, STRING_HITS, 2 * hits);
}

/** Whether tables are in the memory: others have to be copied there first. */
export const hasLoaded = (tables: LiteralTables): boolean => loadedTables === tables;

/** With the tables in its memory. */
function maskerFor(tables: LiteralTables | undefined): Masker | undefined {
  if (tables === undefined || tables.image.length > MEMORY - TABLES) return undefined;
  masker ??= newMasker();
  if (masker === 'none') return undefined;
  if (loadedTables !== tables) {
    // A time-out may end this at any point.
    loadedTables = undefined;
    masker.memory.set(tables.image, TABLES);
    loadedTables = tables;
  }
  return masker;
}

const NO_HITS = new Int32Array(0);

interface Image {
  readonly bytes: Uint8Array;
  /** Where each rule is, if it can be had. */
  readonly addresses: readonly (number | undefined)[];
  readonly vectors: readonly (OutlineVector & { readonly address: number })[];
}

/**
 * Masks texts of ASCII by WebAssembly, by one rule after the other: for three rules over a log in half of the time that
 * it takes to call the engine for each match and to join the pieces. Others may be between two texts, never within one.
 */
export class ByteMasks {
  readonly #masker: Masker;
  readonly #image: Image;
  readonly #place: Uint8Array;
  /** Undefined while it is in the memory alone. */
  #text: string | undefined;
  /** `other`: it cannot be. */
  #inMemory: 'yes' | 'no' | 'other' = 'no';
  #from = TEXT;
  #end = TEXT;
  /** Where outlines are in the text, as far as that was asked. */
  readonly #places = new Map<number, readonly number[] | undefined>();

  /**
   * @param rules some of which cannot be had in bytes.
   * @param outlines those of some others of the rules
   * @returns undefined where there is no WebAssembly with vectors.
   */
  static of(
    rules: readonly (ByteMask | undefined)[],
    outlines: readonly (readonly Outline[] | undefined)[] = [],
  ): ByteMasks | undefined {
    masker ??= newMasker();
    return masker === 'none' ? undefined : new ByteMasks(masker, imageOf(rules, outlineVectors(outlines)));
  }

  private constructor(masker: Masker, image: Image) {
    this.#masker = masker;
    this.#image = image;
    this.#place = masker.memory.subarray(TEXT, TEXT + MOST_TEXT);
  }

  /** Begins with a text. */
  hold(text: string): this {
    this.text = text;
    return this;
  }

  /** Begins with a text of ASCII; false if it is too long. */
  holdBytes(text: Uint8Array): boolean {
    if (text.length > MOST_TEXT) return false;
    this.#load();
    this.#places.clear();
    this.#place.set(text);
    this.#text = undefined;
    this.#inMemory = 'yes';
    this.#from = TEXT;
    this.#end = TEXT + text.length;
    return true;
  }

  /** Writes what rules have made of the text; the number of bytes, or -1 without room, or for a text beyond ASCII. */
  copyTo(into: Uint8Array): number {
    if (!this.#isInMemory()) return -1;
    const length = this.#end - this.#from;
    if (length > into.length) return -1;
    into.set(this.#masker.memory.subarray(this.#from, this.#end));
    return length;
  }

  /** The text in bytes, until the next change; undefined while it is a string. */
  get bytes(): Uint8Array | undefined {
    return this.#inMemory === 'yes' ? this.#masker.memory.subarray(this.#from, this.#end) : undefined;
  }

  get text(): string {
    this.#text ??= decoder.decode(this.#masker.memory.subarray(this.#from, this.#end));
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#inMemory = 'no';
    this.#places.clear();
  }

  /** Takes the text out of the memory, which others may need. */
  leaveBytes(): void {
    this.#text = this.text;
    this.#inMemory = 'no';
  }

  /**
   * Places in the text, in ascending order, of which one is in each line that a rule may change. Undefined if they are not known.
   */
  placesOf(rule: number): readonly number[] | undefined {
    if (this.#places.has(rule)) return this.#places.get(rule);
    const vector = this.#image.vectors.find(({ ends }) => ends.has(rule));
    if (vector === undefined || !this.#isInMemory()) return undefined;
    const { memory, outline } = this.#masker;
    const count = outline(this.#from, this.#end, vector.address, HITS, HITS + MOST_OUTLINES * OUTLINE);
    const hits = new Uint32Array(memory.buffer, HITS, (count * OUTLINE) / 4);
    for (const [one, ends] of vector.ends)
      this.#places.set(one, count === MOST_OUTLINES ? undefined : placesIn(hits, ends));
    return this.#places.get(rule);
  }

  /** Replaces the matches of a rule; how many, or -1 if that has to be done in another way. */
  mask(rule: number): number {
    const address = this.#image.addresses[rule];
    if (address === undefined || !this.#isInMemory()) return -1;
    const { count, mask } = this.#masker;
    const to = this.#from === TEXT ? OTHER : TEXT;
    const end = mask(address, this.#from, this.#end, to, to + MOST_TEXT);
    if (end === 0) return -1;
    if (count.value === 0) return 0;
    this.#places.clear();
    this.#from = to;
    this.#end = end;
    this.#text = undefined;
    return count.value;
  }

  #isInMemory(): boolean {
    if (this.#inMemory === 'no') {
      this.#load();
      const text = this.#text as string;
      const { read, written } = encoder.encodeInto(text, this.#place);
      // Otherwise some characters are not of ASCII, or there are too many of them.
      this.#inMemory = read === text.length && written === read ? 'yes' : 'other';
      this.#from = TEXT;
      this.#end = TEXT + written;
    }
    return this.#inMemory === 'yes';
  }

  #load(): void {
    if (loaded === this.#image) return;
    // A time-out may end this at any point.
    loaded = undefined;
    this.#masker.memory.set(this.#image.bytes, RULES);
    loaded = this.#image;
  }
}

/** The places whose outlines are complete at one of some steps. */
function placesIn(hits: Uint32Array, ends: Uint32Array): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0] = ends;
  const places: number[] = [];
  for (let i = 0; i < hits.length; i += OUTLINE / 4) {
    const [w = 0, x = 0, y = 0, z = 0] = [hits[i + 4], hits[i + 5], hits[i + 6], hits[i + 7]];
    if (((w & a) | (x & b) | (y & c) | (z & d)) !== 0) places.push(hits[i] as number);
  }
  return places;
}

/** The tables of the rules, and the vectors of outlines, as many as fit. */
function imageOf(rules: readonly (ByteMask | undefined)[], outlines: readonly OutlineVector[]): Image {
  const parts: Uint8Array[] = [];
  let address = RULES;
  const addresses = rules.map((rule) => {
    const automaton = rule && automatonOf(rule.program);
    if (rule === undefined || automaton === undefined || automaton.width > MOST_KINDS) return undefined;
    const part = byteRule(rule.anchor, automaton, rule.replacement, address);
    if (address + part.length > TEXT) return undefined;
    parts.push(part);
    address += part.length;
    return address - part.length;
  });
  const vectors = outlines.flatMap((vector) => {
    if (address + vector.bytes.length > TEXT) return [];
    parts.push(vector.bytes);
    address += vector.bytes.length;
    return [{ ...vector, address: address - vector.bytes.length }];
  });
  const bytes = new Uint8Array(address - RULES);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return { bytes, addresses, vectors };
}

const KINDS = 32;
const FLAGS = 164;
const IN_RUN = 1;
const IN_WORD = 2;
const REPLACEMENT = 304;
const ASCII = 128;

/**
 * A rule as byte-masks.wat reads it, at an address in its memory. Numbers have 32 bits; by their offsets in bytes:
 *
 * - 0 the anchor's unit, 4 `min`, 8 `max`, 12 `triesAll`
 * - 16 the row of the state to begin with outside of words, 20 that inside of them
 * - 24 the address of the table, 28 the length of the replacement
 * - 32 twice the kind of each character and of the text's end, a byte each
 * - 164 for each character, in a byte, whether it may be in the run (1) and is in a word (2)
 * - 304 the replacement, and the table after it
 *
 * @param replacement of ASCII.
 */
function byteRule(
  { unit, run: { units, min, max, triesAll } }: Anchor,
  { kinds, width, table, outsideWord, insideWord }: Automaton,
  replacement: string,
  address: number,
): Uint8Array {
  const tableAt = even(REPLACEMENT + replacement.length + BEYOND);
  const rule = new Uint8Array(tableAt + 2 * table.length);
  const view = new DataView(rule.buffer);
  const row = (state: number) => 2 * width * state;
  [
    unit,
    min,
    Math.min(max, 0x3fffffff),
    Number(triesAll),
    row(outsideWord),
    row(insideWord),
    address + tableAt,
    replacement.length,
  ].forEach((value, i) => {
    view.setInt32(4 * i, value, true);
  });
  for (let character = 0; character < ASCII; character++) {
    rule[FLAGS + character] = (units.has(character) ? IN_RUN : 0) + (WORD.has(character) ? IN_WORD : 0);
  }
  kinds.forEach((kind, character) => {
    rule[KINDS + character] = 2 * kind;
  });
  rule.set(new TextEncoder().encode(replacement), REPLACEMENT);
  table.forEach((entry, i) => {
    view.setUint16(tableAt + 2 * i, row(entry >> 1) + (entry & 1), true);
  });
  return rule;
}

const even = (length: number): number => length + (length % 2);

function newMasker(): Masker | 'none' {
  try {
    const code = Uint8Array.from(atob(CODE), (character) => character.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
    const memory = exports.memory as { readonly buffer: ArrayBuffer; grow(pages: number): number };
    memory.grow(1);
    return {
      memory: new Uint8Array(memory.buffer),
      string: new Uint8Array(memory.buffer, STRING, STRING_HITS - STRING - BEYOND),
      count: exports.count as Masker['count'],
      mask: exports.mask as Masker['mask'],
      scan: exports.scan as Masker['scan'],
      outline: exports.outline as Masker['outline'],
    };
  } catch {
    return 'none';
  }
}
