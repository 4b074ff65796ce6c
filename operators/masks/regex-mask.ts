import { map, type OperatorFunction } from 'rxjs';
import { applyRule } from './apply-rule.ts';
import type { MaskRule } from './mask-rule.ts';
import { type Masker, maskerOf } from './mask-strings.ts';
import type { Masked } from './masked.ts';
import { jsonKeeperOf, type RegexMaskOptions, regexMaskRules } from './regex-mask-rules.ts';
import { type Finder, finderOf } from './search/finder.ts';

export type { RegexMaskOptions } from './regex-mask-rules.ts';

let planned: typeof import('./compile-mask-rules.ts') | undefined;

/**
 * Loads the planned search of {@link regexMasker}, which every mask uses from then on. Await it before
 * a loop that masks a lot of data without a pause. Rejects if it cannot be loaded; masks then work without it.
 *
 * @example
 * await loadPlannedSearch();
 * const mask = regexMasker({ rules: { PIN: '[0-9]{4}' } });
 * ['pin 1234', 'no pin'].map((line) => mask(line)); // ['pin <:PIN:>', 'no pin']
 */
export async function loadPlannedSearch(): Promise<void> {
  planned ??= await import('./compile-mask-rules.ts');
}

/**
 * Returns a mask that replaces every match of its rules by prefix + rule name + suffix, or by `mask_char` once per
 * character. An empty match masks nothing. It takes a string, or an event, of which it masks all strings: see `maskEvent`.
 *
 * The first mask loads the planned search, which analyses the rules, in the background. Until it is loaded, the search of
 * the JavaScript engine finds the same matches: see {@link loadPlannedSearch}.
 *
 * @throws ExpressionError for a rule that is not a regular expression, naming the rule.
 * @throws TypeError for an option that is unknown or of the wrong type, and for rules that are not strings.
 * @throws TypeError if `mask_char` is not exactly one character.
 *
 * @example
 * const mask = regexMasker({ rules: { PIN: '[0-9]{4}' } });
 * mask('my pin is 1234'); // 'my pin is <:PIN:>'
 * mask({ data: { pins: ['1234'] } }); // { data: { pins: ['<:PIN:>'] } }
 */
export function regexMasker(options: RegexMaskOptions): Masker {
  const rules = regexMaskRules(options);
  const plainMask = plainMaskOf(rules, options);
  const keeper = jsonKeeperOf(rules, options);
  let plannedMask: ((text: string) => string) | undefined;
  if (planned === undefined) loadPlannedSearch().catch(() => {});
  return maskerOf((text) => {
    plannedMask ??= planned?.compileMaskRules(rules, options).mask;
    return keeper.keep(text, (plannedMask ?? plainMask)(text));
  });
}

/** Without an analysis, nothing is known of what masking costs at worst: the time of every text is bounded. */
function plainMaskOf(
  rules: readonly MaskRule[],
  { onMask, boundTime = (mask) => mask() }: RegexMaskOptions,
): (text: string) => string {
  const finders = rules.map((rule) => finderOf(rule));
  return (text) => {
    let counts = new Map<string, number>();
    let masking = '';
    const replaced = () => void counts.set(masking, (counts.get(masking) ?? 0) + 1);
    const mask = () => {
      counts = new Map();
      return rules.reduce((masked, rule, i) => {
        masking = rule.name;
        return applyRule(masked, rule, finders[i] as Finder, { replaced });
      }, text);
    };
    const masked = boundTime(mask, text.length, () => masking);
    if (onMask !== undefined) for (const [rule, count] of counts) onMask(rule, count);
    return masked;
  };
}

/**
 * {@link regexMasker} as an operator: takes strings or events, and emits the masked values ({@link Masked}). A value that
 * cannot be masked causes an error notification.
 *
 * Use it instead of `map` with `replace` when values are events, when many rules must be fast, or when no value may pass
 * that cannot be masked.
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
