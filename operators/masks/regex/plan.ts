import { programOf } from '../bytes/automaton.ts';
import type { ByteSearch } from '../bytes/byte-masks.ts';
import type { Anchor } from '../bytes/byte-rule.ts';
import { type Finder, OnePosition, PlainFinder, plainSearch } from './finder.ts';
import { checksBeside, fixedPositions } from './fixed-positions.ts';
import { shareOf, shareOfText } from './frequency.ts';
import { type Gate, GatedFinder, GatedLinesFinder } from './gated-finders.ts';
import type { Needs } from './joined-gates.ts';
import { leadingRuns } from './leading-run.ts';
import { LineStartFinder } from './line-start-finder.ts';
import { FixedFinder, LiteralGate, LowerCaseFinder, type Run, RunFinder } from './literal-finders.ts';
import { type LiteralSearch, literalSearch } from './literal-search.ts';
import { itemsOf, type Literal, type LiteralSet, literalSets, occurrences } from './literals.ts';
import type { Length } from './measure.ts';
import { neededRuns } from './needed-runs.ts';
import { needleOf } from './needle.ts';
import { type ParsedExpression, parseExpression, withoutCaptures } from './pattern.ts';
import { type NeededRun, RunGate } from './run-gate.ts';
import { UnitSet } from './unit-set.ts';
import { startsLine, withinLines } from './within-lines.ts';

/** A way to find an expression's matches, with what it is expected to cost. */
export interface Way {
  /** Nanoseconds on a line of a log, roughly: they only have to be right against each other. */
  readonly cost: number;
  /** A text that every match has, or an empty one: to ask for it is quicker than to ask the finder. */
  readonly literal: string;
  /** How the same can be found in bytes. */
  readonly anchor?: Anchor | undefined;
  readonly make: () => Finder;
}

/** How the matches of an expression are found. */
export interface Plan extends Needs {
  /** A text that every match has, or an empty one. */
  readonly literal: string;
  readonly finder: Finder;
}

/** The same for lines that are joined. */
export interface LinesPlan extends Plan {
  /** How to search in bytes, if that can be done. */
  readonly bytes: ByteSearch | undefined;
}

const LINE = 160;
const PLAIN_COST = 400;
const ONE_POSITION_COST = 60;
const TRY_COST = 8;
const HIT_COST = 50;
/** Characters of one kind stand side by side more often than by chance. */
const CLUSTERING = 100;
const SEARCH_COST = 35;
const LOWER_CASE_COST = 40;
/** A search stops at each place where the first character of a literal stands. */
const STOP_COST = 5;
const LOOK_COST = 8;

/**
 * The cheapest way to find the matches of an expression. It is worked out once, from what every match must contain
 * and where one can start.
 *
 * @param expression global.
 *
 * @example
 * const { literal, finder } = planSearch(/[a-z]+@[a-z]+/g);
 * literal; // '@'
 * finder.next('to ada@example', 0); // 3
 * finder.end; // 14
 */
export function planSearch(expression: RegExp): Plan {
  return planOf(expression, waysToFind(expression));
}

/** How the matches of an expression are found in lines. */
export interface LinesSearch {
  /** The engine's own way. */
  readonly plain: Plan;
  /** The cheapest way, to be worked out. */
  readonly planned: () => LinesPlan;
}

/**
 * {@link plainSearch} and {@link planSearch} for lines that are joined by LF, in which they find what they would find in
 * each of them. Undefined if that cannot be said.
 */
export function searchOfLines(expression: RegExp): LinesSearch | undefined {
  const inLines = withinLines(expression);
  if (inLines === undefined) return undefined;
  const planned = () => {
    const ways = waysWithin(inLines, expression);
    return { ...planOf(inLines, ways), bytes: bytesOf(inLines, ways) };
  };
  return { plain: plainSearch(inLines), planned };
}

