import { programOf } from '../bytes/automaton.ts';
import type { ByteSearch, Run } from '../bytes/byte-masks.ts';
import { shareOf, shareOfText } from '../expression/frequency.ts';
import { type Exact, exactTexts, itemsOf, literalSets, occurrences } from '../expression/literals.ts';
import { firstUnits, type Length, lengthOf, plus, unitsIn } from '../expression/measure.ts';
import {
  type ParsedExpression,
  type Pattern,
  parseExpression,
  withoutCaptures,
} from '../expression/pattern.ts';
import { UnitSet, WORD } from '../expression/unit-set.ts';
import { type Finder, PlainFinder } from './finder.ts';
import {
  type Compile,
  compile,
  LineStartFinder,
  LiteralFinder,
  type Literals,
  type NeededRun,
  RunFinder,
  SHORTEST_RUN,
} from './finders.ts';
import { startsLine, withinLines } from './within-lines.ts';

/** A way to find an expression's matches, with what it is expected to cost. */
interface Way {
  /** Nanoseconds on a line of a log, roughly: they only have to be right against each other. */
  readonly cost: number;
  /** How the same can be found in bytes. */
  readonly anchor?: Anchor | undefined;
  readonly make: () => Finder;
}

/** How the matches of an expression are found in lines that are joined by LF. */
export interface LinesSearch {
  /** The engine's own way. */
  readonly plain: () => Finder;
  readonly planned: () => Finder;
  /** How to search in bytes, if that can be done. */
  readonly bytes: () => ByteSearch | undefined;
}

type Anchor = ByteSearch['anchor'];

const LINE = 160;
const PLAIN_COST = 400;
const ONE_POSITION_COST = 60;
const TRY_COST = 8;
const HIT_COST = 50;
/** Characters of one kind stand side by side more often than by chance. */
const CLUSTERING = 100;
const SEARCH_COST = 35;
/** A search stops at each place where the first character of a literal stands. */
const STOP_COST = 5;
const LOOK_COST = 8;

/**
 * The cheapest way to find the matches of an expression. It is worked out from what every match must contain and where
 * one can start.
 *
 * @param expression global.
 * @param compileFor makes the expressions that the finder asks.
 *
 * @example
 * const finder = planSearch(/[a-z]+@[a-z]+/g);
 * finder.next('to ada@example', 0); // 3
 * finder.end; // 14
 */
export function planSearch(expression: RegExp, compileFor = compile): Finder {
  return cheapest(waysThrough(expression, false, compileFor)).make();
}

/**
 * The search in lines that are joined by LF, with the same matches as in each single line. Undefined if that cannot be
 * guaranteed.
 */
export function searchOfLines(expression: RegExp): LinesSearch | undefined {
  const inLines = withinLines(expression);
  if (inLines === undefined) return undefined;
  return {
    plain: () => new PlainFinder(inLines),
    planned: () => cheapest(waysWithin(inLines, expression)).make(),
    bytes: () => {
      const ways = waysWithin(inLines, expression).filter(({ anchor }) => anchor !== undefined);
      const anchor = ways.length === 0 ? undefined : cheapest(ways).anchor;
      const program = anchor && programOf(inLines);
      return anchor && program && { anchor, program };
    },
  };
}

const cheapest = (ways: readonly Way[]): Way =>
  ways.reduce((best, way) => (way.cost < best.cost ? way : best));

/** All ways that are right for an expression: each finds the same matches. */
export function waysToFind(expression: RegExp): Way[] {
  return waysThrough(expression, false, compile);
}

/** The ways to find matches in lines that are joined by LF. Empty if the matches in each line cannot be determined. */
export function waysToFindInLines(expression: RegExp): Way[] {
  const inLines = withinLines(expression);
  return inLines === undefined ? [] : waysWithin(inLines, expression);
}

function waysWithin(inLines: RegExp, expression: RegExp): Way[] {
  const ways = waysThrough(inLines, true, compile);
  if (!startsLine(expression)) return ways;
  return [{ cost: ONE_POSITION_COST, make: () => new LineStartFinder(inLines) }, ...ways];
}

function waysThrough(expression: RegExp, inLines: boolean, compileFor: Compile): Way[] {
  const parsed = parseExpression(expression);
  if (parsed === undefined) return [{ cost: PLAIN_COST, make: () => new PlainFinder(expression) }];
  const uncaptured = compileFor(withoutCaptures(parsed), expression.flags);
  return [
    { cost: plainCost(parsed), make: () => new PlainFinder(uncaptured) },
    ...literalWays(parsed, uncaptured, compileFor),
    ...neededRuns(parsed.pattern).map((run) => ({
      cost: runCost(run),
      make: () => new RunFinder(run, uncaptured, inLines),
    })),
  ];
}

/** The engine looks for what is rarest among the first characters, and tries wherever it stands. */
function plainCost({ pattern }: ParsedExpression): number {
  const items = itemsOf(pattern);
  const [first] = items;
  // It does not look ahead past a look-behind.
  if (first?.kind === 'look' && first.behind && !first.negative) return 1.5 * PLAIN_COST;
  return SEARCH_COST + ONE_POSITION_COST + LINE * TRY_COST * Math.min(1, shareOf(firstUnits(pattern)));
}

