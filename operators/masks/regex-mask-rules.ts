import { assertTexts, type Checks, checkOptions, FUNCTION } from '../support/check-options.ts';
import { JsonKeeper } from './json-lines.ts';
import type { MaskRule } from './mask-rule.ts';
import { compileExpression } from './python-regex.ts';
import { REPLACEMENT_CHECKS, Replacement, type ReplacementOptions } from './replacement.ts';
import { finderOf, matchesOf } from './search/finder.ts';

export interface RegexMaskOptions extends ReplacementOptions {
  /**
   * Rule names and their regular expressions, applied in this order. Later rules see the result of earlier ones.
   * (JavaScript puts keys that are whole numbers first, in ascending order.)
   */
  readonly rules: Readonly<Record<string, string>>;
  /** Called after a string in which `rule` masked `count` matches, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /**
   * Runs the masking of strings that could take long, because backtracking takes time in proportion to a power of their
   * length. It may throw. Without it, this time has no bound. `rule` returns the name of the rule that started last, or an
   * empty string. Until the analysis of the rules is loaded, it runs the masking of every string.
   */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
}

const CHECKS: Checks<Omit<RegexMaskOptions, keyof ReplacementOptions>> = {
  // Checked apart, one by one.
  rules: () => true,
  onMask: FUNCTION,
  boundTime: FUNCTION,
};

/**
 * The options of {@link regexMasker} as rules.
 *
 * @throws as `regexMasker` does.
 */
export function regexMaskRules(options: RegexMaskOptions): readonly MaskRule[] {
  checkOptions('regexMasker', options, { ...CHECKS, ...REPLACEMENT_CHECKS });
  assertTexts('regexMasker', 'rules', options.rules, "{ PIN: '[0-9]{4}' }");
  return Object.entries(options.rules).map(([name, source]) => {
    const { source: compiled, flags } = compileExpression(source, name);
    const replacement = new Replacement(name, options);
    const { fixed } = replacement;
    return {
      name,
      expression: new RegExp(compiled, flags.replace('g', '')),
      groups: [0],
      replace: (value) => replacement.of(value, 0, value.length),
      ...(fixed !== undefined && { fixed }),
    };
  });
}

/**
 * Keeps JSON in what these rules make of it.
 *
 * @param crosses whether a match of an expression can be in more than one string of JSON; always, if nothing is known
 */
export function jsonKeeperOf(
  rules: readonly MaskRule[],
  options: RegexMaskOptions,
  crosses: (expression: RegExp) => boolean = () => true,
): JsonKeeper {
  const mark = options.mask_char ?? options.maskChar;
  const { boundTime } = options;
  return new JsonKeeper({
    marks: rules.map(({ fixed, expression }) => ({
      text: fixed ?? mark ?? '',
      crosses: NEEDS_ESCAPE.test(fixed ?? mark ?? '') || crosses(expression),
    })),
    rules: rules.map((rule) => {
      const finder = finderOf(rule);
      return { find: (text) => matchesOf(finder, text), replace: rule.replace };
    }),
    boundTime: boundTime && ((work, length) => boundTime(work, length, () => '')),
  });
}

/** What is not written as it is in a string of JSON. */
const NEEDS_ESCAPE = /["\\\p{Cc}]/u;
