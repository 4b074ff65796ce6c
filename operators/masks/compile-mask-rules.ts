import { ByteMasks, scanForLiterals } from './bytes/byte-masks.ts';
import { CompiledRule, MaskRun } from './compiled-rule.ts';
import { stepsAtWorst } from './expression/cost.ts';
import { type LinesMasker, LONGEST_LINE, LONGEST_TEXT } from './lines-masker.ts';
import type { MaskRule } from './mask-rule.ts';
import { type CandidateLine, LiteralIndex } from './search/literal-index.ts';

export interface MaskRulesOptions {
  /** Called after a string in which `rule` replaced `count` values, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /**
   * Runs the masking of a string that could take more than a moment, and may throw. Without it, nothing bounds that
   * time. It may run it several times. `rule` returns the name of the rule that runs, or an empty string.
   */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
}

/** A mask by rules, for strings and for many lines at a time. */
export interface MaskRules {
  readonly mask: (text: string) => string;
  /** Undefined if the rules cannot be applied to many lines at a time. */
  readonly many: () => LinesMasker | undefined;
}

/**
 * Compiles rules into a mask that gives what `applyRulesInOrder` gives, in a time that hardly grows with their number:
 *
 * 1. One pass over a string, or over a block of lines, finds the literals of all rules: their keywords, or what every
 *    match of their expression contains. A rule with literals is tried on strings that have one of them, and on no others.
 * 2. The other rules, the common ones, are tried on every string: on blocks of lines together, in bytes where possible.
 * 3. Where the rules to try could take long on a string, `boundTime` runs them.
 *
 * @example
 * const { mask } = compileMaskRules([
 *   { name: 'PIN', expression: /pin=([0-9]{4})/, groups: [1], keywords: ['pin='], replace: () => '***' },
 * ]);
 * mask('pin=1234'); // 'pin=***'
 */
export function compileMaskRules(rules: readonly MaskRule[], options: MaskRulesOptions = {}): MaskRules {
  const engine = new MaskEngine(rules, options);
  return { mask: (text) => engine.mask(text), many: () => engine.many() };
}

/** Engines do so many steps in less than a second: each takes some nanoseconds. */
const HARMLESS_STEPS = 2e8;
/** The first texts are left to the engine's own searches: the first event need not wait for better ones. */
const FEW_TEXTS = 10;
const MOST_UNPLANNED = 50;
/** What an engine does in less than half a second. */
const FEW_STEPS = 2e7;
/** Shorter texts are not worth it to start WebAssembly, which takes some milliseconds. */
const SHORTEST_IN_BYTES = 8192;
const LF = 0x0a;

/** Keywords that the index can find. */
const INDEXED = /^[\x20-\x40\x5b-\x7e]{2,}$/;

class MaskEngine {
  readonly #rules: readonly CompiledRule[];
  readonly #onMask: MaskRulesOptions['onMask'];
  readonly #boundTime: MaskRulesOptions['boundTime'];
  readonly #first: Plan;
  #best: Plan | undefined;
  #few = FEW_TEXTS;

  constructor(rules: readonly MaskRule[], { onMask, boundTime }: MaskRulesOptions) {
    this.#rules = rules.map((rule, number) => new CompiledRule(rule, number));
    this.#onMask = onMask;
    this.#boundTime = boundTime;
    this.#first = new Plan(this.#rules, false);
    const { length } = this.#first.common;
    // Little has to be worked out about rules with keywords; to try many others without a plan takes longer than to plan.
    if (length === 0 || length > MOST_UNPLANNED) this.#best = new Plan(this.#rules, true);
  }

  mask(text: string): string {
    const plan = this.#planFor(text.length, text.length);
    const candidates = plan.rulesFor(text, plan.index.rulesIn(text));
    const list = candidates.length === 0 ? plan.common : plan.together(candidates);
    if (list.length === 0) return text;
    const isWatched = list.some((rule) => isCostly(rule, text.length, text.length));
    return this.#attempt(plan, text.length, isWatched, (run) => this.#apply(plan, list, text, run));
  }