function bytesOf(inLines: RegExp, ways: readonly Way[]): ByteSearch | undefined {
  const [best] = ways.filter(({ anchor }) => anchor !== undefined).sort((a, b) => a.cost - b.cost);
  const program = best && programOf(inLines);
  return best?.anchor && program && { anchor: best.anchor, program };
}

function planOf(expression: RegExp, ways: readonly Way[]): Plan {
  const { literal, make } = ways.reduce((best, way) => (way.cost < best.cost ? way : best));
  return { literal, finder: make(), ...needsOf(expression) };
}

/** What can be searched for together with what other expressions need. */
function needsOf(expression: RegExp): Needs {
  const parsed = parseExpression(expression);
  if (parsed === undefined) return { needle: undefined, run: undefined };
  const [run] = neededRuns(parsed.pattern).sort((a, b) => runCost(a) - runCost(b));
  const isQuick = run !== undefined && runCost(run) < plainCost(parsed);
  return { needle: needleOf(parsed), run: isQuick ? run : undefined };
}

/** All ways that are right for an expression: each finds the same matches. */
export function waysToFind(expression: RegExp): Way[] {
  return waysThrough(GatedFinder, expression);
}

/** The same for lines that are joined by LF: none if it cannot be said what an expression finds in each of them. */
export function waysToFindInLines(expression: RegExp): Way[] {
  const inLines = withinLines(expression);
  return inLines === undefined ? [] : waysWithin(inLines, expression);
}

function waysWithin(inLines: RegExp, expression: RegExp): Way[] {
  const ways = waysThrough(GatedLinesFinder, inLines);
  if (!startsLine(expression)) return ways;
  const make = () => new LineStartFinder(new OnePosition(sticky(inLines)));
  return [{ cost: ONE_POSITION_COST, literal: '', make }, ...ways];
}

type GatedBy = new (gate: Gate, plain: PlainFinder) => Finder;

function waysThrough(Gated: GatedBy, expression: RegExp): Way[] {
  const parsed = parseExpression(expression);
  if (parsed === undefined)
    return [{ cost: PLAIN_COST, literal: '', make: () => new PlainFinder(expression) }];
  const source = withoutCaptures(parsed);
  const { flags } = expression;
  const plain = new PlainFinder(new RegExp(source, flags));
  const position = new OnePosition(sticky(new RegExp(source, flags)));
  const gated = (gate: Gate) => new Gated(gate, plain);
  return [
    { cost: plainCost(parsed), literal: '', make: () => plain },
    ...literalWays(parsed, plain, position, gated),
    ...runWays(parsed, gated),
  ];
}

const sticky = ({ source, flags }: RegExp): RegExp => new RegExp(source, flags.replace('g', 'y'));

/** The engine looks for what is rarest among the first characters, and tries wherever it stands. */
function plainCost({ pattern }: ParsedExpression): number {
  const [first] = itemsOf(pattern);
  // It does not look ahead past a look-behind.
  if (first?.kind === 'look' && first.behind && !first.negative) return 1.5 * PLAIN_COST;
  const shares = fixedPositions(pattern)
    .slice(0, 4)
    .map(({ units }) => shareOf(units));
  return SEARCH_COST + ONE_POSITION_COST + LINE * TRY_COST * Math.min(1, ...shares);
}

