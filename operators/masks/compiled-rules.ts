import { applyRule, type RuleObserver } from './apply-rule.ts';
import { type ByteMask, ByteMasks } from './bytes/byte-masks.ts';
import { type Cost, costOf } from './expression/cost.ts';
import { FEW_STEPS, type LinearEngine, mayBeSlow, stepsAtWorst } from './expression/linear-engine.ts';
import { isAscii, requiredLiterals } from './expression/literals.ts';
import { lengthOf } from './expression/measure.ts';
import { parseExpression } from './expression/pattern.ts';
import { type HeldLines, LineCursor } from './held-lines.ts';
import type { MaskRule } from './mask-rule.ts';
import { type Finder, GroupFinder, masksWholeMatches, PlainFinder } from './search/finder.ts';
import { type CandidateLine, LiteralFinder, LiteralIndex } from './search/finders.ts';
import { type LinesSearch, planSearch, searchOfLines } from './search/plan.ts';

const DO_NOTHING = (): void => {};

/** Ends an attempt that is made again with a watch. */
export const TO_BE_WATCHED = new Error('this has to be watched');

/** What an attempt to mask a string has done so far. Another attempt starts with a new one. */
export class MaskRun implements RuleObserver {
  /** Undefined while nothing is replaced, as in most strings. */
  counts: Map<CompiledRule, number> | undefined;
  /** Whether the rule that runs has put in something that may have a literal. */
  hasInserted = false;
  /** Called before a check or a replacement of a rule. */
  beforeCall: () => void = DO_NOTHING;
  readonly #isInert: (text: string) => boolean;
  readonly #isLate: (() => boolean) | undefined;
  #steps = 0;
  #rule: CompiledRule | undefined;

  /** @param isLate whether it has to be watched even if it cannot take long; undefined if it is watched, or never is. */
  constructor(isInert: (text: string) => boolean, isLate: (() => boolean) | undefined) {
    this.#isInert = isInert;
    this.#isLate = isLate;
  }

