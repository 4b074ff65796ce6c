import { shareOfText } from './frequency.ts';
import { type Length, lengthOf, plus } from './measure.ts';
import type { Pattern } from './pattern.ts';
import type { UnitSet } from './unit-set.ts';

/** A text that stands in a match, and where: its position less that of the match's start, at least and at most. */
interface Literal {
  readonly text: string;
  readonly offset: Length;
}

/** Texts of which every match has one. */
interface LiteralSet {
  readonly literals: readonly Literal[];
  /** The texts are in lower case, and are to be found in the text in lower case. */
  readonly lowered: boolean;
}

/** Each text is a search of its own. */
const MOST_TEXTS = 6;

/**
 * The sets of literals that an expression needs, any one of which will do. What a look-behind at the very start
 * needs counts too: it stands before the match, at an offset below 0.
 */
export function literalSets(pattern: Pattern): LiteralSet[] {
  const items = itemsOf(pattern);
  // Single texts as well as sets: `gh` in `gh[pousr]_` takes one search, the whole of it takes five.
  const sets = [1, MOST_TEXTS].flatMap((most) => [
    ...setsAmong(items, forwards(items), most),
    ...leadingLookBehinds(items).flatMap((inside) => setsAmong(inside, backwards(inside), most)),
  ]);
  return [...sets, ...sets.flatMap(sharedEnds)];
}

/** So many take no longer to find together than one does. */
const MOST_REQUIRED = 64;
const SHORTEST_REQUIRED = 3;
/** In how many lines of a log one of them may be. */
const MOST_LINES = 0.3;
const LINE = 160;

/**
 * ASCII texts in lower case, one of which is in every string that an expression matches, in any case. Undefined if
 * there are none, or if they are common in logs.
 */
export function requiredLiterals(pattern: Pattern): readonly string[] | undefined {
  const items = itemsOf(pattern);
  const sets = [
    ...setsAmong(items, forwards(items), MOST_REQUIRED),
    ...leadingLookBehinds(items).flatMap((inside) => setsAmong(inside, backwards(inside), MOST_REQUIRED)),
  ].filter(({ literals }) =>
    literals.every(({ text }) => text.length >= SHORTEST_REQUIRED && isAscii(text) && !text.includes('\n')),
  );
  if (sets.length === 0) return undefined;
  const rarest = sets.reduce((a, b) => (occurrences(b) < occurrences(a) ? b : a));
  if (occurrences(rarest) * LINE > MOST_LINES) return undefined;
  const texts = [...new Set(rarest.literals.map(({ text }) => text.toLowerCase()))];
  // Where `key` is searched for, `_key` is found by it.
  return texts.filter((text) => !texts.some((other) => other !== text && text.includes(other)));
}

/** `IA` of `AKIA` and `ASIA`: one search in place of two. */
function sharedEnds({ literals, lowered }: LiteralSet): LiteralSet[] {
  const [{ text: first, offset }, ...others] = literals as [Literal, ...Literal[]];
  const isAlike = ({ text, offset: { min, max } }: Literal) =>
    text.length === first.length && min === offset.min && max === offset.max;
  if (others.length === 0 || !others.every(isAlike)) return [];
  let from = first.length;
  while (others.every(({ text }) => text.endsWith(first.slice(from - 1))) && from > 0) from--;
  if (from === first.length) return [];
  const shared = { text: first.slice(from), offset: { min: offset.min + from, max: offset.max + from } };
  return [{ literals: [shared], lowered }];
}

export const itemsOf = (pattern: Pattern): readonly Pattern[] =>
  pattern.kind === 'sequence' ? pattern.items : [pattern];

function leadingLookBehinds(items: readonly Pattern[]): (readonly Pattern[])[] {
  const found: (readonly Pattern[])[] = [];
  for (const item of items) {
    if (lengthOf(item).max > 0) break;
    if (item.kind === 'look' && item.behind && !item.negative) found.push(itemsOf(item.inside));
  }
  return found;
}

/** Where in a sequence things stand: an item, and a text that ends in front of an item. */
interface Offsets {
  item(index: number): Length;
  text(text: string, first: number, end: number): Length;
}

function forwards(items: readonly Pattern[], from: Length = { min: 0, max: 0 }): Offsets {
  const item = (index: number) => items.slice(0, index).map(lengthOf).reduce(plus, from);
  return { item, text: (_text, first) => item(first) };
}

/** In a look-behind, which ends where the match starts. */
function backwards(items: readonly Pattern[]): Offsets {
  const item = (index: number) => {
    const { min, max } = items.slice(index).map(lengthOf).reduce(plus, { min: 0, max: 0 });
    return { min: -max, max: -min };
  };
  const text = (text: string, _first: number, end: number) =>
    plus(item(end), { min: -text.length, max: -text.length });
  return { item, text };
}

function setsAmong(items: readonly Pattern[], offsets: Offsets, most: number): LiteralSet[] {
  const found: LiteralSet[] = [];
  let run = NOTHING;
  let first = 0;
  const end = (index: number) => {
    if (!run.texts.includes('')) {
      const literals = run.texts.map((text) => ({ text, offset: offsets.text(text, first, index) }));
      found.push({ literals, lowered: run.lowered });
    }
    run = NOTHING;
    first = index + 1;
  };
  items.forEach((item, index) => {
    if (lengthOf(item).max === 0) return;
    const exact = exactTexts(item, most);
    const longer = exact && product(run, exact, most);
    if (longer !== undefined) {
      run = longer;
      return;
    }
    end(index);
    if (exact === undefined) {
      found.push(...setsInside(item, offsets.item(index), most));
    } else {
      run = exact;
      first = index;
    }
  });
  end(items.length);
  return found;
}

