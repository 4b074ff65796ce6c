import { map, type OperatorFunction } from 'rxjs';
import { type Masker, maskerOf } from './mask-event.ts';
import type { MaskText } from './mask-strings.ts';
import type { Masked } from './masked.ts';
import { maskAtOnce } from './regex/apply-rules.ts';
import { CompiledRules, type RegexMaskOptions } from './regex/compiled-rules.ts';
import { plainSearch } from './regex/finder.ts';

export type { RegexMaskOptions } from './regex/compiled-rules.ts';

let planned: typeof import('./regex/planned-mask.ts') | undefined;

/**
 * Resolves when the planned search of {@link regexMasker} is loaded, which every mask uses from then on. Await it before
 * a loop that masks much and lets nothing else run. Rejects if it cannot be loaded; masks do without it then.
 *
 * @example
 * await loadPlannedSearch();
 * const mask = regexMasker({ rules: { PIN: '[0-9]{4}' } });
 * ['pin 1234', 'no pin'].map((line) => mask(line)); // ['pin <:PIN:>', 'no pin']
 */
export async function loadPlannedSearch(): Promise<void> {
  planned ??= await import('./regex/planned-mask.ts');
}

/**
 * A mask that replaces every match of its rules: by prefix + rule name + suffix, or by `mask_char` once per
 * character. An empty match masks nothing. Works on a text, or on all text of an event: see `maskEvent`.
 *
 * The search that is planned by an analysis of the rules is loaded in the background, by the first mask. Until it is
 * there the engine's own search finds the same matches: see {@link loadPlannedSearch}.
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
  const rules = new CompiledRules(options);
  const { expressions, onMask, boundTime: within } = rules;
  // What masking costs at worst is not known without the analysis: every text is bounded in time.
  const plainMask = maskAtOnce(rules.searchedBy(expressions.map(plainSearch)), onMask, { within });
  let plannedMask: MaskText | undefined;
  if (planned === undefined) loadPlannedSearch().catch(() => {});
  return maskerOf((text) => {
    plannedMask ??= planned?.plannedMask(rules);
    return (plannedMask ?? plainMask)(text);
  });
}

/**
 * {@link regexMasker} as an operator: texts or events in, the same out, as far as a mask can
 * ({@link Masked}). What cannot be masked is an error notification, never a value.
 *
 * Use it instead of `map` with `replace` when values are events, when many rules must be quick, or when nothing
 * may pass that cannot be masked.
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