function literalWays(parsed: ParsedExpression, expression: RegExp, compileFor: Compile): Way[] {
  const ways: Way[] = [];
  const add = (literals: Literals, run: Run, share: number) => {
    const { texts, lowered } = literals;
    const [first = '', second] = texts;
    const unit = first.charCodeAt(0);
    const isByte =
      second === undefined && !lowered && unit < 0x80 && (run.min === run.max || !run.units.has(unit));
    const stops = texts.reduce((sum, text) => sum + STOP_COST * shareOfText(text[0] as string), 0);
    ways.push({
      cost: SEARCH_COST + LINE * (stops + HIT_COST * share),
      anchor: isByte ? { unit, run } : undefined,
      make: () => new LiteralFinder(literals, run, expression, compileFor),
    });
  };
  for (const { literals, lowered } of literalSets(parsed.pattern)) {
    const [{ text, offset }, ...others] = literals as [(typeof literals)[0], ...typeof literals];
    const isAlike = others.every((one) => one.offset.min === offset.min && one.offset.max === offset.max);
    if (!isAlike || offset.min !== offset.max) continue;
    // A literal that begins with a rarer character is found faster: `_live_` rather than `sk_live_`.
    for (let skipped = 0; skipped < (others.length === 0 ? text.length : 1); skipped++) {
      const texts = literals.map((literal) => literal.text.slice(skipped));
      const at = offset.min + skipped;
      const run = { units: UnitSet.all, min: at, max: at, triesAll: false };
      add({ texts, lowered }, run, 2 * occurrences({ literals, lowered }));
    }
  }
  for (const { literals, run } of leadingRuns(parsed)) {
    add(
      literals,
      run,
      literals.texts.reduce((sum, text) => sum + shareOfText(text), 0),
    );
  }
  return ways;
}

/** More parts than any real expression has; it bounds the square of them. */
const MOST_ITEMS = 40;

/** Runs of which every match has each: of all parts side by side, and of all characters that they can be. */
function neededRuns(pattern: Pattern): NeededRun[] {
  const items = itemsOf(pattern).slice(0, MOST_ITEMS);
  const runs: NeededRun[] = [];
  let from: Length = { min: 0, max: 0 };
  items.forEach((first, index) => {
    let units = UnitSet.none;
    let length = 0;
    for (const item of items.slice(index)) {
      units = units.union(unitsIn(item));
      length += lengthOf(item).min;
      if (length >= SHORTEST_RUN && shareOf(units) < 0.95) runs.push({ units, length, most: from.max });
    }
    from = plus(from, lengthOf(first));
  });
  return runs;
}

function runCost({ units, length }: NeededRun): number {
  const share = shareOf(units);
  // A look at a character of the set goes on to both sides, as far as the run is.
  const looks = (LINE / length) * (1 + (2 * share) / (1 - share));
  const found = Math.min(1, LINE * share ** length * CLUSTERING);
  return looks * LOOK_COST + found * PLAIN_COST;
}

const MOST_TEXTS = 16;
/** In a longer run, it would cost too much to try all positions. */
const MOST_TRIED = 64;

/** The ways in which an expression begins with a repeated character, and then with one of some literals. */
function leadingRuns({ pattern, hasReferences }: ParsedExpression): { literals: Literals; run: Run }[] {
  // What a reference takes depends on where the match starts.
  if (hasReferences) return [];
  const items = itemsOf(pattern);
  const at = items.findIndex((item) => lengthOf(item).max > 0);
  const leading = items[at];
  if (leading?.kind !== 'repetition' || leading.item.kind !== 'character' || leading.item.mayBeTwo) return [];
  const { item, min, max } = leading;
  const run = { units: item.units, min, max };
  const holdsAtEdge = items.slice(0, at).every((condition) => holdsOnlyAtEdge(condition, run));
  return [1, MOST_TEXTS].flatMap((most) => {
    const literals = textsAtStart(unrolled(items.slice(at + 1)), most);
    if (literals === undefined) return [];
    const isInRun = literals.texts.some((text) => begins(text, run.units, literals.lowered));
    if (isInRun && max > MOST_TRIED) return [];
    return [{ literals, run: { ...run, triesAll: isInRun || !holdsAtEdge } }];
  });
}

/** With the first round of a repetition written out: `(\.\d+){3}` begins with a dot. */
function unrolled(items: readonly Pattern[]): readonly Pattern[] {
  const [first, ...others] = items;
  if (first?.kind !== 'repetition' || first.min === 0 || lengthOf(first).max === 0) return items;
  const { item, min, max } = first;
  return unrolled([...itemsOf(item), { ...first, min: min - 1, max: max - 1 }, ...others]);
}

/** The texts that a sequence begins with. */
function textsAtStart(items: readonly Pattern[], most: number): Literals | undefined {
  let found: Exact | undefined;
  for (let end = 1; end <= items.length; end++) {
    const longer = exactTexts({ kind: 'sequence', items: items.slice(0, end) }, most);
    if (longer === undefined) break;
    found = longer;
  }
  return found === undefined || found.texts.includes('') ? undefined : found;
}

function begins(text: string, units: UnitSet, lowered: boolean): boolean {
  const first = text[0] as string;
  return units.has(first.charCodeAt(0)) || (lowered && units.has(first.toUpperCase().charCodeAt(0)));
}

/** Whether a condition cannot hold between two characters of a run, so that only its first position is left. */
function holdsOnlyAtEdge(item: Pattern, { units, min }: Pick<Run, 'units' | 'min'>): boolean {
  if (item.kind === 'edge') {
    if (item.edge === 'start') return true;
    return item.edge === 'boundary' && min > 0 && (units.isWithin(WORD) || !units.intersects(WORD));
  }
  if (item.kind !== 'look' || !item.behind || !item.negative) return false;
  const { inside } = item;
  return inside.kind === 'character' && !inside.mayBeTwo && units.isWithin(inside.units);
}