  many(): LinesMasker | undefined {
    const isInLines = this.#rules.every(({ rule }) => rule.fixed === undefined || !rule.fixed.includes('\n'));
    if (!isInLines) return undefined;
    const bytes = (lines: Uint8Array, into: Uint8Array) => this.#mapBytes(lines, into);
    const isPlanned = () => this.#best !== undefined;
    return {
      map: (lines) => this.#map(lines),
      get mapBytes() {
        return isPlanned() ? bytes : undefined;
      },
      maxLength: LONGEST_TEXT,
      maxLineLength: LONGEST_LINE,
    };
  }

  #planFor(length: number, lineLength: number): Plan {
    if (this.#best !== undefined) return this.#best;
    if (this.#few > 0) {
      this.#few--;
      if (this.#first.commonSteps(length, lineLength) <= FEW_STEPS) return this.#first;
    }
    this.#best = new Plan(this.#rules, true);
    return this.#best;
  }

  #map(lines: string): string {
    const longest = longestLine((from) => lines.indexOf('\n', from), lines.length);
    const plan = this.#planFor(lines.length, longest);
    const candidates = plan.checkKeywords(plan.index.linesIn(lines), new HeldText(lines));
    const isWatched = plan.isCostly(lines.length, longest, candidates);
    return this.#attempt(plan, lines.length, isWatched, (run) => {
      const bytes = plan.isPlanned && lines.length >= SHORTEST_IN_BYTES ? plan.bytes?.hold(lines) : undefined;
      const held = bytes ?? new HeldText(lines);
      if (this.#applyToLines(plan, held, candidates, run)) return held.text;
      run.counts.clear();
      return lines
        .split('\n')
        .map((line) => {
          const rules = plan.rulesFor(line, plan.index.rulesIn(line));
          return this.#apply(plan, plan.together(rules), line, run);
        })
        .join('\n');
    });
  }

  /** As {@link #map}; -1 leaves it to that. */
  #mapBytes(lines: Uint8Array, into: Uint8Array): number {
    const plan = this.#best;
    const bytes = plan?.bytes;
    if (plan === undefined || bytes === undefined) return -1;
    const longest = longestLine((from) => lines.indexOf(LF, from), lines.length);
    const hits = plan.index.isEmpty ? NO_HITS : scanForLiterals(plan.index.table, lines);
    if (hits === undefined) return -1;
    if (!bytes.holdBytes(lines)) return -1;
    const candidates = plan.checkKeywords(plan.index.linesInBytes(lines, hits), bytes);
    let run = new MaskRun(plan.isInert);
    let length = -1;
    const mask = () => {
      // It may be tried again, after it was stopped at any point.
      run = new MaskRun(plan.isInert);
      const isHeld = bytes.holdBytes(lines) && this.#applyToLines(plan, bytes, candidates, run);
      length = isHeld ? bytes.copyTo(into) : -1;
      return '';
    };
    if (this.#boundTime === undefined || !plan.isCostly(lines.length, longest, candidates)) {
      mask();
    } else {
      try {
        this.#boundTime(mask, lines.length, () => run.rule);
      } catch {
        // Each line is tried by itself then.
        return -1;
      }
    }
    if (length !== -1) this.#tell(run);
    return length;
  }

  /** Tells what was masked only when nothing can fail any more: it may be tried again. */
  #attempt(plan: Plan, length: number, isWatched: boolean, apply: (run: MaskRun) => string): string {
    let run = new MaskRun(plan.isInert);
    const mask = () => {
      run = new MaskRun(plan.isInert);
      return apply(run);
    };
    const masked = isWatched && this.#boundTime ? this.#boundTime(mask, length, () => run.rule) : mask();
    this.#tell(run);
    return masked;
  }

  #tell({ counts }: MaskRun): void {
    if (this.#onMask === undefined) return;
    for (const [{ rule }, count] of [...counts].sort(([a], [b]) => a.number - b.number)) {
      this.#onMask(rule.name, count);
    }
  }

  /** Applies some rules to one string, and those that find a literal in what these put in. */
  #apply(plan: Plan, rules: readonly CompiledRule[], text: string, run: MaskRun): string {
    let list = rules;
    let masked = text;
    for (let i = 0; i < list.length; i++) {
      const rule = list[i] as CompiledRule;
      run.rule = rule.rule.name;
      run.hasInserted = false;
      masked = rule.replaceIn(masked, run, plan.isPlanned);
      if (!run.hasInserted) continue;
      const known = list.map(({ number }) => number);
      const inserted = plan.insertedRules(masked, rule, known).filter((one) => one.mayChange(text));
      list = [...list, ...inserted].sort(byNumber);
    }
    return masked;
  }

  /**
   * Applies the rules in order to lines that are joined: common ones to all lines together, and between them the others
   * to those lines that have a literal. False if something was put in that may be a literal: then the lines have to be
   * masked one by one.
   */
  #applyToLines(plan: Plan, lines: HeldLines, candidates: readonly CandidateLine[], run: MaskRun): boolean {
    // What a rule calls may use the memory of the bytes.
    run.beforeCall = () => lines.leaveBytes();
    let from = 0;
    for (let i = 0; i <= plan.common.length; i++) {
      const rule = plan.common[i];
      const to = rule?.number ?? this.#rules.length;
      if (to > from && !this.#applyToCandidates(plan, lines, candidates, from, to, run)) return false;
      if (rule !== undefined && !this.#applyCommon(plan, rule, i, lines, run)) return false;
      from = to + 1;
    }
    return true;
  }

  #applyCommon(plan: Plan, rule: CompiledRule, index: number, lines: HeldLines, run: MaskRun): boolean {
    run.rule = rule.rule.name;
    run.hasInserted = false;
    const found = lines.mask(index);
    if (found > 0) run.replaced(rule, found, rule.rule.fixed as string);
    if (found === -1) {
      const before = lines.text;
      const after = rule.replaceInLines(before, run, plan.isPlanned);
      if (after !== before) lines.text = after;
    }
    return !run.hasInserted;
  }

  /** Applies the rules from one number to another to the lines that have a literal of theirs. */
  #applyToCandidates(
    plan: Plan,
    lines: HeldLines,
    candidates: readonly CandidateLine[],
    from: number,
    to: number,
    run: MaskRun,
  ): boolean {
    const changed: { start: number; end: number; text: string }[] = [];
    let cursor: LineCursor | undefined;
    for (const { line, rules } of candidates) {
      const list = plan.between(rules, from, to);
      if (list.length === 0) continue;
      cursor ??= new LineCursor(lines);
      cursor.goTo(line);
      const { start, end, text } = cursor;
      let masked = text;
      for (const rule of list) {
        run.rule = rule.rule.name;
        run.hasInserted = false;
        masked = rule.replaceIn(masked, run, plan.isPlanned);
        if (run.hasInserted && plan.insertedRules(masked, rule, rules).length > 0) return false;
      }
      if (masked !== text) changed.push({ start, end, text: masked });
    }
    if (changed.length > 0) lines.text = spliced(lines.text, changed);
    return true;
  }
}

