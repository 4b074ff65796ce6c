import type { MaskRule } from '../../operators/masks/mask-rule.ts';
import { compileRedactRules, nameOfRule } from '../../operators/masks/redact/compile-redact-rules.ts';
import type { Confidence } from '../../operators/masks/redact/redact-rule.ts';
import { resolvePackRules } from '../../plugins/packs/load-packs.ts';

/** What stands in a masked line in place of what the rule of this id found. */
export const maskOf = (id: string): string => `<:${nameOfRule(id)}:>`;

/** The rules of packs as a mask applies them, by default with the confidence that `redact` has by default. */
export function rulesOf(packs: readonly string[], confidence: Confidence = 'medium'): MaskRule[] {
  return compileRedactRules(resolvePackRules(packs), {
    confidence,
    allowedValues: [],
    allowedKeys: [],
    entropy: false,
    replace: (_value, id) => maskOf(id),
  });
}
