import { type Ambiguity, findAmbiguity } from './ambiguity.ts';
import { itemsOf } from './literals.ts';
import { lengthOf } from './measure.ts';
import { type Look, type ParsedExpression, type Pattern, parseExpression } from './pattern.ts';
import {
  type Components,
  componentsOf,
  MOST_CHOICES_TO_SKIP,
  type Positions,
  positionsOf,
} from './position-automaton.ts';
import { UnitSet } from './unit-set.ts';

/** What an expression can cost at worst, on an engine that backtracks. */
export interface Cost {
  /** Set if time can double with each character of a text. */
  readonly ambiguity: Ambiguity | undefined;
  /** Otherwise the steps are at most in proportion to this power of a text's length. */
  readonly degree: number;
  /** Roughly how many steps that is for a text of one character. */
  readonly factor: number;
}

const UNKNOWN: Cost = { ambiguity: undefined, degree: Number.POSITIVE_INFINITY, factor: 1 };
/** A configuration asks when it is read, when it is given a host, and when a pipeline starts. */
const known = new WeakMap<ParsedExpression, Cost>();
/** Every pair of them is looked at. */
const MOST_LOOPS = 40;
/** Shorter back-references are compared in no time. */
const MOST_COMPARED = 64;

/**
 * An upper bound of what an expression costs. It can be too high, for conditions are not looked into; it is never
 * too low.
 *
 * @example
 * costOf(/[a-z]+@/g).degree; // 2
 * costOf(/^(a+)+$/g).ambiguity; // { part: '(a+)+', text: 'a' }
 */
export function costOf(expression: RegExp): Cost {
  const parsed = parseExpression(expression);
  if (parsed === undefined) return UNKNOWN;
  let cost = known.get(parsed);
  if (cost === undefined) {
    cost = workOut(parsed);
    known.set(parsed, cost);
  }
  return cost;
}

/**
 * The ambiguity of {@link costOf}. Most expressions repeat nothing but single characters, and each of those can be taken
 * in one way only. Checking for that takes a fraction of the time.
 */
export function ambiguityOf(expression: RegExp): Ambiguity | undefined {
  const parsed = parseExpression(expression);
  if (parsed !== undefined && repeatsCharactersOnly(parsed.pattern)) return undefined;
  return costOf(expression).ambiguity;
}

function repeatsCharactersOnly(pattern: Pattern): boolean {
  let optional = 0;
  const isPlain = (part: Pattern): boolean => {
    if (part.kind === 'repetition' && part.max > 1 && part.item.kind !== 'character') return false;
    if (part.kind === 'repetition' || part.kind === 'choice') optional += lengthOf(part).min === 0 ? 1 : 0;
    return partsOf(part).every(isPlain);
  };
  return isPlain(pattern) && optional <= MOST_CHOICES_TO_SKIP;
}

function workOut({ pattern }: ParsedExpression): Cost {
  const starts = startsOnce(pattern) ? undefined : UnitSet.all;
  const main = costOfPart(pattern, starts, !hasConditions(pattern));
  const cost = withConditions(main, pattern);
  return { ...cost, degree: cost.degree + (holds(pattern, comparesMuch) ? 1 : 0) };
}

/** Every condition of a part is looked into again at each step of the part, one after the other. */
function withConditions(own: Cost, part: Pattern): Cost {
  const looks = looksIn(part).map(({ inside, behind }) =>
    // A look-behind is matched from its end.
    withConditions(costOfPart(inside, undefined, !behind && !hasConditions(inside)), inside),
  );
  if (looks.length === 0) return own;
  return {
    ambiguity: [own, ...looks].find(({ ambiguity }) => ambiguity !== undefined)?.ambiguity,
    degree: own.degree + Math.max(...looks.map(({ degree }) => degree)),
    factor: own.factor * looks.reduce((sum, { factor }) => sum + factor, 0),
  };
}

/** With `^` at its start, an expression is tried once, not at each character. */
function startsOnce(pattern: Pattern): boolean {
  if (pattern.kind === 'choice') return pattern.branches.every(startsOnce);
  const [first] = itemsOf(pattern);
  return first?.kind === 'edge' && first.edge === 'start';
}

