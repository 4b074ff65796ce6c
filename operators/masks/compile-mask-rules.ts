import { scanForLiterals } from './bytes/byte-masks.ts';
import { byNumber, CompiledRule } from './compiled-rule.ts';
import { FEW_STEPS, type LinearEngine } from './expression/linear-engine.ts';
import { type HeldLines, HeldText, LineCursor, spliced } from './held-lines.ts';
import { type LinesMasker, LONGEST_LINE, LONGEST_TEXT } from './lines-masker.ts';
import type { MaskRule } from './mask-rule.ts';
import { MaskRun, TO_BE_WATCHED } from './mask-run.ts';
import { RulePlan } from './rule-plan.ts';
import type { CandidateLine } from './search/candidates.ts';

export interface MaskRulesOptions {
  /** Called after a string in which `rule` replaced `count` values, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /**
   * Runs the masking of a string that could take more than a moment, and may throw. Without it, nothing bounds that
   * time. It may run it several times. `rule` returns the name of the rule that runs, or an empty string.
   */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
  /**
   * Whether `boundTime` has to run all strings, because those before them have taken long. Undefined if that is not known, as
   * by default: then it runs all on which the rules could take long together.
   */
  readonly isLate?: (() => boolean | undefined) | undefined;
  /** Runs expressions on strings on which backtracking could take long, as far as they are short enough for it. */
  readonly linearEngine?: LinearEngine | undefined;
}

/** A mask by rules, for strings and for many lines at a time. */
export interface MaskRules {
  readonly mask: (text: string) => string;
  /** Whether a text has a keyword of a rule. */
  readonly mentions: (text: string) => boolean;
  /** Whether a rule with literals has to be tried on a text. */
  readonly hasCandidates: (text: string) => boolean;
  /** Whether no rule finds anything in the fields of compact JSON without escapes, each by itself and after its key. */
  readonly leavesCompactJson: (json: string) => boolean;
  /** The rules that are tried on a text, in order, and whether they could take more than a moment together. */
  readonly candidates: (text: string) => { readonly rules: readonly MaskRule[]; readonly isSlow: boolean };
  /** Whether there are rules without literals. */
  readonly hasCommon: () => boolean;
  /** Characters of the longest literal of a rule. */
  readonly longestLiteral: () => number;
  /** Undefined if the rules cannot be applied to many lines at a time. */
  readonly many: () => LinesMasker | undefined;
}

/**
 * Compiles rules into a mask that gives what `applyRulesInOrder` gives, in a time that hardly grows with their number:
 *
 * 1. One pass over a string, or over a block of lines, finds the literals of all rules: their keywords, or what every
 *    match of their expression contains. A rule with literals is tried on strings that have one of them, and on no others.
 * 2. The other rules, the common ones, are tried on every string: on blocks of lines together, in bytes where possible.
 * 3. `boundTime` runs the rules over a string or a block of lines on which all of them together could take long. To watch
 *    each would take a tenth of the time of `redact`.
 *
 * @example
 * const { mask } = compileMaskRules([
 *   { name: 'PIN', expression: /pin=([0-9]{4})/, groups: [1], keywords: ['pin='], replace: () => '***' },
 * ]);
 * mask('pin=1234'); // 'pin=***'
 */
export function compileMaskRules(rules: readonly MaskRule[], options: MaskRulesOptions = {}): MaskRules {
  const engine = new MaskEngine(rules, options);
  return {
    mask: (text) => engine.mask(text),
    mentions: (text) => engine.mentions(text),
    hasCandidates: (text) => engine.hasCandidates(text),
    leavesCompactJson: (json) => engine.leavesCompactJson(json),
    candidates: (text) => engine.candidates(text),
    hasCommon: () => engine.planned.common.length > 0,
    longestLiteral: () => engine.planned.index.longest,
    many: () => engine.many(),
  };
}

/** The first short texts are left to the engine's own searches: the first event need not wait for better ones. */
const FEW_TEXTS = 10;
const SHORT_TEXT = 8192;
const MOST_UNPLANNED = 50;
/** Shorter texts are not worth it to start WebAssembly, which takes some milliseconds. */
const SHORTEST_IN_BYTES = 8192;
const LF = 0x0a;
const NO_HITS = new Int32Array(0);

class MaskEngine {
  readonly #rules: readonly CompiledRule[];
  readonly #onMask: MaskRulesOptions['onMask'];
  readonly #boundTime: MaskRulesOptions['boundTime'];
  readonly #isLate: () => boolean | undefined;
  readonly #first: RulePlan;
  #best: RulePlan | undefined;
  #few = FEW_TEXTS;