/** Lines that rules are applied to, in bytes or not. */
interface HeldLines {
  text: string;
  /** Undefined while they are a string. */
  readonly bytes: Uint8Array | undefined;
  /** Makes them a string. */
  leaveBytes(): void;
  /** Applies a common rule; how many matches it replaced, or -1 if that has to be done by the string. */
  mask(common: number): number;
}

class HeldText implements HeldLines {
  readonly bytes = undefined;
  text: string;

  constructor(text: string) {
    this.text = text;
  }

  leaveBytes(): void {}

  mask(): number {
    return -1;
  }
}

/** Goes from line to line, forwards. */
class LineCursor {
  start = 0;
  end = -1;
  text = '';
  readonly #lines: HeldLines;
  #line = -1;

  constructor(lines: HeldLines) {
    this.#lines = lines;
  }

  /** Whether there is no further line. */
  get isAtEnd(): boolean {
    return this.end === (this.#lines.bytes ?? this.#lines.text).length;
  }

  goTo(line: number): void {
    const { bytes } = this.#lines;
    const text = bytes === undefined ? this.#lines.text : '';
    for (; this.#line < line; this.#line++) {
      this.start = this.end + 1;
      const end = bytes?.indexOf(LF, this.start) ?? text.indexOf('\n', this.start);
      this.end = end === -1 ? (bytes ?? text).length : end;
    }
    this.text = bytes === undefined ? text.slice(this.start, this.end) : asciiOf(bytes, this.start, this.end);
  }
}

function spliced(text: string, changed: readonly { start: number; end: number; text: string }[]): string {
  let result = '';
  let copied = 0;
  for (const { start, end, text: inserted } of changed) {
    result += text.slice(copied, start) + inserted;
    copied = end;
  }
  return result + text.slice(copied);
}

/** So few rules are searched for by themselves, if that is quick, rather than in one pass for all. */
const FEW_RULES = 8;

/** Which rules are tried on every string, and which on strings with a literal. */
class Plan {
  readonly isPlanned: boolean;
  readonly #rules: readonly CompiledRule[];
  readonly common: readonly CompiledRule[];
  readonly index: LiteralIndex;
  /** Rules with keywords that the index cannot find, such as those of one character. */
  readonly #guarded: readonly CompiledRule[];
  /** Those of them that no literal is known for. */
  readonly #unfound: readonly CompiledRule[];
  /** What is put in can only matter to rules whose literals come from their expressions. */
  readonly isInert: (text: string) => boolean;
  #bytes: ByteMasks | 'none' | undefined;

