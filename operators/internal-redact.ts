// What `millrace/redact` needs of the masks, and nothing that needs RxJS: see `internal.ts`.

export { costOf } from './masks/expression/cost.ts';
export { ExpressionError } from './masks/expression-error.ts';
export type { KeyedRule } from './masks/keyed/vocabulary.ts';
export { isPlain, mapStrings } from './masks/map-strings.ts';
export { MaskError } from './masks/mask-error.ts';
export type { Masked } from './masks/masked.ts';
export { compileExpression } from './masks/python-regex.ts';
export { type EntropyRuleOptions, nameOfRule } from './masks/redact/compile-redact-rules.ts';
export { parseExact, stringifyExact } from './masks/redact/exact-json.ts';
export { FieldPolicies, type FieldPolicy, ruleOfPattern } from './masks/redact/field-policies.ts';
export { keyMatcher } from './masks/redact/key-patterns.ts';
export { maskJson, UNMASKABLE } from './masks/redact/mask-json.ts';
export { PieceMasker, type RedactedStream } from './masks/redact/piece-masker.ts';
export type { Confidence, RedactRule, RuleBlock, RuleCheck } from './masks/redact/redact-rule.ts';
export { Redactor } from './masks/redact/redactor.ts';
export { LEAST_HELD, MOST_HELD } from './masks/redact/stream-masker.ts';
export {
  ANY_OBJECT,
  argumentError,
  atLeast,
  BOOLEAN,
  type Check,
  type Checks,
  COUNT,
  COUNT_FROM_0,
  checkOptions,
  FUNCTION,
  hasMethods,
  kindOf,
  NOT_EMPTY,
  ONE_CHARACTER,
  STRINGS,
  TEXT,
  UNIT,
} from './support/check-options.ts';
export { LruMap } from './support/lru-map.ts';
