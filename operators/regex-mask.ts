import { map, type OperatorFunction } from 'rxjs';
import { type ByteMask, byteMasks } from './bytes/byte-masks.ts';
import { assertTexts, type Checks, checkOptions, FUNCTION, TEXT } from './check-options.ts';
import type { Masks } from './lines-masker.ts';
import { type Masker, maskerOf } from './mask-event.ts';
import type { MaskText } from './mask-strings.ts';
import type { Masked } from './masked.ts';
import { compileExpression } from './python-regex.ts';
import { maskAtOnce, type Rule } from './regex/apply-rules.ts';
import { costOf } from './regex/cost.ts';
import { fewFirst } from './regex/few-first.ts';
import { harmlessLength, harmlessLines, stepsOfLines, stepsOfText } from './regex/harmless.ts';
import { type LinesPlan, type Plan, plainSearch, planSearch, searchOfLines } from './regex/plan.ts';
import { Replacement, type ReplacementOptions } from './replacement.ts';

export interface RegexMaskOptions extends ReplacementOptions {
  /**
   * Rule names and their regular expressions, applied in this order; later rules see what earlier ones left.
   * (JavaScript puts keys that are whole numbers first, in ascending order.)
   */
  readonly rules: Readonly<Record<string, string>>;
  /** Called after a text in which `rule` masked `count` matches, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /**
   * Runs what may take more than a moment: the masking of a text so long that backtracking over it could take
   * time in proportion to a power of its length. It may throw. Without it, nothing bounds that time. `rule` gives the
   * rule that was begun last, or an empty text.
   */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
}

const CHECKS: Checks<RegexMaskOptions> = {
  // Checked apart, one by one.
  rules: () => true,
  onMask: FUNCTION,
  boundTime: FUNCTION,
  mask_char: TEXT,
  mask_prefix: TEXT,
  mask_suffix: TEXT,
};

/**
 * A mask that replaces every match of its rules: by prefix + rule name + suffix, or by `mask_char` once per
 * character. An empty match masks nothing. Works on a text, or on all text of an event: see `maskEvent`.
 *
 * @throws ExpressionError for a rule that is no regular expression, naming the rule.
 * @throws TypeError for an option that is unknown or of the wrong type, and for rules that are not strings.
 * @throws RangeError if `mask_char` is not exactly one character.
 *
 * @example
 * const mask = regexMasker({ rules: { PIN: '[0-9]{4}' } });
 * mask('my pin is 1234'); // 'my pin is <:PIN:>'
 * mask({ data: { pins: ['1234'] } }); // { data: { pins: ['<:PIN:>'] } }
 */
export function regexMasker(options: RegexMaskOptions): Masker {
  return regexMasks(options).mask;
}

/** {@link regexMasker}, and the same for many lines, if it can be said for them. */
export function regexMasks(options: RegexMaskOptions): Masks {
  checkOptions('regexMasker', options, CHECKS);
  assertTexts('regexMasker', 'rules', options.rules, "{ PIN: '[0-9]{4}' }");
  const { onMask, boundTime } = options;
  const names = Object.keys(options.rules);
  const expressions = names.map((name) => compileExpression(options.rules[name] as string, name));
  const replacements = names.map((name) => new Replacement(name, options));
  const rulesOf = (plans: readonly Plan[]): readonly Rule[] =>
    plans.map((plan, i) => ({
      ...plan,
      name: names[i] as string,
      replacement: replacements[i] as Replacement,
    }));
  let rules: readonly Rule[] | undefined;
  const planned = () => {
    rules ??= rulesOf(expressions.map(planSearch));
    return rules;
  };
  const costs = expressions.map(costOf);
  const maskShort = fewFirst({
    mask: maskAtOnce(rulesOf(expressions.map(plainSearch)), onMask),
    steps: (text) => stepsOfText(costs, text),
    planned: () => maskAtOnce(planned(), onMask),
  });
  let maskLong: MaskText | undefined;
  const harmless = Math.min(...costs.map(harmlessLength));
  return {
    mask: maskerOf((text) => {
      if (text.length <= harmless) return maskShort(text);
      maskLong ??= maskAtOnce(planned(), onMask, { within: boundTime });
      return maskLong(text);
    }),
    many: () => {
      const limits = harmlessLines(costs);
      const searches = expressions.map(searchOfLines);
      if (limits === undefined || !searches.every((search) => search !== undefined)) return undefined;
      if (!replacements.every(({ staysInLine }) => staysInLine)) return undefined;
      const map = fewFirst({
        mask: maskAtOnce(rulesOf(searches.map(({ plain }) => plain)), onMask),
        steps: (text) => stepsOfLines(costs, text),
        planned: () => {
          const plans = searches.map(({ planned }) => planned());
          const inText = maskAtOnce(rulesOf(plans), onMask);
          let inBytes: MaskText | undefined;
          return (text) => {
            if (text.length < SHORTEST_IN_BYTES) return inText(text);
            inBytes ??= maskAtOnce(rulesOf(plans), onMask, {
              bytes: byteMasks(asBytes(plans, replacements)),
            });
            return inBytes(text);
          };
        },
      });
      return { ...limits, map };
    },
  };
}

/** Characters: who masks no longer texts need not wait for WebAssembly, which takes some milliseconds to begin. */
const SHORTEST_IN_BYTES = 8192;

/** The rules that can be had in bytes. */
function asBytes(
  plans: readonly LinesPlan[],
  replacements: readonly Replacement[],
): readonly (ByteMask | undefined)[] {
  return plans.map(({ bytes }, i) => {
    const { fixed } = replacements[i] as Replacement;
    return bytes && fixed !== undefined && isAscii(fixed) ? { replacement: fixed, ...bytes } : undefined;
  });
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * {@link regexMasker} as an operator: texts or events in, the same out, as far as a mask can
 * ({@link Masked}). What cannot be masked is an error notification, never a value.
 *
 * @example
 * of('call 0123').pipe(regexMask({ rules: { PHONE: '[0-9]+' } })); // 'call <:PHONE:>'
 */
export function regexMask<T extends string | object>(
  options: RegexMaskOptions,
): OperatorFunction<T, Masked<T>> {
  const mask = regexMasker(options);
  return map((value: T) => mask(value));
}
