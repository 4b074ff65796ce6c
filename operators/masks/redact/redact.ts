import { map, type OperatorFunction } from 'rxjs';
import { type Check, type Checks, checkRequired, FUNCTION } from '../../support/check-options.ts';
import type { Masker } from '../mask-strings.ts';
import type { Masked } from '../masked.ts';
import { type EntropyRuleOptions, nameOfRule } from './compile-redact-rules.ts';
import type { DecodeLayers } from './decode.ts';
import type { Confidence, RedactRule } from './redact-rule.ts';
import { Redactor } from './redactor.ts';

export type { EntropyRuleOptions } from './compile-redact-rules.ts';
export type { DecodeLayers } from './decode.ts';
export type { Confidence, RedactRule, RuleBlock, RuleCheck } from './redact-rule.ts';

export interface RedactOptions {
  /**
   * Rules by their ids, each an expression or a rule. They are applied in this order, those with blocks first. The packs of
   * millrace are such rules: `packRules(['secrets/context'])`.
   */
  readonly rules: Readonly<Record<string, string | RedactRule>>;
  /** Leaves out rules that are less sure: `low` has all rules. `medium` by default. */
  readonly confidence?: Confidence | undefined;
  /** Expressions for values that no rule masks. None by default. */
  readonly allowedValues?: readonly string[] | undefined;
  /** Keys in any style of writing, such as `trace_id`, whose values no rule masks. None by default. */
  readonly allowedKeys?: readonly string[] | undefined;
  /** Layers of encodings that rules see through: 2 of JSON strings, 1 of percent, 2 of base64 by default. */
  readonly decode?: Partial<DecodeLayers> | undefined;
  /** How tokens that look random are found; false turns it off. On at low confidence by default. */
  readonly entropy?: EntropyRuleOptions | false | undefined;
  /** Returns what replaces a value that the rule `id` found. `<:name of the rule:>` by default. */
  readonly replace?: ((value: string, id: string) => string) | undefined;
  /** Called after a string in which the rule `id` masked `count` values, at least one. */
  readonly onMask?: ((id: string, count: number) => void) | undefined;
  /** Runs what may take more than a moment, and may throw: see `regexMasker`. Without it, nothing bounds that time. */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
}

const OBJECT: Check = (value) => (typeof value === 'object' && value !== null) || 'an object';
const STRINGS: Check = (value) =>
  (Array.isArray(value) && value.every((item) => typeof item === 'string')) || 'an array of strings';
const CHECKS: Checks<RedactOptions> = {
  rules: OBJECT,
  confidence: (value) => ['high', 'medium', 'low'].includes(value as string) || "'high', 'medium' or 'low'",
  allowedValues: STRINGS,
  allowedKeys: STRINGS,
  decode: OBJECT,
  entropy: (value) => value === false || OBJECT(value) === true || 'an object or false',
  replace: FUNCTION,
  onMask: FUNCTION,
  boundTime: FUNCTION,
};

/**
 * A mask that replaces what redaction rules find: groups of a match rather than all of it, values that pass a check,
 * and nothing that is a placeholder such as `${TOKEN}`. It sees through JSON strings, percent encoding and base64. Works on
 * a string, or on an event: see `maskEvent`. A field of an event is searched behind its key as well, as `"pin": "1234"`, if
 * the key has a keyword of a rule.
 *
 * @throws ExpressionError for a rule that is no regular expression, naming the rule.
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws TypeError for a check or an option that does not exist.
 *
 * @example
 * const mask = redactor({ rules: { PIN: { match: 'pin[=": ]+([0-9]{4})', mask: 1, keywords: ['pin'] } } });
 * mask('pin=1234'); // 'pin=<:PIN:>'
 * mask({ data: { pin: '1234', year: '2026' } }); // { data: { pin: '<:PIN:>', year: '2026' } }
 */
export function redactor(options: RedactOptions): Masker {
  checkRequired('redactor', options, CHECKS, ['rules']);
  const { rules, confidence = 'medium', allowedValues = [], allowedKeys = [] } = options;
  const { decode = {}, replace = (_, id) => `<:${nameOfRule(id)}:>`, entropy, onMask, boundTime } = options;
  return new Redactor({
    rules,
    confidence,
    allowedValues,
    allowedKeys,
    decode: { json: 2, percent: 1, base64: 2, ...decode },
    replace,
    isAddition: options.replace && ((text) => /^[\w./:-]{1,100}$/.test(text)),
    entropy,
    onMask,
    boundTime,
  }).mask;
}

/**
 * {@link redactor} as an operator: strings or events in, the same out, as far as a mask can ({@link Masked}). A number
 * that is masked becomes a string. What cannot be masked is an error notification, never a value.
 *
 * Use it instead of `regexMask` when rules mask a part of a match, check what they found, or come from packs.
 *
 * @example
 * of('pin=1234').pipe(redact({ rules: { PIN: { match: 'pin=([0-9]{4})', mask: 1 } } })); // 'pin=<:PIN:>'
 */
export function redact<T extends string | object>(options: RedactOptions): OperatorFunction<T, Masked<T>> {
  const mask = redactor(options);
  return map((value: T) => mask(value));
}