function setsInside(item: Pattern, at: Length, most: number): LiteralSet[] {
  if (item.kind === 'repetition' && item.min > 0) {
    const items = itemsOf(item.item);
    return setsAmong(items, forwards(items, at), most);
  }
  if (item.kind !== 'choice') return [];
  const rarest: LiteralSet[] = [];
  for (const branch of item.branches) {
    const items = itemsOf(branch);
    const sets = setsAmong(items, forwards(items, at), most);
    if (sets.length === 0) return [];
    rarest.push(sets.reduce((a, b) => (occurrences(b) < occurrences(a) ? b : a)));
  }
  const lowered = rarest.some((set) => set.lowered);
  const all = rarest.flatMap((set) => set.literals);
  // The lower case of other letters can be longer, or be a letter of ASCII: a text in two cases would not show them.
  if (lowered && !all.every(({ text }) => isAscii(text))) return [];
  const literals = needed(lowered ? all.map((one) => ({ ...one, text: one.text.toLowerCase() })) : all);
  // Several branches may need one literal: of so many, few may be left.
  const mostOfAll = most === MOST_REQUIRED ? 4 * MOST_REQUIRED : MOST_TEXTS;
  return literals.length > mostOfAll ? [] : [{ lowered, literals }];
}

/** Where `St` is searched for, `Street` at the same place is found by it. */
function needed(literals: readonly Literal[]): Literal[] {
  return literals.filter(
    ({ text, offset }, index) =>
      !literals.some(
        (other, at) =>
          at !== index &&
          text.startsWith(other.text) &&
          (other.text !== text || at < index) &&
          other.offset.min === offset.min &&
          other.offset.max === offset.max,
      ),
  );
}

/** How many of a set's literals are to be expected per character of a log. */
export function occurrences(set: LiteralSet): number {
  return set.literals.reduce((sum, { text }) => sum + shareOfText(text), 0);
}

/** Texts of which a pattern takes exactly one. */
export interface Exact {
  readonly texts: readonly string[];
  readonly lowered: boolean;
}

const NOTHING: Exact = { texts: [''], lowered: false };

/** The texts that a pattern takes, if they are few. */
export function exactTexts(pattern: Pattern, most: number): Exact | undefined {
  switch (pattern.kind) {
    case 'character':
      return pattern.mayBeTwo ? undefined : textsOf(pattern.units, most);
    case 'sequence':
      return pattern.items.reduce<Exact | undefined>((all, item) => {
        const exact = lengthOf(item).max === 0 ? NOTHING : exactTexts(item, most);
        return all && exact && product(all, exact, most);
      }, NOTHING);
    case 'choice': {
      const all = pattern.branches.map((branch) => exactTexts(branch, most));
      if (all.some((one) => one === undefined)) return undefined;
      return sum(all as Exact[], most);
    }
    case 'repetition': {
      const { min, max } = pattern;
      if (max > 64) return undefined;
      const exact = exactTexts(pattern.item, most);
      if (exact === undefined || exact.texts.length ** Math.max(1, min) > most) return undefined;
      let all: Exact | undefined = power(exact, min, most);
      for (let times = min + 1; times <= max && all !== undefined; times++) {
        const longer = power(exact, times, most);
        all = longer && sum([all, longer], most);
      }
      return all;
    }
    default:
      return undefined;
  }
}

/** The sets of a few expressions are those of most others. */
const knownTexts = new WeakMap<UnitSet, Exact>();

function textsOf(units: UnitSet, most: number): Exact | undefined {
  let exact = knownTexts.get(units);
  if (exact === undefined) {
    exact = textsOfMembers(units.members(2 * MOST_REQUIRED) ?? []);
    knownTexts.set(units, exact);
  }
  const { length } = exact.texts;
  return length > 0 && length <= most ? exact : undefined;
}

/** Both cases of a letter are one text in lower case. */
function textsOfMembers(members: readonly string[]): Exact {
  const folded = [...new Set(members.map((member) => member.toLowerCase()))];
  const lowered = folded.length < members.length && members.every(isAscii);
  return { texts: lowered ? folded : members, lowered };
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

function power(exact: Exact, times: number, most: number): Exact | undefined {
  let all: Exact | undefined = NOTHING;
  for (let i = 0; i < times && all !== undefined; i++) all = product(all, exact, most);
  return all;
}

/** Each text of the first list, followed by each of the second. */
function product(a: Exact, b: Exact, most: number): Exact | undefined {
  if (a.texts.length * b.texts.length > most) return undefined;
  if (a === NOTHING) return b;
  if (b === NOTHING) return a;
  if (a.texts.length === 1 && b.texts.length === 1 && a.lowered === b.lowered) {
    return { texts: [`${a.texts[0]}${b.texts[0]}`], lowered: a.lowered };
  }
  return sum(
    a.texts.map((before) => ({
      texts: b.texts.map((after) => before + after),
      lowered: a.lowered || b.lowered,
    })),
    most,
  );
}

function sum(all: readonly Exact[], most: number): Exact | undefined {
  const lowered = all.some((one) => one.lowered);
  let texts = all.flatMap((one) => one.texts);
  if (lowered) {
    // What lower case makes of other letters can depend on their neighbours.
    if (!texts.every(isAscii)) return undefined;
    texts = texts.map((text) => text.toLowerCase());
  }
  texts = [...new Set(texts)];
  return texts.length <= most ? { texts, lowered } : undefined;
}
