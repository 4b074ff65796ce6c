import { assertTexts, type Checks, checkOptions, FUNCTION } from '../../support/check-options.ts';
import { compileExpression } from '../python-regex.ts';
import { REPLACEMENT_CHECKS, Replacement, type ReplacementOptions } from '../replacement.ts';
import type { Rule } from './apply-rules.ts';
import type { Plan } from './plan.ts';

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

/** The rules of a mask, checked and compiled, without a way to search for them. */
export class CompiledRules {
  readonly names: readonly string[];
  /** Global. */
  readonly expressions: readonly RegExp[];
  readonly replacements: readonly Replacement[];
  readonly onMask: RegexMaskOptions['onMask'];
  readonly boundTime: RegexMaskOptions['boundTime'];

  /** @throws as `regexMasker` does. */
  constructor(options: RegexMaskOptions) {
    checkOptions('regexMasker', options, { ...CHECKS, ...REPLACEMENT_CHECKS });
    assertTexts('regexMasker', 'rules', options.rules, "{ PIN: '[0-9]{4}' }");
    this.names = Object.keys(options.rules);
    this.expressions = this.names.map((name) => compileExpression(options.rules[name] as string, name));
    this.replacements = this.names.map((name) => new Replacement(name, options));
    this.onMask = options.onMask;
    this.boundTime = options.boundTime;
  }

  /** @param plans one for each expression. */
  searchedBy(plans: readonly Plan[]): readonly Rule[] {
    return plans.map((plan, i) => ({
      ...plan,
      name: this.names[i] as string,
      replacement: this.replacements[i] as Replacement,
    }));
  }
}