  /**
   * To be called before a rule takes so many steps at worst.
   *
   * @throws TO_BE_WATCHED if it could take long, and nothing would stop it
   */
  spend(steps: number): void {
    if (steps === 0 || this.#isLate === undefined) return;
    this.#steps += steps;
    if (this.#steps > FEW_STEPS || this.#isLate()) throw TO_BE_WATCHED;
  }

  /** The name of the rule that runs, or an empty string. */
  get rule(): string {
    return this.#rule?.rule.name ?? '';
  }

  start(rule: CompiledRule): void {
    this.#rule = rule;
    this.hasInserted = false;
  }

  replaced(_start: number, _end: number, replacement: string): void {
    this.count(1, replacement);
  }

  /** The rule that runs has replaced so many values by the same text. */
  count(values: number, replacement: string): void {
    const rule = this.#rule as CompiledRule;
    this.counts ??= new Map();
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + values);
    if (!this.hasInserted && replacement !== rule.lastInert) {
      if (this.#isInert(replacement)) rule.lastInert = replacement;
      else this.hasInserted = true;
    }
  }
}

/** For a rule that is seldom tried, a plan is not worth its time. */
const FEW_TRIES = 10;

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
  #part: RegExp | 'none' | undefined;
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
  stepsOn(length: number, lineLength = length): number {
    this.#quickLength ??= quickLengthOf(this.cost);
    if (length <= this.#quickLength) return 0;
    // Only backtracking tells where groups are.
    if (mayBeSlow(this.cost, lineLength) && this.#isWhole && this.#isLinear(lineLength)) return LINEAR_STEPS;
    return this.cost.ambiguity === undefined
      ? stepsAtWorst(this.cost, length, lineLength)
      : Number.POSITIVE_INFINITY;
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
    return keywords.some((keyword) => lower.includes(keyword));
  }

  /** Whether a string has the part of the expression that is needed, if one is known. */
  hasNeededPart(text: string): boolean {
    this.#part ??= this.rule.part ?? 'none';
    return this.#part === 'none' || this.#part.test(text);
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
  replaceIn(text: string, run: MaskRun, mayPlan: boolean): string {
    return applyRule(text, this.rule, this.#finderFor(text.length, mayPlan), run);
  }

  #finderFor(length: number, mayPlan: boolean): Finder {
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

  /** Replaces what the rule finds in each of some lines, joined by LF. */
  replaceInLines(lines: string, run: MaskRun, isPlanned: boolean): string {
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
  #replaceInFoundLines(lines: string, run: MaskRun, finder: Finder): string {
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

/** So many steps take a moment: some ten microseconds. */
const QUICK_STEPS = 1e4;
/** What the linear engine takes at most, 50 ms, is as long as so many steps. */
const LINEAR_STEPS = 1e7;

/** Up to which length an expression takes no time to speak of. */
function quickLengthOf({ ambiguity, degree, factor }: Cost): number {
  return ambiguity === undefined ? (QUICK_STEPS / factor) ** (1 / Math.max(1, degree)) : 0;
}

/** So few rules are searched for by themselves, if that is quick, rather than in one pass for all. */
const FEW_RULES = 8;

/** Which rules are tried on every string, and which on strings with a literal. */
export class RulePlan {
  readonly isPlanned: boolean;
  readonly #rules: readonly CompiledRule[];
  readonly common: readonly CompiledRule[];
  readonly index: LiteralIndex;
  /** Rules with keywords that the index cannot find, such as those of one character. */
  readonly #guarded: readonly CompiledRule[];
  /** The guarded rules without a known literal. */
  readonly #unfound: readonly CompiledRule[];
  /** What is put in can only matter to rules whose literals come from their expressions. */
  readonly isInert: (text: string) => boolean;
  #bytes: ByteMasks | 'none' | undefined;

  /** @param isPlanned whether expressions are analysed. */
  constructor(rules: readonly CompiledRule[], isPlanned: boolean) {
    // Rules with keywords need no plan.
    this.isPlanned = isPlanned || rules.every(({ rule }) => rule.keywords?.every(isIndexed));
    this.#rules = rules;
    const isFew = rules.filter(({ rule }) => rule.keywords === undefined).length <= FEW_RULES;
    this.#guarded = rules.filter(({ rule }) => rule.keywords?.every(isIndexed) === false);
    const derived = rules.map((rule) => {
      if (!this.isPlanned) return undefined;
      if (rule.rule.keywords !== undefined) {
        return this.#guarded.includes(rule) ? rule.requiredLiterals : undefined;
      }
      return isFew && rule.isQuicklyFound ? undefined : rule.requiredLiterals;
    });
    this.#unfound = this.#guarded.filter(({ number }) => derived[number] === undefined);
    rules.forEach((rule, i) => {
      rule.isCommon = rule.rule.keywords === undefined && derived[i] === undefined;
    });
    this.common = rules.filter(({ isCommon }) => isCommon);
    this.index = new LiteralIndex(
      rules.map((rule, i) => derived[i] ?? (this.#guarded.includes(rule) ? undefined : rule.rule.keywords)),
    );
    const hasDerived = derived.some((literals) => literals !== undefined);
    this.isInert = hasDerived ? (text) => this.index.isInert(text) : () => true;
  }

  /** The rules to try on a string, of those with a literal in it and those for which none is known. */
  rulesFor(text: string, found: readonly number[]): readonly number[] {
    if (this.#guarded.length === 0) return found;
    return [...found, ...this.#unfound.map(({ number }) => number)]
      .filter((number) => (this.#rules[number] as CompiledRule).mayChange(text))
      .sort((a, b) => a - b);
  }

  /** Checks the keywords of candidate lines. */
  checkKeywords(candidates: readonly CandidateLine[], lines: HeldLines): readonly CandidateLine[] {
    const isGuarded = (number: number) => this.#guarded.includes(this.#rules[number] as CompiledRule);
    if (this.#guarded.length === 0) return candidates;
    if (this.#unfound.length === 0 && !candidates.some(({ rules }) => rules.some(isGuarded)))
      return candidates;
    const cursor = new LineCursor(lines);
    const checked = ({ line, rules }: CandidateLine): CandidateLine => {
      cursor.goTo(line);
      return { line, rules: this.rulesFor(cursor.text, rules) };
    };
    if (this.#unfound.length === 0) return candidates.map(checked);
    const all: CandidateLine[] = [];
    for (let line = 0, next = 0; !cursor.isAtEnd; line++) {
      const found = candidates[next]?.line === line ? (candidates[next++]?.rules ?? []) : [];
      const candidate = checked({ line, rules: found });
      if (candidate.rules.length > 0) all.push(candidate);
    }
    return all;
  }

  /** The common rules and those of some numbers, in order. */
  together(numbers: readonly number[]): readonly CompiledRule[] {
    const candidates = numbers.map((number) => this.#rules[number] as CompiledRule);
    if (this.common.length === 0) return candidates;
    return [...candidates, ...this.common].sort(byNumber);
  }

  /** The rules of these numbers that are at least `from` and below `to`. */
  between(numbers: readonly number[], from: number, to: number): readonly CompiledRule[] {
    const list: CompiledRule[] = [];
    for (const number of numbers)
      if (number >= from && number < to) list.push(this.#rules[number] as CompiledRule);
    return list;
  }

  /** The rules after a replacement that find one of their literals in it, in addition to those that are known. */
  insertedRules(text: string, after: CompiledRule, known: readonly number[]): readonly CompiledRule[] {
    return this.index
      .rulesIn(text)
      .filter((number) => number > after.number && !known.includes(number))
      .map((number) => this.#rules[number] as CompiledRule)
      .filter((rule) => rule.rule.keywords === undefined || this.#guarded.includes(rule));
  }

  /** Undefined where there is no WebAssembly. */
  get bytes(): ByteMasks | undefined {
    this.#bytes ??= ByteMasks.of(this.common.map(({ byteMask }) => byteMask)) ?? 'none';
    return this.#bytes === 'none' ? undefined : this.#bytes;
  }
}

/** Whether the index can find a keyword, which is in lower case. */
const isIndexed = (keyword: string): boolean => keyword.length >= 2 && !keyword.includes('\n');

export const byNumber = (a: CompiledRule, b: CompiledRule): number => a.number - b.number;
