import { ByteMasks } from './bytes/byte-masks.ts';
import { byNumber, type CompiledRule } from './compiled-rule.ts';
import { type HeldLines, LineCursor } from './held-lines.ts';
import type { CandidateLine } from './search/candidates.ts';
import { textOf } from './search/keyword.ts';
import { isIndexed } from './search/literal-entries.ts';
import { LiteralIndex } from './search/literal-index.ts';

/** So few rules are searched for by themselves, if that is quick, rather than in one pass for all. */
const FEW_RULES = 8;
/** What only a field after its key may have, or a number: not the compact JSON that they are in. */
const BESIDE_FIELD = /(?:^|"):(?: (?:["{\d-]|$)|n)|(?:^|"), (?:"|$)|^ ["{\d-]|[[{]"|\d\}/;
/** A rule of the packs of millrace, by its name, or one that only notices keys. */
const isOfPack = ({ rule: { name, finder } }: CompiledRule) =>
  /^(?:secrets|pii)\//.test(name) || (name === '' && finder !== undefined);

/** Which rules are tried on every string, and which on strings with a literal. */
export class RulePlan {
  readonly isPlanned: boolean;
  readonly #rules: readonly CompiledRule[];
  readonly common: readonly CompiledRule[];
  readonly index: LiteralIndex;
  /** Rules with keywords that the index cannot find, such as letters. */
  readonly #guarded: readonly CompiledRule[];
  /** The guarded rules without a known literal. */
  readonly #unfound: readonly CompiledRule[];
  /** What is put in can only matter to rules whose literals come from their expressions. */
  readonly isInert: (text: string) => boolean;
  #bytes: ByteMasks | 'none' | undefined;
  /** For each rule, what a text has on which it is tried. */
  readonly #literals: readonly (readonly string[])[];
  #seesCompactJson: boolean | undefined;

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
      // What another plan says of it is not what this one says.
      rule.lastInert = undefined;
    });
    this.common = rules.filter(({ isCommon }) => isCommon);
    this.index = new LiteralIndex(
      rules.map((rule, i) => derived[i] ?? (this.#guarded.includes(rule) ? undefined : rule.rule.keywords)),
    );
    this.#literals = rules.map(({ rule: { keywords = [] } }, i) => [
      ...keywords.map(textOf),
      ...(derived[i] ?? []),
    ]);
    const hasDerived = derived.some((literals) => literals !== undefined);
    this.isInert = hasDerived ? (text) => this.index.isInert(text) : () => true;
  }

  /**
   * Whether compact JSON has a literal of each rule that finds something in one of its fields as these are searched: after their keys,
   * `"key": "value"`, and items after the item before them. Literals of packs are known to be at most spaced in another way; what
   * others have of JSON may be written so in a field only.
   */
  get seesCompactJson(): boolean {
    this.#seesCompactJson ??=
      this.common.length === 0 &&
      this.#literals.every((texts, i) => {
        if (!isOfPack(this.#rules[i] as CompiledRule)) return !texts.some((text) => /["{}[\],:]/.test(text));
        return texts.every(
          (text) => !BESIDE_FIELD.test(text) || texts.includes(text.replace(/([":,]) /g, '$1')),
        );
      });
    return this.#seesCompactJson;
  }

  /** The rules to try on a string, of those with a literal in it and those for which none is known. */
  rulesFor(text: string, found: readonly number[]): readonly number[] {
    if (this.#guarded.length === 0) return found;
    return [...found, ...this.#unfound.map(({ number }) => number)]
      .filter((number) => {
        const rule = this.#rules[number] as CompiledRule;
        return !this.#guarded.includes(rule) || rule.mayChange(text);
      })
      .sort((a, b) => a - b);
  }

  /** Checks the keywords of candidate lines. */
  checkKeywords(candidates: readonly CandidateLine[], lines: HeldLines): readonly CandidateLine[] {
    const isGuarded = (number: number) => this.#guarded.includes(this.#rules[number] as CompiledRule);
    if (this.#guarded.length === 0) return candidates;
    if (this.#unfound.length === 0 && !candidates.some(({ rules }) => rules.some(isGuarded)))
      return candidates;
    const cursor = new LineCursor(lines);
    const checked = ({ line, rules, places }: CandidateLine): CandidateLine => {
      cursor.goTo(line);
      return { line, rules: this.rulesFor(cursor.text, rules), places };
    };
    if (this.#unfound.length === 0) return candidates.map(checked);
    const all: CandidateLine[] = [];
    for (let line = 0, next = 0; !cursor.isAtEnd; line++) {
      const found = candidates[next]?.line === line ? candidates[next++] : undefined;
      const candidate = checked(found ?? { line, rules: [], places: [] });
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
    this.#bytes ??=
      ByteMasks.of(
        this.common.map(({ byteMask }) => byteMask),
        this.common.map(({ outlines }) => outlines),
      ) ?? 'none';
    return this.#bytes === 'none' ? undefined : this.#bytes;
  }
}