function literalWays(
  parsed: ParsedExpression,
  plain: PlainFinder,
  position: OnePosition,
  gated: (gate: Gate) => Finder,
): Way[] {
  const ways: Way[] = [];
  const add = (set: LiteralSet, perHit: number, make: () => Finder, run?: Run) => {
    const cost = searchCost(set) + LINE * perHit * occurrences(set);
    const [only, second] = textsOf(set);
    const literal = set.lowered || second !== undefined ? '' : (only as string);
    const isOne = !set.lowered && second === undefined;
    const anchor = isOne && run !== undefined ? anchorOf(only as string, run) : undefined;
    ways.push({
      cost,
      literal,
      anchor,
      make: () => (set.lowered ? new LowerCaseFinder(make(), plain) : make()),
    });
  };
  const fixed = fixedPositions(parsed.pattern);
  for (const set of literalSets(parsed.pattern)) {
    for (const one of withSuffixes(set)) {
      const [{ offset, text }] = one.literals as [Literal];
      if (offset.min !== offset.max || one.literals.some((other) => !isSameLength(other.offset, offset)))
        continue;
      const checks = checksBeside(fixed, offset.min, text.length);
      const perHit =
        HIT_COST + ONE_POSITION_COST * checks.reduce((share, { units }) => share * shareOf(units), 1);
      const run = { units: UnitSet.all, min: offset.min, max: offset.min, hasConditions: false };
      add(one, perHit, () => new FixedFinder(searchOf(one), offset.min, checks, position), run);
    }
    const rare = withRareStarts(set);
    const [{ offset }] = rare.literals as [Literal];
    add(rare, PLAIN_COST, () => gated(new LiteralGate(searchOf(rare), offset.min, offset.max)));
  }
  for (const { set, run } of leadingRuns(parsed)) {
    const share = shareOf(run.units) * shareOf(run.after);
    add(set, HIT_COST + ONE_POSITION_COST * share, () => new RunFinder(searchOf(set), run, position), run);
  }
  return ways;
}

function anchorOf(literal: string, run: Run): Anchor | undefined {
  const unit = literal.charCodeAt(0);
  return unit < 0x80 ? { unit, run } : undefined;
}

const isSameLength = (a: Length, b: Length): boolean => a.min === b.min && a.max === b.max;

function runWays({ pattern }: ParsedExpression, gated: (gate: Gate) => Finder): Way[] {
  return neededRuns(pattern).map((run) => ({
    cost: runCost(run),
    literal: '',
    make: () => gated(new RunGate(run)),
  }));
}

function runCost({ units, length }: NeededRun): number {
  const share = shareOf(units);
  // A look at a character of the set goes on to both sides, as far as the run is.
  const looks = (LINE / length) * (1 + (2 * share) / (1 - share));
  const found = Math.min(1, LINE * share ** length * CLUSTERING);
  return looks * LOOK_COST + found * PLAIN_COST;
}

const textsOf = ({ literals }: LiteralSet): string[] => literals.map(({ text }) => text);

const searchOf = (set: LiteralSet): LiteralSearch => literalSearch(textsOf(set), set.lowered);

function searchCost(set: LiteralSet): number {
  return textsOf(set)
    .map(costOfSearch)
    .reduce((sum, cost) => sum + cost, set.lowered ? LOWER_CASE_COST : 0);
}

const costOfSearch = (text: string): number =>
  SEARCH_COST + LINE * STOP_COST * shareOfText(text[0] as string);

/** A literal that begins with a rarer character is found faster: `_live_` rather than `sk_live_`. */
function withSuffixes(set: LiteralSet): LiteralSet[] {
  const [only, second] = set.literals;
  if (only === undefined || second !== undefined) return [set];
  return suffixesOf(only).map((literal) => ({ ...set, literals: [literal] }));
}

/** The same for each of several literals, which then stand anywhere in the range of all. */
function withRareStarts(set: LiteralSet): LiteralSet {
  const cost = ({ text }: Literal) => costOfSearch(text) + LINE * PLAIN_COST * shareOfText(text);
  const literals = set.literals.map((literal) =>
    suffixesOf(literal).reduce((best, one) => (cost(one) < cost(best) ? one : best)),
  );
  const texts = new Set(literals.map(({ text }) => text));
  const least = Math.min(...literals.map(({ offset }) => offset.min));
  const most = Math.max(...literals.map(({ offset }) => offset.max));
  return {
    ...set,
    literals: [...texts].map((text) => ({ text, offset: { min: least, max: most } })),
  };
}

function suffixesOf({ text, offset: { min, max } }: Literal): Literal[] {
  return Array.from({ length: text.length }, (_, skipped) => ({
    text: text.slice(skipped),
    offset: { min: min + skipped, max: max + skipped },
  }));
}
