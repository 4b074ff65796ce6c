import { map, type OperatorFunction } from 'rxjs';
import {
  ANY_OBJECT,
  atLeast,
  type Check,
  type Checks,
  COUNT_FROM_0,
  checkRequired,
  FUNCTION,
  OBJECT,
  STRINGS,
  TEXT,
  UNIT,
} from '../../support/check-options.ts';
import type { KeyedRule } from '../keyed/vocabulary.ts';
import type { Masker } from '../mask-strings.ts';
import type { Masked } from '../masked.ts';
import { type EntropyRuleOptions, nameOfRule } from './compile-redact-rules.ts';
import type { DecodeLayers } from './decode.ts';
import type { PseudonymTable } from './pseudonyms.ts';
import type { Confidence, RedactRule } from './redact-rule.ts';
import { Redactor } from './redactor.ts';

export type { Guard, KeyedRule, KeyName, Notation, Vocabulary } from '../keyed/vocabulary.ts';
export type { EntropyRuleOptions } from './compile-redact-rules.ts';
export type { DecodeLayers } from './decode.ts';
export type { Confidence, RedactRule, RuleBlock, RuleCheck } from './redact-rule.ts';

export interface RedactOptions {
  /**
   * Rules by their ids, each an expression or a rule. They are applied in this order, those with blocks first. The packs of
   * millrace are such rules: `packRules(['secrets/context'])`.
   */
  readonly rules: Readonly<Record<string, string | RedactRule | KeyedRule>>;
  /** Leaves out rules that are less certain: `low` has all rules. `medium` by default. */
  readonly confidence?: Confidence | undefined;
  /** Expressions for values that no rule masks. None by default. */
  readonly allowedValues?: readonly string[] | undefined;
  /** Keys in any style of writing, such as `trace_id`, whose values no rule masks. None by default. */
  readonly allowedKeys?: readonly string[] | undefined;
  /** Layers of encodings that are decoded: by default 2 of JSON strings, 1 of percent encoding, 2 of base64. */
  readonly decode?: Partial<DecodeLayers> | undefined;
  /** Masks tokens that look random; `false` turns this off. By default, it is on at low confidence. */
  readonly entropy?: EntropyRuleOptions | false | undefined;
  /** Returns the replacement of a value that the rule `id` found. `<:name of the rule:>` by default. */
  readonly replace?: ((value: string, id: string) => string) | undefined;
  /** Called after a string in which the rule `id` masked `count` values, at least one. */
  readonly onMask?: ((id: string, count: number) => void) | undefined;
  /** Runs masking that could take long, and may throw: see `regexMasker`. Without it, this time has no bound. */
  readonly boundTime?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
}

/** Checks an option that is an object, and refuses unknown fields. */
const objectWith =
  <Options extends object>(checks: Checks<Options>): Check =>
  (value) => {
    if (OBJECT(value) !== true) return 'an object';
    for (const name in value as Options) {
      if (!Object.hasOwn(checks, name))
        return `an object with no other fields than ${Object.keys(checks).join(', ')}`;
      const one = (value as Options)[name];
      const expected = one === undefined || checks[name](one);
      if (expected !== true) return `an object whose ${name} is ${expected}`;
    }
    return true;
  };

const ENTROPY = /* @__PURE__ */ objectWith<EntropyRuleOptions>({
  threshold: UNIT,
  length: /* @__PURE__ */ atLeast(2),
  delimiters: TEXT,
  trim: TEXT,
});

export const REDACT_CHECKS: Checks<RedactOptions> = {
  rules: ANY_OBJECT,
  confidence: (value) => ['high', 'medium', 'low'].includes(value as string) || "'high', 'medium' or 'low'",
  allowedValues: STRINGS,
  allowedKeys: STRINGS,
  decode: /* @__PURE__ */ objectWith<DecodeLayers>({
    json: COUNT_FROM_0,
    percent: COUNT_FROM_0,
    base64: COUNT_FROM_0,
  }),
  entropy: (value) => {
    const expected = value === false || ENTROPY(value);
    return expected === true || `false, or ${expected}`;
  },
  replace: FUNCTION,
  onMask: FUNCTION,
  boundTime: FUNCTION,
};

/**
 * Returns a mask that applies redaction rules. A rule can mask groups of a match and check values, and never masks
 * placeholders such as `${TOKEN}`. The mask decodes JSON strings, percent encoding and base64. It takes a string, or an
 * event: see `maskEvent`. If the key of a field contains a keyword of a rule, the rule also searches the field together
 * with its key, as in `"pin": "1234"`.
 *
 * @throws ExpressionError for a rule that is not a regular expression, naming the rule.
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws TypeError for a check or an option that does not exist.
 *
 * @example
 * const mask = redactor({ rules: { PIN: { match: 'pin[=": ]+([0-9]{4})', mask: 1, keywords: ['pin'] } } });
 * mask('pin=1234'); // 'pin=<:PIN:>'
 * mask({ data: { pin: '1234', year: '2026' } }); // { data: { pin: '<:PIN:>', year: '2026' } }
 */
export function redactor(options: RedactOptions): Masker {
  checkRequired('redactor', options, REDACT_CHECKS, ['rules']);
  return redactorOf(options).mask;
}

/** @param table of pseudonyms, which come before `replace` */
export function redactorOf(options: RedactOptions, table?: PseudonymTable): Redactor {
  const { rules, confidence = 'medium', allowedValues = [], allowedKeys = [] } = options;
  const { decode = {}, replace = (_, id) => `<:${nameOfRule(id)}:>`, entropy, onMask, boundTime } = options;
  return new Redactor({
    rules,
    confidence,
    allowedValues,
    allowedKeys,
    decode: { json: 2, percent: 1, base64: 2, ...decode },
    replace:
      table === undefined ? replace : (value, id) => table.pseudonymOf(value, id) ?? replace(value, id),
    isMask: table && ((text) => table.isPseudonym(text)),
    isAddition: options.replace && ((text) => /^[\w./:-]{1,100}$/.test(text)),
    entropy,
    onMask,
    boundTime,
  });
}

/**
 * {@link redactor} as an operator: takes strings or events, and emits the masked values ({@link Masked}). A number that
 * is masked becomes a string. A value that cannot be masked causes an error notification.
 *
 * Use it instead of `regexMask` when rules mask a part of a match, check their matches, or come from packs.
 *
 * @example
 * of('pin=1234').pipe(redact({ rules: { PIN: { match: 'pin=([0-9]{4})', mask: 1 } } })); // 'pin=<:PIN:>'
 */
export function redact<T extends string | object>(options: RedactOptions): OperatorFunction<T, Masked<T>> {
  const mask = redactor(options);
  return map((value: T) => mask(value));
}
