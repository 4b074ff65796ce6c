import { ByteMasks } from './bytes/byte-masks.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { stepsAtWorst } from './expression/cost.ts';
import { type HeldLines, LineCursor } from './held-lines.ts';
import { type CandidateLine, LiteralIndex } from './search/literal-index.ts';

/** Engines do so many steps in less than a second: each takes some nanoseconds. */
const HARMLESS_STEPS = 2e8;
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
  /** Those of them that no literal is known for. */
  readonly #unfound: readonly CompiledRule[];
  /** What is put in can only matter to rules whose literals come from their expressions. */
  readonly isInert: (text: string) => boolean;
  #bytes: ByteMasks | 'none' | undefined;
  /** No common rule is costly up to this length. */
  #harmlessLength = 0;

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

  /** The same for lines. */
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

  /** Whether a common rule could take long on a string, or on lines together, of this length. */
  isCommonCostly(length: number, lineLength = length): boolean {
    if (length <= this.#harmlessLength) return false;
    if (this.common.some((rule) => isCostly(rule, length, lineLength))) return true;
    if (lineLength === length) this.#harmlessLength = length;
    return false;
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

/** Whether the index can find a keyword, which is in lower case. */
const isIndexed = (keyword: string): boolean => keyword.length >= 2 && !keyword.includes('\n');

export const byNumber = (a: CompiledRule, b: CompiledRule): number => a.number - b.number;

/** Whether a rule could take long on a string, or on lines together, of this length. */
export const isCostly = ({ cost }: CompiledRule, length: number, lineLength: number): boolean =>
  stepsAtWorst(cost, length, lineLength) > HARMLESS_STEPS;
