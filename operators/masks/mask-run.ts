import type { RuleObserver } from './apply-rule.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { FEW_STEPS } from './expression/linear-engine.ts';

const DO_NOTHING = (): void => {};

/** It is asked again after so many steps, which take some milliseconds. */
const STEPS_BETWEEN = FEW_STEPS / 20;

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
  readonly #isLate: (() => boolean | undefined) | undefined;
  #text: string | undefined;
  #places: readonly number[] | undefined;
  #steps = 0;
  /** How many steps it could have taken when it was last asked whether it is late. */
  #asked = 0;
  #rule: CompiledRule | undefined;

  /** @param isLate whether it has to be watched even if it cannot take long; undefined if it is watched, or never is. */
  constructor(isInert: (text: string) => boolean, isLate: (() => boolean | undefined) | undefined) {
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
    if (steps > FEW_STEPS) throw TO_BE_WATCHED;
    // Most steps are never taken, so the time says more than their sum.
    if (this.#steps - this.#asked < STEPS_BETWEEN) return;
    this.#asked = this.#steps;
    if (this.#isLate() ?? this.#steps > FEW_STEPS) throw TO_BE_WATCHED;
  }

  /** Says where names may start in a string, as long as it is that string. */
  know(text: string, places: readonly number[] | undefined): void {
    this.#text = text;
    this.#places = places;
  }

  placesIn(text: string): readonly number[] | undefined {
    return text === this.#text ? this.#places : undefined;
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
