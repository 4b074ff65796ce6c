import type { ByteMask } from './bytes/byte-masks.ts';
import { type Cost, costOf } from './expression/cost.ts';
import { isAscii, requiredLiterals } from './expression/literals.ts';
import { lengthOf } from './expression/measure.ts';
import { parseExpression } from './expression/pattern.ts';
import { type MaskRule, RejectedMatches } from './mask-rule.ts';
import { afterEmpty, type Finder, LiteralFinder, PlainFinder } from './search/finders.ts';
import { type LinesSearch, planSearch, searchOfLines } from './search/plan.ts';

const DO_NOTHING = (): void => {};

/** What an attempt to mask a string has done so far. Another attempt starts with a new one. */
export class MaskRun {
  /** The rule that runs, or an empty string. */
  rule = '';
  /** Undefined while nothing is replaced, as in most strings. */
  counts: Map<CompiledRule, number> | undefined;
  /** What was put in since the last look, apart from what cannot bring in a literal. */
  hasInserted = false;
  /** Called before a check or a replacement of a rule. */
  beforeCall: () => void = DO_NOTHING;
  /** Whether it is stopped when it takes too long. */
  readonly isWatched: boolean;
  /** Whether a rule was left out because it could take long and nothing stops it: then the result is of no use. */
  hasToBeWatched = false;
  readonly #isInert: (text: string) => boolean;

  constructor(isInert: (text: string) => boolean, isWatched: boolean) {
    this.#isInert = isInert;
    this.isWatched = isWatched;
  }

  replaced(rule: CompiledRule, count: number, text: string): void {
    this.counts ??= new Map();
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + count);
    if (!this.hasInserted && text !== rule.lastInert) {
      if (this.#isInert(text)) rule.lastInert = text;
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
  #cost: Cost | undefined;
  #planned: Finder | undefined;
  #plain: Finder | undefined;
  #part: RegExp | 'none' | undefined;
  readonly #kept = new Map<string, unknown>();

  constructor(rule: MaskRule, number: number) {
    this.rule = rule;
    this.number = number;
    this.#isWhole = rule.groups.length === 1 && rule.groups[0] === 0;
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
    this.#tries++;
    // Who names keywords has said what to look for.
    const isSeldom = this.rule.keywords !== undefined || this.#tries <= FEW_TRIES;
    const isPlanned = mayPlan && (this.isCommon || !isSeldom);
    if (!this.#isWhole) return this.#replaceGroups(text, run, isPlanned);
    return this.#replaceMatches(text, run, isPlanned ? this.#plannedFinder : this.#plainFinder);
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
    if (this.#isWhole && this.rule.accepts === undefined) return this.#replaceMatches(lines, run, finder);
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

  /** Allocates nothing for a string without a match. */
  #replaceMatches(text: string, run: MaskRun, finder: Finder): string {
    let start = finder.next(text, 0);
    if (start === -1) return text;
    const { accepts, replace, fixed } = this.rule;
    let masked = '';
    let copied = 0;
    let rejected: RejectedMatches | undefined;
    for (let next = finder.end; start !== -1; start = finder.next(text, next)) {
      const { end } = finder;
      next = end;
      const value = text.slice(start, end);
      // What is called may use the same mask, and the finder with it.
      if (!this.isFixed) run.beforeCall();
      const accepted = accepts?.(value, text, start) ?? true;
      if (accepted === 'search-inside') {
        rejected ??= new RejectedMatches(text, this.#expression.unicode);
        next = rejected.searchFrom(start, end);
      }
      if (accepted !== true) continue;
      const replacement = fixed ?? replace(value);
      masked += text.slice(copied, start) + replacement;
      copied = end;
      run.replaced(this, 1, replacement);
    }
    return copied === 0 ? text : masked + text.slice(copied);
  }

  #replaceGroups(text: string, run: MaskRun, isPlanned: boolean): string {
    const expression = this.#keep('expression with indices', () => {
      const { source, flags } = this.rule.expression;
      return new RegExp(source, `dg${flags}`);
    });
    const { groups, accepts, replace, fixed } = this.rule;
    let masked = '';
    let copied = 0;
    let next = 0;
    let rejected: RejectedMatches | undefined;
    if (isPlanned && this.#takesCharacters) {
      next = this.#plannedFinder.next(text, 0);
      if (next === -1) return text;
    }
    while (next <= text.length) {
      expression.lastIndex = next;
      const match = expression.exec(text);
      if (match === null) break;
      const end = expression.lastIndex;
      next = end === match.index ? afterEmpty(text, end, expression.unicode) : end;
      let hasReplaced = false;
      let isOpen = false;
      for (const [start, to] of spansOf(match, groups)) {
        if (start < copied || start === to) continue;
        const value = text.slice(start, to);
        if (!this.isFixed) run.beforeCall();
        const accepted = accepts?.(value, text, start) ?? true;
        if (accepted === 'search-inside') isOpen = true;
        if (accepted !== true) continue;
        hasReplaced = true;
        const replacement = fixed ?? replace(value);
        masked += text.slice(copied, start) + replacement;
        copied = to;
        run.replaced(this, 1, replacement);
      }
      if (isOpen && !hasReplaced) {
        rejected ??= new RejectedMatches(text, expression.unicode);
        next = rejected.searchFrom(match.index, end);
      }
    }
    return copied === 0 ? text : masked + text.slice(copied);
  }

  #keep<T>(name: string, make: () => T): T {
    if (!this.#kept.has(name)) this.#kept.set(name, make());
    return this.#kept.get(name) as T;
  }
}

/** Where groups are, from the left to the right. */
function spansOf(match: RegExpExecArray, groups: readonly number[]): [number, number][] {
  return groups
    .map((group) => match.indices?.[group])
    .filter((span) => span !== undefined)
    .sort(([a], [b]) => a - b);
}
