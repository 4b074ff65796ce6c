import { applyRule, type RuleObserver } from './apply-rule.ts';
import type { ByteMask } from './bytes/byte-masks.ts';
import { type Cost, costOf } from './expression/cost.ts';
import { type LinearEngine, mayBeSlow, stepsAtWorst } from './expression/linear-engine.ts';
import { isAscii, itemsOf, literalSets, occurrences, requiredLiterals } from './expression/literals.ts';
import { lengthOf } from './expression/measure.ts';
import { type Outline, outlinesOf } from './expression/outline.ts';
import { parseExpression } from './expression/pattern.ts';
import type { MaskRule } from './mask-rule.ts';
import { type Finder, GroupFinder, masksWholeMatches, PlainFinder } from './search/finder.ts';
import { findRun, LiteralFinder, PlacesFinder, SHORTEST_RUN } from './search/finders.ts';
import { hasKeyword } from './search/keyword.ts';
import { type LinesSearch, planSearch, searchOfLines } from './search/plan.ts';

/** For a rule that is seldom tried, a plan is not worth its time. */
const FEW_TRIES = 10;
/** An expression for letters, digits and what joins them: it does not see what stands around its match. */
const PLAIN = /^(?:\(\?:|[\w()|{},?+*=~@%&/-]|\\[.$*+|/dw-]|\[(?:[\w+/=.~%@*#$&-]|\\[./dw-])*\])*$/;

/** A rule, and what is worked out about it when it is first needed. */
export class CompiledRule {
  readonly rule: MaskRule;
  /** Its place in the order of the rules. */
  readonly number: number;
  /** What it last put in that cannot bring in a literal. */
  lastInert: string | undefined;
  /** Whether it is tried on every string. */
  isCommon = false;
  /** Whether values are replaced whatever they are, and always by the same. */
  readonly isFixed: boolean;
  readonly #isWhole: boolean;
  #tries = 0;
  readonly #engine: LinearEngine | undefined;
  #cost: Cost | undefined;
  #maxLinear: number | undefined;
  #quickLength: number | undefined;
  #planned: Finder | undefined;
  #plain: Finder | undefined;
  #part: ((text: string) => boolean) | undefined;
  readonly #kept = new Map<string, unknown>();

  constructor(rule: MaskRule, number: number, engine?: LinearEngine | undefined) {
    this.rule = rule;
    this.number = number;
    this.#engine = engine;
    this.#isWhole = masksWholeMatches(rule);
    this.isFixed = rule.accepts === undefined && rule.fixed !== undefined;
  }

  /** Global. */
  get #expression(): RegExp {
    return this.#keep(
      'expression',
      () => new RegExp(this.rule.expression.source, `g${this.rule.expression.flags}`),
    );
  }

  get cost(): Cost {
    this.#cost ??= this.rule.cost ?? costOf(this.rule.expression);
    return this.#cost;
  }

  /** The steps that it takes at worst on a string, or on lines together. It is 0 where that takes a moment. */
  stepsOn(length: number, lineLength?: number): number {
    this.#quickLength ??= quickLengthOf(this.cost);
    if (length <= this.#quickLength) return 0;
    const longest = lineLength ?? length;
    const { ambiguity } = this.cost;
    // Lines are searched together by backtracking, unless the expression is ambiguous: see `#linesSearch`.
    const isAsked = lineLength === undefined ? mayBeSlow(this.cost, length) : ambiguity !== undefined;
    // Only backtracking tells where groups are. Each match may read the rest of the string again.
    if (isAsked && this.#isWhole && this.#isLinear(longest)) {
      return (LINEAR_STEPS * length * longest) / (this.#maxLinear as number);
    }
    return ambiguity === undefined ? stepsAtWorst(this.cost, length, longest) : Number.POSITIVE_INFINITY;
  }

  /** Whether a string is short enough for the engine that does not go back. */
  #isLinear(length: number): boolean {
    this.#maxLinear ??= this.#engine?.maxLength(this.rule.expression) ?? 0;
    return length <= this.#maxLinear;
  }

  /** Whether a string has one of the keywords, if there are any. */
  mayChange(text: string): boolean {
    const { keywords } = this.rule;
    if (keywords === undefined) return true;
    const lower = text.toLowerCase();
    return keywords.some((keyword) => hasKeyword(text, lower, keyword));
  }

  /** Whether a string has the part of the expression that is needed, if one is known. */
  hasNeededPart(text: string): boolean {
    const { character } = this.rule;
    if (character !== undefined && !text.includes(character)) return false;
    this.#part ??= testFor(this.rule.part);
    return this.#part(text);
  }

  /** Whether the rule changes nothing in a text without escapes, nor in any part of it, because what it needs is not there. */
  isAbsentFrom(text: string): boolean {
    const { name, finder, character, part } = this.rule;
    // It only notices keys.
    if (name === '' && finder !== undefined) return true;
    if (character !== undefined && character !== '\\' && !text.includes(character)) return true;
    const isPlain = part !== undefined && this.#keep('plain part', () => PLAIN.test(part.source));
    return isPlain && !this.hasNeededPart(text);
  }

  /** What every string has that the rule changes: see {@link requiredLiterals}. */
  get requiredLiterals(): readonly string[] | undefined {
    return this.#keep('literals', () => {
      const parsed = parseExpression(this.rule.expression);
      return parsed && requiredLiterals(parsed.pattern);
    });
  }

  /** Whether a search for the rule alone is quick: for a literal at which the engine is asked. */
  get isQuicklyFound(): boolean {
    return this.#isWhole && this.#plannedFinder instanceof LiteralFinder;
  }

  /** How the rule replaces matches in ASCII lines, if that can be done in bytes. */
  get byteMask(): ByteMask | undefined {
    return this.#keep('byte mask', () => {
      const { fixed } = this.rule;
      if (!this.#isWhole || !this.isFixed || fixed === undefined || !isAscii(fixed)) return undefined;
      const bytes = this.#linesSearch?.bytes();
      return bytes && { replacement: fixed, ...bytes };
    });
  }

  /** What characters stand side by side in each line that the rule changes, if that is known, and it is rare. */
  get outlines(): readonly Outline[] | undefined {
    return this.#keep('outlines', () => {
      if (this.rule.finder !== undefined || this.byteMask !== undefined) return undefined;
      return outlinesOf(this.#expression);
    });
  }

  /** Undefined if lines that are joined cannot be searched together. */
  get #linesSearch(): LinesSearch | undefined {
    return this.#keep('lines search', () => {
      // V8's engine without backtracking cannot run what an expression becomes for lines.
      if (this.cost.ambiguity !== undefined) return undefined;
      if (!this.#isWhole && !this.#takesCharacters) return undefined;
      return searchOfLines(this.#expression);
    });
  }

  /** An empty match can have a group that is not empty, in a look-ahead. */
  get #takesCharacters(): boolean {
    return this.#keep('takes characters', () => {
      const parsed = parseExpression(this.rule.expression);
      return parsed !== undefined && lengthOf(parsed.pattern).min > 0;
    });
  }

  /** Replaces what the rule finds in a string. */
  replaceIn(text: string, run: RuleObserver, mayPlan: boolean): string {
    return applyRule(text, this.rule, this.#finderFor(text.length, mayPlan), run);
  }

  #finderFor(length: number, mayPlan: boolean): Finder {
    const { finder } = this.rule;
    if (finder !== undefined) return this.#keep('reader', finder);
    this.#tries++;
    // Who names keywords has said what to look for.
    const isSeldom = this.rule.keywords !== undefined || this.#tries <= FEW_TRIES;
    const isPlanned = mayPlan && (this.isCommon || !isSeldom);
    const isLinear = this.#engine !== undefined && mayBeSlow(this.cost, length) && this.#isLinear(length);
    if (this.#isWhole) return this.#finder(isPlanned, isLinear);
    if (!isPlanned || !this.#takesCharacters) return this.#keep('groups', () => new GroupFinder(this.rule));
    return this.#keep(isLinear ? 'planned groups in linear time' : 'planned groups', () => {
      return new GroupFinder(this.rule, this.#finder(true, isLinear));
    });
  }

  #finder(isPlanned: boolean, isLinear: boolean): Finder {
    if (!isLinear) return isPlanned ? this.#plannedFinder : this.#plainFinder;
    const { compile: compileLinear } = this.#engine as LinearEngine;
    const { source, flags } = this.#expression;
    return isPlanned
      ? this.#keep('planned finder in linear time', () => planSearch(this.#expression, compileLinear))
      : this.#keep('finder in linear time', () => new PlainFinder(compileLinear(source, flags)));
  }

  get #plannedFinder(): Finder {
    this.#planned ??= planSearch(this.#expression);
    return this.#planned;
  }

  get #plainFinder(): Finder {
    this.#plain ??= new PlainFinder(this.#expression);
    return this.#plain;
  }

  /**
   * Replaces what the rule finds in each of some lines, joined by LF.
   *
   * @param places of which one is in each line that may change, if they are known
   */
  replaceInLines(
    lines: string,
    run: RuleObserver,
    isPlanned: boolean,
    places?: readonly number[] | undefined,
  ): string {
    if (places !== undefined) return this.#replaceInFoundLines(lines, run, new PlacesFinder(places));
    const search = this.#linesSearch;
    if (search === undefined) {
      return lines
        .split('\n')
        .map((line) => this.replaceIn(line, run, isPlanned))
        .join('\n');
    }
    const finder = isPlanned
      ? this.#keep('planned finder of lines', search.planned)
      : this.#keep('plain finder of lines', search.plain);
    if (this.#isWhole && this.rule.accepts === undefined) return applyRule(lines, this.rule, finder, run);
    return this.#replaceInFoundLines(lines, run, finder);
  }

  /** Checks and groups see one line. */
  #replaceInFoundLines(lines: string, run: RuleObserver, finder: Finder): string {
    let masked = '';
    let copied = 0;
    for (
      let at = finder.next(lines, 0);
      at !== -1;
      at = copied > lines.length ? -1 : finder.next(lines, copied)
    ) {
      const start = lines.lastIndexOf('\n', at - 1) + 1;
      const found = lines.indexOf('\n', at);
      const end = found === -1 ? lines.length : found;
      masked += lines.slice(copied, start) + this.replaceIn(lines.slice(start, end), run, false);
      copied = end + 1;
      if (end < lines.length) masked += '\n';
    }
    return copied === 0 ? lines : masked + lines.slice(copied);
  }

  #keep<T>(name: string, make: () => T): T {
    if (!this.#kept.has(name)) this.#kept.set(name, make());
    return this.#kept.get(name) as T;
  }
}

