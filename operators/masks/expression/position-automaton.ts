import { firstUnits, type Length, lengthOf } from './measure.ts';
import type { Pattern, Repetition } from './pattern.ts';
import { UnitSet } from './unit-set.ts';

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
/** Beyond, the time for a short text could be as long as that of a loop for a long one. */
const MOST_COMBINATIONS_IN_ALL = 1e9;
const MOST_ROUNDS = 10_000;
/** More optional parts in a row may be skipped in too many ways to be counted. */
export const MOST_CHOICES_TO_SKIP = 16;

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
  /** How many loops are around. */
  #depth = 0;
  #combinations = 1;
  #choicesToSkip = 0;

  constructor(mostCopies: number) {
    this.#mostCopies = mostCopies;
  }

  build(pattern: Pattern): Positions {
    const { first, last } = this.#part(pattern, UnitSet.all);
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

  /** @param after what the character after it can be. */
  #part(pattern: Pattern, after: UnitSet): Part {
    switch (pattern.kind) {
      case 'character':
        return this.#position(pattern.units);
      case 'sequence': {
        const parts: (() => Part)[] = [];
        let next = after;
        for (const item of pattern.items.toReversed()) {
          const behind = next;
          parts.unshift(() => this.#part(item, behind));
          next = startsOf(item, behind);
        }
        return this.#sequence(parts);
      }
      case 'choice':
        return this.#choice(pattern.branches, after);
      case 'repetition':
        return this.#repeated(pattern, after);
      case 'reference':
        return this.#reference(pattern);
      default:
        return NOTHING;
    }
  }

  /** The branches are tried one after the other, so their combinations are added. */
  #choice(branches: readonly Pattern[], after: UnitSet): Part {
    const before = this.#combinations;
    let ways = 1;
    const parts = branches.map((branch) => {
      this.#combinations = before;
      const part = this.#part(branch, after);
      ways += this.#combinations / before - 1;
      return part;
    });
    this.#combinations = before * ways;
    return parts.reduce(either);
  }

  /** One of a known length takes so much, whatever it is: one way, as any characters do. */
  #reference({ min, max }: Length): Part {
    if (min === max && max <= this.#mostCopies) {
      return this.#sequence(Array<() => Part>(max).fill(() => this.#position(UnitSet.all)));
    }
    this.#references.add(this.#units.length);
    return { ...this.#loop(() => this.#position(UnitSet.all)), empty: min > 0 ? 0 : 1 };
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

  #repeated(repetition: Repetition, after: UnitSet): Part {
    const outermost = this.#repetition === undefined && repetition.max > 1;
    if (outermost) this.#repetition = repetition.written;
    const part = this.#copiesOrLoop(repetition, after);
    if (outermost) this.#repetition = undefined;
    return part;
  }

  #copiesOrLoop(repetition: Repetition, after: UnitSet): Part {
    const { item, min, max, written } = repetition;
    const length = lengthOf(item);
    if (max === 0 || length.max === 0) return NOTHING;
    // What follows one round may be the next one.
    const copy = () => this.#part(item, max > 1 ? UnitSet.all : after);
    if (length.min === 0 && max > 1) {
      // An iteration of nothing counts, up to the minimum.
      if (min > 3) this.#unclear ??= written;
      const rest = () => optional(this.#loop(copy));
      return this.#sequence([
        ...Array<() => Part>(Math.min(min, 3)).fill(copy),
        ...(max > min ? [rest] : []),
      ]);
    }
    if (this.#canBeWrittenOut(repetition, after)) return this.#writtenOut(copy, min, max);
    if (min > 1) this.#endsLater = true;
    const part = this.#isConstant(repetition, after) ? copy() : this.#loop(copy);
    return min === 0 ? optional(part) : part;
  }

  #canBeWrittenOut({ item, min, max }: Repetition, after: UnitSet): boolean {
    if (max === 1) return true;
    if (max > this.#mostCopies || (min < max && max > MOST_VARYING_COPIES)) return false;
    // What is written out is no loop, in which ways that multiply would be found.
    const ends = placesToEnd(item, min, max, after);
    const next = firstUnits(item);
    const ways = waysOf(item, next) ** (max - 1) * waysOf(item, next.union(after));
    const combinations = this.#combinations * ends * ways;
    if (combinations > MOST_COMBINATIONS) return false;
    this.#combinations = combinations;
    return true;
  }

  /**
   * A bounded repetition of one character that is in no other repetition can end in so many places, whatever the length
   * of the text: one position stands for all of its rounds.
   */
  #isConstant({ item, min, max }: Repetition, after: UnitSet): boolean {
    if (this.#depth > 0 || item.kind !== 'character' || max > MOST_ROUNDS) return false;
    const ends = placesToEnd(item, min, max, after);
    const combinations = this.#combinations * ends * Math.max(1, max / MOST_COPIES);
    if (combinations > MOST_COMBINATIONS_IN_ALL) return false;
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

  #loop(item: () => Part): Part {
    this.#depth++;
    const part = item();
    this.#depth--;
    for (const position of part.last) this.#next[position]?.push(...part.first);
    return part;
  }
}

