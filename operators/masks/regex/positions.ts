import { firstUnits, type Length, lengthOf } from './measure.ts';
import type { Pattern, Repetition } from './pattern.ts';
import { UnitSet } from './unit-set.ts';
import { waysOf } from './ways.ts';

/**
 * An expression as a graph of its characters (Glushkov's automaton): which can be first, and which can come next
 * after each. One that can come next in two ways is there twice, as backtracking tries both.
 *
 * It allows all that the expression allows and more: long repetitions have no upper bound, conditions are left
 * out, a back-reference takes anything of its length, if that is known. So what takes little time here takes little
 * time there.
 */
export interface Positions {
  readonly units: readonly UnitSet[];
  readonly next: readonly (readonly number[])[];
  /** The outermost repetition around each, as it is written. */
  readonly around: readonly (string | undefined)[];
  readonly first: readonly number[];
  readonly last: readonly number[];
  /** Back-references, which take what they take: there is nothing to choose. */
  readonly references: ReadonlySet<number>;
  /** In how many ways all that varies a little may be combined, at most, on top of what the graph shows. */
  readonly combinations: number;
  /** Whether a repetition must come more often than the graph says, so that it may end later. */
  readonly endsLater: boolean;
  /** A part whose ways to match are too many to be counted by a graph. */
  readonly unclear: string | undefined;
}

/** A part of the expression: where it begins and ends, and in how many ways it can be empty (2: or more). */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly empty: 0 | 1 | 2;
}

const NOTHING: Part = { first: [], last: [], empty: 1 };
const MOST_POSITIONS = 1500;
/** Repetitions of a fixed number, and those that vary a little, are written out up to here. */
const MOST_COPIES = 100;
const MOST_VARYING_COPIES = 16;
/** In how many ways all that varies a little may be combined; above, the rest counts as varying without end. */
const MOST_COMBINATIONS = 10_000;
const MOST_CHOICES_TO_SKIP = 16;

class TooLarge extends Error {}

export function positionsOf(pattern: Pattern): Positions {
  try {
    return new Builder(MOST_COPIES).build(pattern);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return new Builder(1).build(pattern);
  }
}

class Builder {
  readonly #units: UnitSet[] = [];
  readonly #next: number[][] = [];
  readonly #around: (string | undefined)[] = [];
  readonly #references = new Set<number>();
  readonly #mostCopies: number;
  #repetition: string | undefined;
  #unclear: string | undefined;
  #endsLater = false;
  #combinations = 1;
  #choicesToSkip = 0;

  constructor(mostCopies: number) {
    this.#mostCopies = mostCopies;
  }

  build(pattern: Pattern): Positions {
    const { first, last } = this.#part(pattern);
    return {
      units: this.#units,
      next: this.#next,
      around: this.#around,
      first,
      last,
      references: this.#references,
      combinations: this.#combinations,
      endsLater: this.#endsLater,
      unclear: this.#unclear,
    };
  }

  #part(pattern: Pattern): Part {
    switch (pattern.kind) {
      case 'character':
        return this.#position(pattern.units);
      case 'sequence':
        return this.#sequence(pattern.items.map((item) => () => this.#part(item)));
      case 'choice':
        return pattern.branches.map((branch) => this.#part(branch)).reduce(either);
      case 'repetition':
        return this.#repeated(pattern);
      case 'reference':
        return this.#reference(pattern);
      default:
        return NOTHING;
    }
  }

  /** One of a known length takes so much, whatever it is: one way, as any characters do. */
  #reference({ min, max }: Length): Part {
    if (min === max && max <= this.#mostCopies) {
      return this.#sequence(Array<() => Part>(max).fill(() => this.#position(UnitSet.all)));
    }
    this.#references.add(this.#units.length);
    return { ...this.#loop(this.#position(UnitSet.all)), empty: min > 0 ? 0 : 1 };
  }

