import { shareOfText } from '../expression/frequency.ts';
import { isAscii } from '../expression/literals.ts';

/** A line that has a literal of some rules: which one of all lines it is, and the numbers of those rules. */
export interface CandidateLine {
  readonly line: number;
  /** Ascending. */
  readonly rules: readonly number[];
}

/** With so many slots, few texts that are no literal have that of one. */
const BITS = 18;
const SLOTS = 1 << BITS;
const LF = 0x0a;
/** Any character can follow a literal of two. */
const ANY = Array.from({ length: 256 }, (_, unit) => unit);

/** A literal, and where in it the three characters are that it is found by. */
interface Entry {
  readonly literal: string;
  readonly offset: number;
  readonly rules: readonly number[];
}

interface ListedEntries {
  readonly lists: readonly (readonly Entry[])[];
  readonly bySlot: Uint16Array;
}

/**
 * Finds the literals of many rules in one pass over a string. It looks at each position whether the three characters
 * there, in lower case, are in a table: those of a literal that are rarest in logs. Only where the table says so, the
 * literals are compared. `byte-masks.wat` looks at bytes in the same way.
 */
export class LiteralIndex {
  /** A bit for each slot, 1 for those that some literal has. So it is small enough for a cache of a processor. */
  readonly table = new Uint8Array(SLOTS >> 3);
  readonly #entries = new Map<number, Entry[]>();
  /** {@link #entries} as a list, and for each slot where in the list its own are. For bytes, where hits are many. */
  #listed: ListedEntries | undefined;
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
  constructor(literalsOf: readonly (readonly string[] | undefined)[]) {
    const rulesOf = new Map<string, number[]>();
    literalsOf.forEach((literals, rule) => {
      for (const literal of new Set(literals)) {
        const rules = rulesOf.get(literal);
        if (rules === undefined) rulesOf.set(literal, [rule]);
        else rules.push(rule);
      }
    });
    const entries = [...rulesOf].map(([literal, rules]) => ({ literal, offset: rarestPart(literal), rules }));
    this.#characters = entries.filter(({ literal }) => literal.length === 1);
    for (const entry of entries) if (entry.literal.length > 1) this.#add(entry);
    this.#toLower = [...rulesOf.keys()].every(isAscii) ? BECOMES_ASCII : BEYOND_ASCII;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0 && this.#characters.length === 0;
  }

  #add(entry: Entry): void {
    const { literal, offset } = entry;
    const units = literal.split('').map((character) => character.charCodeAt(0));
    units.forEach((unit, i) => {
      for (const cased of [unit, upper(unit)]) {
        if (i > 0) this.#isBehind[cased] = 1;
        if (i < units.length - 1) this.#isBefore[cased] = 1;
      }
    });
    const [a = 0, b = 0, c] = units.slice(offset);
    for (const third of c === undefined ? ANY : [c]) {
      const slot = slotOf(threeOf(a, b, third));
      this.table[slot >> 3] = (this.table[slot >> 3] as number) | (1 << (slot & 7));
      const entries = this.#entries.get(slot);
      if (entries === undefined) this.#entries.set(slot, [entry]);
      // For a literal of two characters, many characters have the same slot.
      else if (entries.at(-1)?.literal !== literal) entries.push(entry);
    }
  }

  /** The rules that have a literal in a string, ascending. */
  rulesIn(given: string): readonly number[] {
    if (this.isEmpty) return NONE;
    const text = this.#toLower.test(given) ? given.toLowerCase() : given;
    let rules: Set<number> | undefined;
    const add = (entry: Entry) => {
      rules ??= new Set();
      for (const rule of entry.rules) rules.add(rule);
    };
    this.#scan(text, add);
    for (const entry of this.#characters) if (text.includes(entry.literal)) add(entry);
    return rules === undefined ? NONE : [...rules].sort(ascending);
  }

  /** The lines of a string, joined by LF, that have a literal. */
  linesIn(text: string): readonly CandidateLine[] {
    if (this.isEmpty) return [];
    if (this.#toLower.test(text)) {
      return text
        .split('\n')
        .map((line, number) => ({ line: number, rules: this.rulesIn(line) }))
        .filter(({ rules }) => rules.length > 0);
    }
    const lines = new LineCollector((from) => text.indexOf('\n', from), text.length);
    const characters = new CharacterCursor(this.#characters, (literal, from) => text.indexOf(literal, from));
    this.#scan(text, (entry, start) => {
      characters.addUpTo(start, lines);
      lines.add(entry.rules, start);
    });
    characters.addUpTo(text.length, lines);
    return lines.found();
  }

  /**
   * {@link linesIn} for bytes.
   *
   * @param hits positions in ascending order whose three characters are in the table.
   */
  linesInBytes(bytes: Uint8Array, hits: Int32Array): readonly CandidateLine[] {
    const lines = new LineCollector((from) => bytes.indexOf(LF, from), bytes.length);
    this.#listed ??= this.#list();
    const { lists, bySlot } = this.#listed;
    const characters = new CharacterCursor(this.#characters, (literal, from) =>
      bytes.indexOf(literal.charCodeAt(0), from),
    );
    for (let i = 0; i < hits.length; i++) {
      const hit = hits[i] as number;
      const three = threeOf(bytes[hit] as number, bytes[hit + 1] as number, bytes[hit + 2] as number);
      const entries = lists[bySlot[slotOf(three)] as number] as readonly Entry[];
      for (let j = 0; j < entries.length; j++) {
        const { literal, offset, rules } = entries[j] as Entry;
        if (hit < offset || !isInBytes(literal, bytes, hit - offset)) continue;
        characters.addUpTo(hit - offset, lines);
        lines.add(rules, hit - offset);
      }
    }
    characters.addUpTo(bytes.length, lines);
    return lines.found();
  }

  #list(): ListedEntries {
    const bySlot = new Uint16Array(SLOTS);
    const lists: (readonly Entry[])[] = [[]];
    for (const [slot, entries] of this.#entries) bySlot[slot] = lists.push(entries) - 1;
    return { lists, bySlot };
  }

  #scan(text: string, found: (entry: Entry, start: number) => void): void {
    const { table } = this;
    const at = (index: number) => text.charCodeAt(index);
    const { length } = text;
    let three = length > 1 ? threeOf(0, text.charCodeAt(0), text.charCodeAt(1)) : 0;
    for (let position = 0; position < length - 1; position++) {
      // Beyond its end, a string has no number.
      three = next(three, position + 2 < length ? text.charCodeAt(position + 2) : 0);
      const slot = slotOf(three);
      if ((((table[slot >> 3] as number) >> (slot & 7)) & 1) === 0) continue;
      for (const entry of this.#entries.get(slot) ?? []) {
        const start = position - entry.offset;
        if (start >= 0 && isAt(entry.literal, start, at)) found(entry, start);
      }
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

/** The characters beyond ASCII whose lower case has a letter of ASCII. */
const BECOMES_ASCII = /[\u0130\u212a]/;
const BEYOND_ASCII = /[^\0-\x7f]/;
const NONE: readonly number[] = [];
const ascending = (a: number, b: number): number => a - b;

/** Three characters in either case: of a byte each, for others it does not matter. */
const threeOf = (a: number, b: number, c: number): number => next(next(next(0, a), b), c);
/** The three characters, moved on by one. */
const next = (three: number, unit: number): number => (three >>> 8) | (((unit & 0xff) | 0x20) << 16);
const slotOf = (three: number): number => Math.imul(three, 0x9e3779b1) >>> (32 - BITS);

function isAt(literal: string, start: number, at: (index: number) => number): boolean {
  for (let i = 0; i < literal.length; i++) {
    if (lower(at(start + i)) !== literal.charCodeAt(i)) return false;
  }
  return true;
}

function isInBytes(literal: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < literal.length; i++) {
    if (lower(bytes[start + i] as number) !== literal.charCodeAt(i)) return false;
  }
  return true;
}

