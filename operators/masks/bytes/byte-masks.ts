import { automatonOf, type Program } from './automaton.ts';
import { CODE } from './byte-masks-code.ts';
import { type Anchor, byteRule } from './byte-rule.ts';

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
  /** How many matches `mask` has masked. */
  readonly count: { readonly value: number };
  readonly mask: (rule: number, from: number, end: number, to: number, limit: number) => number;
}

/** Of the memory: the rules; a text; what becomes of it. */
const RULES = 16;
const TEXT = 128 * 1024;
const OTHER = 320 * 1024;
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

/**
 * Masks texts of ASCII by WebAssembly, by one rule after the other: for three rules over a log in half of the time that
 * it takes to call the engine for each match and to join the pieces. `undefined` if none of the rules can be had so, or
 * where there is no WebAssembly with vectors.
 *
 * @param rules some of which may not be had so.
 */
export function byteMasks(rules: readonly (ByteMask | undefined)[]): ByteMasks | undefined {
  masker ??= newMasker();
  if (masker === 'none') return undefined;
  const image = imageOf(rules);
  return image.bytes.length === 0 ? undefined : new ByteMasks(masker, image);
}

interface Image {
  readonly bytes: Uint8Array;
  /** Where each rule is, if it can be had. */
  readonly addresses: readonly (number | undefined)[];
}

/** A text that rules are applied to, in bytes and otherwise. Others may be between two texts, never within one. */
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

  constructor(masker: Masker, image: Image) {
    this.#masker = masker;
    this.#image = image;
    this.#place = masker.memory.subarray(TEXT, TEXT + MOST_TEXT);
  }

  /** Begins with a text. */
  hold(text: string): this {
    this.text = text;
    return this;
  }

  /** Whether each rule can be had. */
  get hasAll(): boolean {
    return this.#image.addresses.every((address) => address !== undefined);
  }

  /** Begins with a text of ASCII; false if it is too long. */
  holdBytes(text: Uint8Array): boolean {
    if (text.length > MOST_TEXT) return false;
    this.#load();
    this.#place.set(text);
    this.#text = undefined;
    this.#inMemory = 'yes';
    this.#from = TEXT;
    this.#end = TEXT + text.length;
    return true;
  }

  /** Writes what rules have made of the text that `holdBytes` was called with; the number of bytes, or -1 without room. */
  copyTo(into: Uint8Array): number {
    const length = this.#end - this.#from;
    if (length > into.length) return -1;
    into.set(this.#masker.memory.subarray(this.#from, this.#end));
    return length;
  }

  get text(): string {
    this.#text ??= decoder.decode(this.#masker.memory.subarray(this.#from, this.#end));
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#inMemory = 'no';
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

/** Those of the rules that can be had, until there are too many. */
function imageOf(rules: readonly (ByteMask | undefined)[]): Image {
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
  const bytes = new Uint8Array(address - RULES);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return { bytes, addresses };
}

function newMasker(): Masker | 'none' {
  try {
    const code = Uint8Array.from(atob(CODE), (character) => character.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
    return {
      memory: new Uint8Array((exports.memory as { readonly buffer: ArrayBuffer }).buffer),
      count: exports.count as Masker['count'],
      mask: exports.mask as Masker['mask'],
    };
  } catch {
    return 'none';
  }
}