  #position(units: UnitSet): Part {
    if (this.#units.length >= MOST_POSITIONS && this.#mostCopies > 1) throw new TooLarge();
    const here = [this.#units.length];
    this.#units.push(units);
    this.#next.push([]);
    this.#around.push(this.#repetition);
    return { first: here, last: here, empty: 0 };
  }

  #sequence(parts: readonly (() => Part)[]): Part {
    return parts.reduce<Part>((before, part) => this.#join(before, part()), NOTHING);
  }

  #join(before: Part, after: Part): Part {
    for (const position of before.last) this.#next[position]?.push(...after.first);
    if (before.empty > 0 && this.#overlap(before.first, after.first)) this.#countSkip();
    return {
      // What can be skipped in two ways joins its neighbours in two ways.
      first: [...before.first, ...times(after.first, before.empty)],
      last: [...after.last, ...times(before.last, after.empty)],
      empty: Math.min(2, before.empty * after.empty) as Part['empty'],
    };
  }

  #overlap(some: readonly number[], others: readonly number[]): boolean {
    const all = (positions: readonly number[]) =>
      positions.map((one) => this.#units[one] as UnitSet).reduce((a, b) => a.union(b), UnitSet.none);
    return all(some).intersects(all(others));
  }

  #countSkip(): void {
    this.#choicesToSkip++;
    if (this.#choicesToSkip > MOST_CHOICES_TO_SKIP) this.#unclear ??= 'so many optional parts in a row';
  }

  #repeated(repetition: Repetition): Part {
    const outermost = this.#repetition === undefined && repetition.max > 1;
    if (outermost) this.#repetition = repetition.written;
    const part = this.#copiesOrLoop(repetition);
    if (outermost) this.#repetition = undefined;
    return part;
  }

  #copiesOrLoop(repetition: Repetition): Part {
    const { item, min, max, written } = repetition;
    const length = lengthOf(item);
    if (max === 0 || length.max === 0) return NOTHING;
    const copy = () => this.#part(item);
    if (length.min === 0 && max > 1) {
      // An iteration of nothing counts, up to the minimum.
      if (min > 3) this.#unclear ??= written;
      const rest = () => optional(this.#loop(copy()));
      return this.#sequence([
        ...Array<() => Part>(Math.min(min, 3)).fill(copy),
        ...(max > min ? [rest] : []),
      ]);
    }
    if (this.#canBeWrittenOut(repetition)) return this.#writtenOut(copy, min, max);
    if (min > 1) this.#endsLater = true;
    const loop = this.#loop(copy());
    return min === 0 ? optional(loop) : loop;
  }

  #canBeWrittenOut({ item, min, max }: Repetition): boolean {
    if (max === 1) return true;
    if (max > this.#mostCopies || (min < max && max > MOST_VARYING_COPIES)) return false;
    // What is written out is no loop, in which ways that multiply would be found.
    const combinations = this.#combinations * (max - min + 1) * waysOf(item, firstUnits(item)) ** max;
    if (combinations > MOST_COMBINATIONS) return false;
    this.#combinations = combinations;
    return true;
  }

  /** x{1,3} as x(x(x)?)? */
  #writtenOut(copy: () => Part, min: number, max: number): Part {
    const required = this.#sequence(Array<() => Part>(min).fill(copy));
    let { first } = required;
    let from = min === 0 ? [] : required.last;
    const last = [...from];
    for (let i = min; i < max; i++) {
      const part = copy();
      for (const position of from) this.#next[position]?.push(...part.first);
      if (i === 0) first = part.first;
      from = part.last;
      last.push(...part.last);
    }
    return { first, last, empty: min === 0 ? 1 : required.empty };
  }

  #loop(part: Part): Part {
    for (const position of part.last) this.#next[position]?.push(...part.first);
    return part;
  }
}

/** The engine does not take an iteration of nothing, so there is one way only to be empty. */
function optional(part: Part): Part {
  return { ...part, empty: 1 };
}

function either(a: Part, b: Part): Part {
  return {
    first: [...a.first, ...b.first],
    last: [...a.last, ...b.last],
    empty: Math.min(2, a.empty + b.empty) as Part['empty'],
  };
}

function times(positions: readonly number[], ways: Part['empty']): readonly number[] {
  if (ways < 2) return ways === 1 ? positions : [];
  const once = new Set(positions);
  return [...once, ...once];
}