/** Where the next character cannot begin one more round, there is one place to end. */
function placesToEnd(item: Pattern, min: number, max: number, after: UnitSet): number {
  return firstUnits(item).intersects(after) ? max - min + 1 : 1;
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

/** Positions that lie on circles with each other: the bodies of repetitions. In the order in which they are reached. */
export interface Components {
  readonly loops: readonly (readonly number[])[];
  /** For each position the index of its loop, or −1. */
  readonly loopOf: Int32Array;
}

/** The strongly connected components that have a circle (Tarjan, with a stack of its own). */
export function componentsOf({ next }: Positions): Components {
  const index = new Int32Array(next.length).fill(-1);
  const low = new Int32Array(next.length);
  const onStack = new Uint8Array(next.length);
  const stack: number[] = [];
  const loops: number[][] = [];
  let counter = 0;

  const visit = (root: number) => {
    const path: { position: number; edge: number }[] = [{ position: root, edge: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { position } = top;
      if (top.edge === 0 && index[position] === -1) {
        index[position] = low[position] = counter++;
        stack.push(position);
        onStack[position] = 1;
      }
      const to = next[position]?.[top.edge++];
      if (to !== undefined) {
        if (index[to] === -1) path.push({ position: to, edge: 0 });
        else if (onStack[to] === 1) low[position] = Math.min(low[position] as number, index[to] as number);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) {
        low[parent.position] = Math.min(low[parent.position] as number, low[position] as number);
      }
      if (low[position] === index[position]) close(position);
    }
  };
  const close = (root: number) => {
    // It is near the end: from the start, the search would take time that grows with the square of the positions.
    const members = stack.splice(stack.lastIndexOf(root));
    for (const member of members) onStack[member] = 0;
    if (members.length > 1 || next[root]?.includes(root)) loops.push(members);
  };
  for (let position = 0; position < next.length; position++) if (index[position] === -1) visit(position);

  loops.reverse();
  const loopOf = new Int32Array(next.length).fill(-1);
  loops.forEach((members, loop) => {
    for (const member of members) loopOf[member] = loop;
  });
  return { loops, loopOf };
}

/**
 * In how many ways at most a pattern can take a text, where the next character does not decide. Repetitions of more
 * than one are left out: how many ways there are for them depends on how they are looked at.
 *
 * @param after what the character after it can be.
 */
function waysOf(pattern: Pattern, after: UnitSet): number {
  switch (pattern.kind) {
    case 'sequence':
      return pattern.items.reduceRight(
        ({ ways, next }, item) => ({ ways: ways * waysOf(item, next), next: startsOf(item, next) }),
        { ways: 1, next: after },
      ).ways;
    case 'choice':
      return waysOfBranches(pattern.branches, after);
    case 'repetition': {
      const { item, min, max } = pattern;
      if (max !== 1) return 1;
      const nothing = { kind: 'sequence', items: [] } as const;
      return waysOfBranches(min === 0 ? [item, nothing] : [item], after);
    }
    default:
      return 1;
  }
}

/** Branches that can take the same text are all tried. */
function waysOfBranches(branches: readonly Pattern[], after: UnitSet): number {
  const groups: { starts: (readonly UnitSet[])[]; ways: number }[] = [];
  for (const branch of branches) {
    const group = { starts: [firstOf(branch, after)], ways: waysOf(branch, after) };
    for (const other of groups.filter(({ starts }) => starts.some((one) => areAlike(one, group.starts[0])))) {
      group.starts.push(...other.starts);
      group.ways += other.ways;
      groups.splice(groups.indexOf(other), 1);
    }
    groups.push(group);
  }
  return Math.max(...groups.map(({ ways }) => ways));
}

/** Whether one text can start with both, as far as they are known. */
function areAlike(some: readonly UnitSet[], others: readonly UnitSet[] = []): boolean {
  return some.every((units, i) => others[i]?.intersects(units) !== false);
}

/** `base64` and `batch` differ at their third character. */
const MOST_COMPARED = 8;

/** What the first characters can be, of the pattern and what is after it, as far as their places are known. */
function firstOf(pattern: Pattern, after: UnitSet): readonly UnitSet[] {
  const first: UnitSet[] = [];
  const items = [...itemsIn(pattern)];
  for (let item = items.shift(); item !== undefined && first.length < MOST_COMPARED; item = items.shift()) {
    if (item.kind === 'sequence') items.unshift(...item.items);
    else if (item.kind === 'character' && !item.mayBeTwo) first.push(item.units);
    else {
      const rest = { kind: 'sequence', items: [item, ...items] } as const;
      return [...first, startsOf(rest, after)];
    }
  }
  return items.length === 0 && first.length < MOST_COMPARED ? [...first, after] : first;
}

const itemsIn = (pattern: Pattern): readonly Pattern[] =>
  pattern.kind === 'sequence' ? pattern.items : [pattern];

const LINE_ENDS = UnitSet.of('\n\r\u2028\u2029');

/** What can come first, of the pattern or, if it can be empty, of what is after it. */
function startsOf(pattern: Pattern, after: UnitSet): UnitSet {
  if (pattern.kind === 'edge' && pattern.edge === 'end') return LINE_ENDS;
  // Each branch may end at an end.
  if (pattern.kind === 'choice') {
    return pattern.branches
      .map((branch) => startsOf(branch, after))
      .reduce((all, one) => all.union(one), UnitSet.none);
  }
  if (pattern.kind === 'sequence') {
    return pattern.items.reduceRight((next, item) => startsOf(item, next), after);
  }
  const own = firstUnits(pattern);
  return lengthOf(pattern).min === 0 ? own.union(after) : own;
}
