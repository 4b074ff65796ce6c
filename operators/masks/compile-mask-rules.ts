import type { LinesMasker } from './lines-masker.ts';
import { applyRulesInOrder, type MaskRule } from './mask-rule.ts';

export interface MaskRulesOptions {
  /** Called after a string in which `rule` replaced `count` values, at least one. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /**
   * Runs the masking of a string that could take more than a moment, and may throw. Without it, nothing bounds that
   * time. `rule` returns the name of the rule that runs.
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
 * Compiles rules into a mask that gives what {@link applyRulesInOrder} gives.
 *
 * @example
 * const { mask } = compileMaskRules([
 *   { name: 'PIN', expression: /pin=([0-9]{4})/, groups: [1], keywords: ['pin='], replace: () => '***' },
 * ]);
 * mask('pin=1234'); // 'pin=***'
 */
export function compileMaskRules(
  rules: readonly MaskRule[],
  { onMask, boundTime = (mask) => mask() }: MaskRulesOptions = {},
): MaskRules {
  let counts = new Map<string, number>();
  let running = '';
  const counted = rules.map((rule) => ({
    ...rule,
    accepts: (value: string, text: string, start: number) => {
      running = rule.name;
      return rule.accepts?.(value, text, start) ?? true;
    },
    replace: (value: string) => {
      counts.set(rule.name, (counts.get(rule.name) ?? 0) + 1);
      return rule.replace(value);
    },
  }));
  const mask = (text: string): string => {
    running = '';
    const apply = () => {
      counts = new Map();
      return applyRulesInOrder(text, counted);
    };
    const masked = boundTime(apply, text.length, () => running);
    if (onMask !== undefined) for (const [rule, count] of [...counts]) onMask(rule, count);
    return masked;
  };
  return { mask, many: () => undefined };
}
