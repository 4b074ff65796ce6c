/** A set of UTF-16 code units: exact, and quick to ask for ASCII. */
export class UnitSet {
  /** 1 for each member below 128. */
  readonly ascii: Uint8Array;
  /** The other members as pairs of first and last, ascending, apart from each other. */
  readonly high: readonly number[];

  constructor(ascii: Uint8Array, high: readonly number[]) {
    this.ascii = ascii;
    this.high = high;
  }

  static readonly none = new UnitSet(new Uint8Array(128), []);
  static readonly all = new UnitSet(new Uint8Array(128).fill(1), [0x80, 0xffff]);

  /** @example UnitSet.of('ab').has(97); // true */
  static of(characters: string): UnitSet {
    const ascii = new Uint8Array(128);
    const high: number[] = [];
    for (const unit of [...new Set(characters.split(''))].map((c) => c.charCodeAt(0)).sort((a, b) => a - b)) {
      if (unit < 128) ascii[unit] = 1;
      else high.push(unit, unit);
    }
    return new UnitSet(ascii, high);
  }

  has(unit: number): boolean {
    return unit < 128 ? this.ascii[unit] === 1 : this.#hasHigh(unit);
  }

  #hasHigh(unit: number): boolean {
    const { high } = this;
    for (let i = 0; i < high.length; i += 2) {
      if (unit <= (high[i + 1] as number)) return unit >= (high[i] as number);
    }
    return false;
  }

  get isEmpty(): boolean {
    return this.high.length === 0 && !this.ascii.includes(1);
  }

  intersects(other: UnitSet): boolean {
    for (let unit = 0; unit < 128; unit++) {
      if (this.ascii[unit] === 1 && other.ascii[unit] === 1) return true;
    }
    return overlaps(this.high, other.high);
  }

  intersection(other: UnitSet): UnitSet {
    const ascii = this.ascii.map((bit, unit) => bit & (other.ascii[unit] as number));
    const high: number[] = [];
    for (let i = 0; i < this.high.length; i += 2) {
      for (let j = 0; j < other.high.length; j += 2) {
        const first = Math.max(this.high[i] as number, other.high[j] as number);
        const last = Math.min(this.high[i + 1] as number, other.high[j + 1] as number);
        if (first <= last) high.push(first, last);
      }
    }
    return new UnitSet(ascii, high);
  }

  union(other: UnitSet): UnitSet {
    // The sets of an expression are mostly the same few.
    if (other === this || other === UnitSet.none || this === UnitSet.all) return this;
    if (this === UnitSet.none || other === UnitSet.all) return other;
    const ascii = this.ascii.slice();
    for (let unit = 0; unit < 128; unit++) if (other.ascii[unit] === 1) ascii[unit] = 1;
    return new UnitSet(ascii, joined([...this.high, ...other.high]));
  }

  /** Whether every member is one of `other`. */
  isWithin(other: UnitSet): boolean {
    return this.ascii.every((bit, unit) => bit <= (other.ascii[unit] as number)) && this.#highIsWithin(other);
  }

  #highIsWithin(other: UnitSet): boolean {
    const both = this.intersection(other).high;
    return size(both) === size(this.high);
  }

  /** How many ranges of members stand side by side. */
  get ranges(): number {
    return (
      this.ascii.filter((bit, unit) => bit === 1 && this.ascii[unit - 1] !== 1).length + this.high.length / 2
    );
  }

  /** The set as a class of an expression without the `u` flag. */
  get source(): string {
    let members = '';
    for (let unit = 0; unit < 128; unit++) if (this.ascii[unit] === 1) members += codeOf(unit);
    for (let i = 0; i < this.high.length; i += 2) {
      members += `${codeOf(this.high[i] as number)}-${codeOf(this.high[i + 1] as number)}`;
    }
    return `[${members}]`;
  }

  /** The members in ascending order, or `undefined` if there are more than `most`. */
  members(most: number): string[] | undefined {
    const members: string[] = [];
    for (let unit = 0; unit < 128; unit++)
      if (this.ascii[unit] === 1) members.push(String.fromCharCode(unit));
    if (members.length + size(this.high) > most) return undefined;
    for (let i = 0; i < this.high.length; i += 2) {
      for (let unit = this.high[i] as number; unit <= (this.high[i + 1] as number); unit++) {
        members.push(String.fromCharCode(unit));
      }
    }
    return members;
  }
}

/** One unit, as an expression spells it. */
const codeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

function size(ranges: readonly number[]): number {
  let total = 0;
  for (let i = 0; i < ranges.length; i += 2) total += (ranges[i + 1] as number) - (ranges[i] as number) + 1;
  return total;
}

/** Whether two ascending lists of ranges share a member. */
function overlaps(some: readonly number[], others: readonly number[]): boolean {
  for (let i = 0, j = 0; i < some.length && j < others.length; ) {
    if ((some[i + 1] as number) < (others[j] as number)) i += 2;
    else if ((others[j + 1] as number) < (some[i] as number)) j += 2;
    else return true;
  }
  return false;
}

/** Ranges that may overlap, as ranges that do not. */
function joined(ranges: readonly number[]): number[] {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] as number, ranges[i + 1] as number]);
  pairs.sort(([a], [b]) => a - b);
  const result: number[] = [];
  for (const [first, last] of pairs) {
    const end = result.length - 1;
    if (end > 0 && first <= (result[end] as number) + 1) result[end] = Math.max(result[end] as number, last);
    else result.push(first, last);
  }
  return result;
}

/** What `\w` and `\b` take for a word, without the flags `i` and `u` together. */
export const WORD = UnitSet.of('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_');
