import { isAscii } from '../expression/literals.ts';

/** With so many slots, few texts that are no literal have that of one. */
const BITS = 19;
/** Of the lists of literals, which are looked at for few texts. */
const BITS_OF_LISTS = 15;
/** Bytes of the bits, and of the numbers of lists, for the hashes of one length. */
const ALL_BITS = 1 << (BITS - 3);
const ALL_NUMBERS = 2 << BITS_OF_LISTS;
const LENGTHS = 3;
/** Where the lists are, which end with 0. The first one is empty. */
const LISTS = LENGTHS * (ALL_BITS + ALL_NUMBERS);
const WORD = 4;
const MOST_WORDS = 0xffff;
/** Bytes of an entry, and of a set of characters. */
const ENTRY = 16;
const SET = 32;
const MOST_UNITS = 0xffff;

/** What is searched for. */
export interface Literal {
  /** In lower case. */
  readonly literal: string;
  /** Where in it the characters are that it is found by. */
  readonly offset: number;
  /** A bit for each byte one of which follows it; undefined if any may. */
  readonly followers: Uint8Array | undefined;
}

/** Literals by a hash of some characters of theirs. */
export class Slots<T extends Literal> {
  /** A bit for each slot, 1 for those that some literal has. So it is small enough for a cache of a processor. */
  readonly bits = new Uint8Array(ALL_BITS);
  readonly lists: T[][] = [[]];
  /** For each list the number of its hash. */
  readonly numbers = new Uint16Array(1 << BITS_OF_LISTS);

  add(hash: number, entry: T): void {
    const slot = hash >>> (32 - BITS);
    this.bits[slot >> 3] = (this.bits[slot >> 3] as number) | (1 << (slot & 7));
    const number = hash >>> (32 - BITS_OF_LISTS);
    const list = this.lists[this.numbers[number] as number] as T[];
    if (list.length === 0) this.numbers[number] = this.lists.push([entry]) - 1;
    // For a literal of two characters, many characters have the same hash.
    else if (list.at(-1) !== entry) list.push(entry);
  }

  at(hash: number): readonly T[] {
    const slot = hash >>> (32 - BITS);
    if ((((this.bits[slot >> 3] as number) >> (slot & 7)) & 1) === 0) return NONE;
    return this.lists[this.numbers[hash >>> (32 - BITS_OF_LISTS)] as number] as readonly T[];
  }
}

const NONE: readonly never[] = [];

/** Literals as byte-masks.wat reads them. */
export interface LiteralTables {
  readonly image: Uint8Array;
}

/**
 * For hashes of three, four and six characters, one after the other: a bit for each slot, 64 KiB for each length; the numbers
 * of lists, of 16 bits; and the lists, with the addresses of entries. An entry has the address of its literal and that of the
 * characters that may follow it, or 0, then the length of the literal and the offset, of 16 bits, and its number.
 *
 * @param literals whose numbers are their places. Those that are not ASCII are left out.
 * @returns undefined for too many of them
 */
export function literalTables<T extends Literal>(
  literals: readonly T[],
  slots: readonly Slots<T>[],
): LiteralTables | undefined {
  const words = slots.reduce(
    (sum, { lists }) => sum + lists.reduce((all, list) => all + list.length + 1, 0),
    0,
  );
  if (words > MOST_WORDS || literals.some(({ literal }) => literal.length > MOST_UNITS)) return undefined;
  const sets = new Map<Uint8Array, number>();
  const entriesAt = LISTS + WORD * words;
  const setsAt = entriesAt + ENTRY * literals.length;
  for (const { followers } of literals) {
    if (followers !== undefined && !sets.has(followers)) sets.set(followers, setsAt + SET * sets.size);
  }
  const ascii = literals.map(({ literal }) => (isAscii(literal) ? literal : ''));
  const texts = new TextEncoder().encode(ascii.join(''));
  let text = setsAt + SET * sets.size;
  const image = new Uint8Array(text + texts.length);
  const view = new DataView(image.buffer);
  image.set(texts, text);
  for (const [set, at] of sets) image.set(set, at);
  const addresses = new Map<T, number>();
  literals.forEach((entry, number) => {
    const length = (ascii[number] as string).length;
    if (length === 0) return;
    const at = entriesAt + ENTRY * number;
    addresses.set(entry, at);
    view.setUint32(at, text, true);
    view.setUint32(at + 4, entry.followers === undefined ? 0 : (sets.get(entry.followers) as number), true);
    view.setUint16(at + 8, length, true);
    view.setUint16(at + 10, entry.offset, true);
    view.setUint32(at + 12, number, true);
    text += length;
  });
  let word = 0;
  slots.forEach(({ bits, numbers, lists }, i) => {
    image.set(bits, ALL_BITS * i);
    const starts = lists.map((list) => {
      const start = word;
      for (const entry of list) {
        const address = addresses.get(entry);
        if (address !== undefined) view.setUint32(LISTS + WORD * word++, address, true);
      }
      word++;
      return start;
    });
    const numbersAt = LENGTHS * ALL_BITS + ALL_NUMBERS * i;
    numbers.forEach((list, hash) => {
      if (list > 0) view.setUint16(numbersAt + 2 * hash, starts[list] as number, true);
    });
  });
  return { image };
}