/** A text of so many characters is first searched for a literal, which takes less time than an expression. */
const LONG_TEXT = 4096;
const SHORTEST_LITERAL = 3;

/** A test for an expression. If that is a run of characters of a set, it looks at few of them. */
function testFor(part: RegExp | undefined): (text: string) => boolean {
  if (part === undefined) return () => true;
  // To parse an expression takes longer than to try it on a few lines.
  const run = /^\(?\[[^\]]+\]\{\d+\}\)?$/.test(part.source) ? itemsOfExpression(part)[0] : undefined;
  if (run?.kind === 'repetition' && run.item.kind === 'character' && run.min >= SHORTEST_RUN) {
    const needed = { units: run.item.units, length: run.min, most: 0 };
    if (!run.item.mayBeTwo) return (text) => findRun(needed, text, 0) !== -1;
  }
  let literals: readonly string[] | undefined;
  return (text) => {
    if (text.length >= LONG_TEXT) {
      literals ??= literalsFor(part);
      if (literals.length > 0 && !literals.some((literal) => text.includes(literal))) return false;
    }
    return part.test(text);
  };
}

function itemsOfExpression(expression: RegExp) {
  const parsed = parseExpression(expression);
  return parsed === undefined ? [] : itemsOf(parsed.pattern);
}

/** Texts one of which every match has, as they are written. Empty if there are none. */
function literalsFor(expression: RegExp): readonly string[] {
  const parsed = parseExpression(expression);
  const sets = (parsed === undefined ? [] : literalSets(parsed.pattern)).filter(
    ({ literals, lowered }) => !lowered && literals.every(({ text }) => text.length >= SHORTEST_LITERAL),
  );
  const [rarest] = sets.sort((a, b) => occurrences(a) - occurrences(b));
  return rarest?.literals.map(({ text }) => text) ?? [];
}

/** So many steps take a moment: some ten microseconds. */
const QUICK_STEPS = 1e4;
/** One search of the longest text for the linear engine takes 50 ms, which is as long as so many steps. */
const LINEAR_STEPS = 1e7;

/** Up to which length an expression takes no time to speak of. */
function quickLengthOf({ ambiguity, degree, factor }: Cost): number {
  return ambiguity === undefined ? (QUICK_STEPS / factor) ** (1 / Math.max(1, degree)) : 0;
}

export const byNumber = (a: CompiledRule, b: CompiledRule): number => a.number - b.number;