/** Whether there is a condition anywhere but at the very start. */
function hasConditions(pattern: Pattern): boolean {
  const items = itemsOf(pattern);
  const first = items.findIndex(({ kind }) => kind !== 'edge' && kind !== 'look');
  return items.slice(Math.max(0, first)).some((item) => holds(item, isCondition));
}

const isCondition = ({ kind }: Pattern): boolean =>
  kind === 'edge' || kind === 'look' || kind === 'reference';

/** To compare a long back-reference is a step for each of its characters. */
const comparesMuch = (part: Pattern): boolean => part.kind === 'reference' && part.max > MOST_COMPARED;

/** Whether some part is of a kind. */
function holds(pattern: Pattern, is: (part: Pattern) => boolean): boolean {
  return is(pattern) || partsOf(pattern).some((part) => holds(part, is));
}

function partsOf(pattern: Pattern): readonly Pattern[] {
  switch (pattern.kind) {
    case 'sequence':
      return pattern.items;
    case 'choice':
      return pattern.branches;
    case 'repetition':
      return [pattern.item];
    case 'look':
      return [pattern.inside];
    default:
      return [];
  }
}

/** All conditions that are in no other one. */
function looksIn(pattern: Pattern): Look[] {
  return pattern.kind === 'look' ? [pattern] : partsOf(pattern).flatMap(looksIn);
}

/** @param starts what the text before a match can be, or `undefined` for a match that starts in one place. */
function costOfPart(pattern: Pattern, starts: UnitSet | undefined, endsAnywhere: boolean): Cost {
  const positions = positionsOf(pattern);
  const components = componentsOf(positions);
  const ambiguity = findAmbiguity(positions, components, endsAnywhere);
  const { combinations: factor } = positions;
  if (components.loops.length > MOST_LOOPS) return { ...UNKNOWN, ambiguity };
  if (starts === undefined && components.loops.length === 0) return { ambiguity, degree: 0, factor };
  return { ambiguity, degree: 1 + rivalries(positions, components, starts), factor };
}

/**
 * How many pairs of loops, one after the other, can divide one text between them: each is a choice of where one
 * ends and the next begins.
 */
function rivalries(positions: Positions, components: Components, starts: UnitSet | undefined): number {
  const { loops } = components;
  const alphabets = loops.map((members) => unionAt(positions, members));
  const most = loops.map(() => 0);
  loops.forEach((_, to) => {
    const alphabet = alphabets[to] as UnitSet;
    const chooses = !(loops[to] as readonly number[]).every((member) => positions.references.has(member));
    if (starts !== undefined && chooses && leads(positions, positions.first, to, components, alphabet))
      most[to] = 1;
    for (let from = 0; from < to; from++) {
      const members = loops[from] as readonly number[];
      if (!leads(positions, members, to, components, UnitSet.all)) continue;
      const shared = alphabet.intersection(alphabets[from] as UnitSet);
      const rivals = chooses && !shared.isEmpty && leads(positions, members, to, components, shared);
      most[to] = Math.max(most[to] as number, (most[from] as number) + (rivals ? 1 : 0));
    }
  });
  return Math.max(0, ...most);
}

function unionAt({ units }: Positions, members: readonly number[]): UnitSet {
  return members.map((member) => units[member] as UnitSet).reduce((all, one) => all.union(one), UnitSet.none);
}

/** Whether a loop can be reached by a text of certain characters. */
function leads(
  { units, next }: Positions,
  from: readonly number[],
  to: number,
  { loopOf }: Components,
  by: UnitSet,
): boolean {
  const seen = new Set<number>(from);
  const queue = [...from];
  for (let i = 0; i < queue.length; i++) {
    const position = queue[i] as number;
    if (loopOf[position] === to) return true;
    for (const after of next[position] ?? []) {
      if (seen.has(after) || !(units[after] as UnitSet).intersects(by)) continue;
      seen.add(after);
      queue.push(after);
    }
  }
  return false;
}
