import { assertTexts, type Checks, checkOptions, FUNCTION } from '../support/check-options.ts';
import type { MaskRule } from './mask-rule.ts';
import { compileExpression } from './python-regex.ts';
import { REPLACEMENT_CHECKS, Replacement, type ReplacementOptions } from './replacement.ts';

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
   * rule that was begun last, or an empty text. Until the analysis of the rules is loaded, it runs every text.
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