  /** @param isPlanned whether expressions are analysed. */
  constructor(rules: readonly CompiledRule[], isPlanned: boolean) {
    this.isPlanned = isPlanned;
    this.#rules = rules;
    const isFew = rules.filter(({ rule }) => rule.keywords === undefined).length <= FEW_RULES;
    this.#guarded = rules.filter(({ rule }) => rule.keywords?.every((word) => INDEXED.test(word)) === false);
    const derived = rules.map((rule) => {
      if (!isPlanned) return undefined;
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

  /** The same for lines. */
  checkKeywords(candidates: readonly CandidateLine[], lines: HeldLines): readonly CandidateLine[] {
    const isGuarded = (number: number) => this.#guarded.includes(this.#rules[number] as CompiledRule);
    if (this.#guarded.length === 0) return candidates;
    if (this.#unfound.length === 0 && !candidates.some(({ rules }) => rules.some(isGuarded)))
      return candidates;
    const cursor = new LineCursor(lines);
    const checked = ({ line, rules }: Pick<CandidateLine, 'line' | 'rules'>): CandidateLine => {
      cursor.goTo(line);
      return { line, length: cursor.text.length, rules: this.rulesFor(cursor.text, rules) };
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

  /** The steps that the common rules take at worst. */
  commonSteps(length: number, lineLength: number): number {
    return this.common.reduce((sum, { cost }) => sum + stepsAtWorst(cost, length, lineLength), 0);
  }

  /** The common rules and those of some numbers, in order. */
  together(numbers: readonly number[]): readonly CompiledRule[] {
    const candidates = numbers.map((number) => this.#rules[number] as CompiledRule);
    if (this.common.length === 0) return candidates;
    return [...candidates, ...this.common].sort(byNumber);
  }

  /** Those of some rules that have numbers from one to another. */
  between(numbers: readonly number[], from: number, to: number): readonly CompiledRule[] {
    const list: CompiledRule[] = [];
    for (const number of numbers)
      if (number >= from && number < to) list.push(this.#rules[number] as CompiledRule);
    return list;
  }

  /** Whether some rule could take long on lines that it is tried on. */
  isCostly(length: number, longest: number, lines: readonly CandidateLine[]): boolean {
    return (
      this.common.some((rule) => isCostly(rule, length, longest)) ||
      lines.some((line) =>
        line.rules.some((number) => isCostly(this.#rules[number] as CompiledRule, line.length, line.length)),
      )
    );
  }

  /** The rules behind one that has put something in which find a literal of theirs now, beside those that are known. */
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

const byNumber = (a: CompiledRule, b: CompiledRule): number => a.number - b.number;

const isCostly = ({ cost }: CompiledRule, length: number, lineLength: number): boolean =>
  stepsAtWorst(cost, length, lineLength) > HARMLESS_STEPS;

function longestLine(nextLf: (from: number) => number, length: number): number {
  let longest = 0;
  let start = 0;
  for (let end = nextLf(0); end !== -1; end = nextLf(start)) {
    if (end - start > longest) longest = end - start;
    start = end + 1;
  }
  return Math.max(longest, length - start);
}

const NO_HITS = new Int32Array(0);
const decoder = new TextDecoder();
/** Node's, which browsers do not have. */
const latin1Slice = (globalThis as { Buffer?: typeof Buffer }).Buffer?.prototype.latin1Slice;

function asciiOf(bytes: Uint8Array, start: number, end: number): string {
  // Node decodes short strings faster so.
  if (latin1Slice !== undefined) return latin1Slice.call(bytes as Buffer, start, end);
  return decoder.decode(bytes.subarray(start, end));
}