const lower = (unit: number): number => (unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);
const upper = (unit: number): number => (unit >= 0x61 && unit <= 0x7a ? unit - 0x20 : unit);

/** More common than their letters are, because of `http`, `user`, names of fields, and English. */
const COMMON_PARTS = new Set(
  (
    'htt ttp tps use ser com duc _id er_ log tim vel ogl gle ing the ion tio sio con ver age val ent her thi you ati ' +
    'lik eck equ ess res req que est ill ink ide par mat ope abl mod app err add map nam ect rea ste con pro all'
  ).split(' '),
);
const COMMON_SHARE = 0.01;

/** Where the three characters are that occur least in logs. */
function rarestPart(literal: string): number {
  let rarest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset + 3 <= literal.length; offset++) {
    const part = literal.slice(offset, offset + 3);
    const share = COMMON_PARTS.has(part) ? COMMON_SHARE : shareOfText(part);
    if (share < least) {
      least = share;
      rarest = offset;
    }
  }
  return rarest;
}

/** Whether the index can find a literal, which is in lower case: in strings and in bytes it looks the same. */
export const isIndexed = (literal: string): boolean =>
  literal.length === 1 ? /[!-/:-@[-`{-~]/.test(literal) : literal.length > 1 && !literal.includes('\n');

/** Goes from the left to the right through the places of literals of one character. */
class CharacterCursor {
  readonly #entries: readonly Entry[];
  readonly #find: (literal: string, from: number) => number;
  /** For each entry where it is next, or −1. */
  readonly #next: number[];

  constructor(entries: readonly Entry[], find: (literal: string, from: number) => number) {
    this.#entries = entries;
    this.#find = find;
    this.#next = entries.map(({ literal }) => find(literal, 0));
  }

  /** Adds those in front of a place. */
  addUpTo(end: number, lines: LineCollector): void {
    const next = this.#next;
    for (;;) {
      let first = -1;
      for (let i = 0; i < next.length; i++) {
        const at = next[i] as number;
        if (at !== -1 && at < end && (first === -1 || at < (next[first] as number))) first = i;
      }
      if (first === -1) return;
      const { literal, rules } = this.#entries[first] as Entry;
      const at = next[first] as number;
      lines.add(rules, at);
      next[first] = this.#find(literal, at + 1);
    }
  }
}

/** Gathers what is found from the left to the right, line by line. */
class LineCollector {
  readonly #nextLf: (from: number) => number;
  readonly #length: number;
  readonly #lines: CandidateLine[] = [];
  readonly #rules = new Set<number>();
  #line = -1;
  #end = -1;

  constructor(nextLf: (from: number) => number, length: number) {
    this.#nextLf = nextLf;
    this.#length = length;
  }

  add(rules: readonly number[], at: number): void {
    if (at > this.#end) this.#goTo(at);
    for (const rule of rules) this.#rules.add(rule);
  }

  found(): readonly CandidateLine[] {
    this.#close();
    return this.#lines;
  }

  #goTo(at: number): void {
    this.#close();
    while (this.#end < at) {
      this.#line++;
      const end = this.#nextLf(this.#end + 1);
      this.#end = end === -1 ? this.#length : end;
    }
  }

  #close(): void {
    if (this.#rules.size === 0) return;
    const rules = [...this.#rules].sort(ascending);
    this.#lines.push({ line: this.#line, rules });
    this.#rules.clear();
  }
}