  constructor(rules: readonly MaskRule[], options: MaskRulesOptions) {
    const { onMask, boundTime, isLate = () => undefined, linearEngine } = options;
    this.#rules = rules.map((rule, number) => new CompiledRule(rule, number, linearEngine));
    this.#onMask = onMask;
    this.#boundTime = boundTime;
    this.#isLate = isLate;
    this.#first = new RulePlan(this.#rules, false);
    const { length } = this.#first.common;
    if (this.#first.isPlanned) this.#best = this.#first;
    // To try many rules without a plan takes longer than to plan.
    else if (length === 0 || length > MOST_UNPLANNED) this.#best = new RulePlan(this.#rules, true);
  }

  mask(text: string): string {
    const { length } = text;
    const plan = this.#planFor(length);
    const { rules, places } = plan.index.candidatesIn(text);
    const candidates = plan.rulesFor(text, rules);
    const list = candidates.length === 0 ? plan.common : plan.together(candidates);
    if (list.length === 0) return text;
    // Events have many short strings, so an attempt at one costs no closure.
    const run = this.#unwatchedRun(plan);
    run.know(text, places);
    try {
      const masked = this.#apply(plan, list, text, run);
      this.#tell(run);
      return masked;
    } catch (error) {
      if (error !== TO_BE_WATCHED) throw error;
    }
    return this.#watched(plan, length, (again) => this.#apply(plan, list, text, again));
  }

  /** Without a plan, the index has keywords only. */
  mentions(text: string): boolean {
    return this.#first.rulesFor(text, this.#first.index.rulesIn(text)).length > 0;
  }

  candidates(text: string): { rules: readonly MaskRule[]; isSlow: boolean } {
    const plan = this.planned;
    const found = plan.together(plan.rulesFor(text, plan.index.rulesIn(text)));
    const steps = found.reduce((sum, rule) => sum + rule.stepsOn(text.length), 0);
    return { rules: found.map(({ rule }) => rule), isSlow: steps > FEW_STEPS };
  }

  hasCandidates(text: string): boolean {
    const plan = this.planned;
    return plan.rulesFor(text, plan.index.rulesIn(text)).length > 0;
  }

  leavesCompactJson(json: string): boolean {
    const plan = this.#planFor(json.length);
    if (!plan.seesCompactJson) return false;
    const found = plan.rulesFor(json, plan.index.rulesIn(json));
    return found.every((number) => (this.#rules[number] as CompiledRule).isAbsentFrom(json));
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

  #planFor(length: number): RulePlan {
    if (this.#best !== undefined) return this.#best;
    if (this.#few > 0) {
      this.#few--;
      if (length <= SHORT_TEXT) return this.#first;
    }
    return this.planned;
  }

  get planned(): RulePlan {
    this.#best ??= new RulePlan(this.#rules, true);
    return this.#best;
  }

  #map(lines: string): string {
    const plan = this.#planFor(lines.length);
    const { index } = plan;
    const scan = (bytes: Uint8Array) => scanForLiterals(index.tables, bytes);
    const inLines = index.linesIn(lines, lines.length >= SHORTEST_IN_BYTES ? scan : undefined);
    const candidates = plan.checkKeywords(inLines, new HeldText(lines));
    if (candidates.length === 0 && plan.common.length === 0) return lines;
    const longest = longestLine((from) => lines.indexOf('\n', from), lines.length);
    return this.#attempt(plan, lines.length, longest, (run) => {
      const bytes = plan.isPlanned && lines.length >= SHORTEST_IN_BYTES ? plan.bytes?.hold(lines) : undefined;
      const held = bytes ?? new HeldText(lines);
      if (this.#applyToLines(plan, held, candidates, run, longest)) return held.text;
      run.counts = undefined;
      return lines
        .split('\n')
        .map((line) => {
          const rules = plan.rulesFor(line, plan.index.rulesIn(line));
          return this.#apply(plan, plan.together(rules), line, run);
        })
        .join('\n');
    });
  }

  /** {@link #map} for bytes; returns -1 if {@link #map} has to do it. */
  #mapBytes(lines: Uint8Array, into: Uint8Array): number {
    const plan = this.#best;
    const bytes = plan?.bytes;
    if (plan === undefined || bytes === undefined) return -1;
    const hits = plan.index.isEmpty ? NO_HITS : scanForLiterals(plan.index.tables, lines);
    if (hits === undefined) return -1;
    if (!bytes.holdBytes(lines)) return -1;
    const candidates = plan.checkKeywords(plan.index.linesInBytes(lines, hits), bytes);
    const longest = longestLine((from) => lines.indexOf(LF, from), lines.length);
    let length = -1;
    this.#attempt(plan, lines.length, longest, (run) => {
      // It may be tried again, after it was stopped at any point.
      const isHeld = bytes.holdBytes(lines) && this.#applyToLines(plan, bytes, candidates, run, longest);
      length = isHeld ? bytes.copyTo(into) : -1;
      if (length === -1) run.counts = undefined;
      return '';
    });
    return length;
  }

  /**
   * Applies rules, in limited time as soon as they could take long. Tells what was masked only when nothing can fail any
   * more: it may be tried again.
   *
   * @param longest the length of the longest line, if the text has several
   * @throws what `boundTime` throws: then nothing was told, and each line of a block has to be masked by itself
   */
  #attempt(plan: RulePlan, length: number, longest: number, apply: (run: MaskRun) => string): string {
    // What has to be watched in the end is not begun without.
    const isWatched =
      this.#boundTime !== undefined && plan.common.some((rule) => rule.stepsOn(length, longest) > FEW_STEPS);
    if (isWatched) return this.#watched(plan, length, apply);
    const run = this.#unwatchedRun(plan);
    try {
      const masked = apply(run);
      this.#tell(run);
      return masked;
    } catch (error) {
      if (error !== TO_BE_WATCHED) throw error;
    }
    return this.#watched(plan, length, apply);
  }

  #unwatchedRun(plan: RulePlan): MaskRun {
    return new MaskRun(plan.isInert, this.#boundTime === undefined ? undefined : this.#isLate);
  }

  #watched(plan: RulePlan, length: number, apply: (run: MaskRun) => string): string {
    let run = new MaskRun(plan.isInert, undefined);
    const work = () => {
      run = new MaskRun(plan.isInert, undefined);
      return apply(run);
    };
    const masked = (this.#boundTime as NonNullable<MaskRulesOptions['boundTime']>)(
      work,
      length,
      () => run.rule,
    );
    this.#tell(run);
    return masked;
  }

  #applyOne(plan: RulePlan, rule: CompiledRule, text: string, run: MaskRun): string {
    run.start(rule);
    if (!rule.hasNeededPart(text)) return text;
    run.spend(rule.stepsOn(text.length));
    return rule.replaceIn(text, run, plan.isPlanned);
  }

  #tell({ counts }: MaskRun): void {
    if (this.#onMask === undefined || counts === undefined) return;
    const found = counts.size === 1 ? counts : [...counts].sort(([a], [b]) => a.number - b.number);
    for (const [{ rule }, count] of found) {
      this.#onMask(rule.name, count);
    }
  }

  /** Applies some rules to one string, and those that find a literal in what these put in. */
  #apply(plan: RulePlan, rules: readonly CompiledRule[], text: string, run: MaskRun): string {
    let list = rules;
    let masked = text;
    for (let i = 0; i < list.length; i++) {
      const rule = list[i] as CompiledRule;
      masked = this.#applyOne(plan, rule, masked, run);
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
  #applyToLines(
    plan: RulePlan,
    lines: HeldLines,
    candidates: readonly CandidateLine[],
    run: MaskRun,
    longest: number,
  ): boolean {
    const { length } = lines.bytes ?? lines.text;
    // What a rule calls may use the memory of the bytes.
    run.beforeCall = () => lines.leaveBytes();
    let from = 0;
    for (let i = 0; i <= plan.common.length; i++) {
      const rule = plan.common[i];
      const to = rule?.number ?? this.#rules.length;
      if (to > from && !this.#applyToCandidates(plan, lines, candidates, from, to, run)) return false;
      if (rule !== undefined) {
        run.spend(rule.stepsOn(length, longest));
        if (!this.#applyCommon(plan, rule, i, lines, run)) return false;
      }
      from = to + 1;
    }
    return true;
  }

  #applyCommon(plan: RulePlan, rule: CompiledRule, index: number, lines: HeldLines, run: MaskRun): boolean {
    run.start(rule);
    const found = lines.mask(index);
    if (found > 0) run.count(found, rule.rule.fixed as string);
    const places = found === -1 ? lines.placesOf(index) : undefined;
    if (found === -1 && places?.length !== 0) {
      const before = lines.text;
      const after = rule.replaceInLines(before, run, plan.isPlanned, places);
      if (after !== before) lines.text = after;
    }
    return !run.hasInserted;
  }

  /** Applies the rules from one number to another to the lines that have a literal of theirs. */
  #applyToCandidates(
    plan: RulePlan,
    lines: HeldLines,
    candidates: readonly CandidateLine[],
    from: number,
    to: number,
    run: MaskRun,
  ): boolean {
    const changed: { start: number; end: number; text: string }[] = [];
    // Rules before have moved what stands after the values that they replaced.
    const isOriginal = run.counts === undefined;
    let cursor: LineCursor | undefined;
    for (const { line, rules, places } of candidates) {
      const list = plan.between(rules, from, to);
      if (list.length === 0) continue;
      cursor ??= new LineCursor(lines);
      cursor.goTo(line);
      const { start, end, text } = cursor;
      let masked = text;
      if (isOriginal) run.know(text, places);
      for (const rule of list) {
        masked = this.#applyOne(plan, rule, masked, run);
        if (run.hasInserted && plan.insertedRules(masked, rule, rules).length > 0) return false;
      }
      if (masked !== text) changed.push({ start, end, text: masked });
    }
    if (changed.length > 0) lines.text = spliced(lines.text, changed);
    return true;
  }
}

function longestLine(nextLf: (from: number) => number, length: number): number {
  let longest = 0;
  let start = 0;
  for (let end = nextLf(0); end !== -1; end = nextLf(start)) {
    if (end - start > longest) longest = end - start;
    start = end + 1;
  }
  return Math.max(longest, length - start);
}
