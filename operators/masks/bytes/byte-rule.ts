import type { Run } from '../regex/literal-finders.ts';
import { WORD } from '../regex/word.ts';
import type { Automaton } from './automaton.ts';

/** A character that every match of an expression has, and what may stand before it in the match. */
export interface Anchor {
  /** Of ASCII. */
  readonly unit: number;
  /** Takes none that `unit` is, unless its `min` and `max` are the same. */
  readonly run: Run;
}

const KINDS = 32;
const FLAGS = 164;
const IN_RUN = 1;
const IN_WORD = 2;
const REPLACEMENT = 304;
/** What is copied sixteen bytes at a time may be read beyond its end. */
const BEYOND = 16;
const ASCII = 128;

/**
 * A rule as byte-masks.wat reads it, at an address in its memory. Numbers have 32 bits; by their offsets in bytes:
 *
 * - 0 the anchor's unit, 4 `min`, 8 `max`, 12 `hasConditions`
 * - 16 the row of the state to begin with outside of words, 20 that inside of them
 * - 24 the address of the table, 28 the length of the replacement
 * - 32 twice the kind of each character and of the text's end, a byte each
 * - 164 for each character, in a byte, whether it may be in the run (1) and is in a word (2)
 * - 304 the replacement, and the table behind it
 *
 * @param replacement of ASCII.
 */
export function byteRule(
  { unit, run: { units, min, max, hasConditions } }: Anchor,
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
    Number(hasConditions),
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
