import type { Outline, Step } from '../expression/outline.ts';

/** Bits of a lane, of which a vector has two. */
const LANE = 64;
const LANES = 2;
const ASCII = 128;
/** Bytes of a vector. */
const VECTOR = 16;
/** Numbers of the vectors after those of the characters: see {@link OutlineVectors}. */
const STARTS = ASCII;
const REPEATED = ASCII + 1;
const OPTIONAL = ASCII + 2;
const BEFORE_OPTIONAL = ASCII + 3;
const LAST_OPTIONAL = ASCII + 4;
const ENDS = ASCII + 5;
const ALL = ASCII + 6;

/** The outlines of some rules in one vector, with a bit for each step. */
export interface OutlineVector {
  /**
   * As `outline` of byte-masks.wat reads it: for each character of ASCII the steps that can be it, then the first steps, those
   * that may come again, those that may be absent, those in front of a run of the latter, the last ones of such runs, and
   * the steps at which an outline is complete.
   */
  readonly bytes: Uint8Array;
  /** For each rule the bits of steps at which one of its outlines is complete, as four numbers. */
  readonly ends: ReadonlyMap<number, Uint32Array>;
}

/** Vectors for the outlines of rules, in the order of the rules. Undefined for rules whose outlines have too many steps. */
export function outlineVectors(rules: readonly (readonly Outline[] | undefined)[]): readonly OutlineVector[] {
  const drafts: VectorDraft[] = [];
  rules.forEach((outlines, rule) => {
    if (outlines === undefined || outlines.some(({ length }) => length > LANE)) return;
    const last = drafts.at(-1);
    if (last?.add(rule, outlines) === true) return;
    const next = new VectorDraft();
    if (next.add(rule, outlines)) drafts.push(next);
  });
  return drafts.map(({ vector }) => vector);
}

class VectorDraft {
  readonly #bytes = new Uint8Array(ALL * VECTOR);
  readonly #ends = new Map<number, Uint32Array>();
  /** How many bits of each lane are taken. */
  #taken: readonly number[] = Array.from({ length: LANES }, () => 0);

  get vector(): OutlineVector {
    return { bytes: this.#bytes, ends: this.#ends };
  }

  /** False if there is no room for all of them. */
  add(rule: number, outlines: readonly Outline[]): boolean {
    const taken = [...this.#taken];
    const places = outlines.map(({ length }) => {
      const lane = taken.findIndex((bits) => bits + length <= LANE);
      if (lane === -1) return -1;
      const bit = lane * LANE + (taken[lane] as number);
      taken[lane] = (taken[lane] as number) + length;
      return bit;
    });
    if (places.includes(-1)) return false;
    this.#taken = taken;
    const ends = new Uint32Array(4);
    outlines.forEach((outline, i) => {
      const first = places[i] as number;
      const last = first + outline.length - 1;
      this.#write(outline, first);
      ends[last >> 5] = (ends[last >> 5] as number) | (1 << (last & 31));
    });
    this.#ends.set(rule, ends);
    return true;
  }

  #write(outline: Outline, first: number): void {
    this.#set(STARTS, first);
    this.#set(ENDS, first + outline.length - 1);
    outline.forEach(({ units, isOptional, repeats }: Step, i) => {
      const bit = first + i;
      for (let unit = 0; unit < ASCII; unit++) if (units.has(unit)) this.#set(unit, bit);
      if (repeats) this.#set(REPEATED, bit);
      if (!isOptional) return;
      this.#set(OPTIONAL, bit);
      // The first step and the last one are never optional.
      if (outline[i - 1]?.isOptional === false) this.#set(BEFORE_OPTIONAL, bit - 1);
      if (outline[i + 1]?.isOptional === false) this.#set(LAST_OPTIONAL, bit);
    });
  }

  #set(vector: number, bit: number): void {
    const at = vector * VECTOR + (bit >> 3);
    this.#bytes[at] = (this.#bytes[at] as number) | (1 << (bit & 7));
  }
}
