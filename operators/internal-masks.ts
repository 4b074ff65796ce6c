// What millrace shares with its masks, and its users do not see: see `internal.ts`.

// Expressions: what they can match, and how long that may take.

export type { Ambiguity } from './masks/expression/ambiguity.ts';
export { ambiguityOf, costOf } from './masks/expression/cost.ts';
export { shareOfText } from './masks/expression/frequency.ts';
export { type LinearEngine, lazily, mayBeSlow } from './masks/expression/linear-engine.ts';
export { firstBeyondSpace, firstUnits, lengthOf } from './masks/expression/measure.ts';
export { neededCharacter, neededPart } from './masks/expression/needed-part.ts';
export { type Pattern, parseExpression } from './masks/expression/pattern.ts';
export { mayCrossStrings, mayTake } from './masks/expression/taken-units.ts';
export type { UnitSet } from './masks/expression/unit-set.ts';

// Rules.

export { CHECKS } from './masks/checks/index.ts';
export { crc32Base62 } from './masks/checks/tokens.ts';
export { compileMaskRules } from './masks/compile-mask-rules.ts';
export { entropyMasks } from './masks/entropy-mask.ts';
export { KeyNames } from './masks/keyed/key-names.ts';
export { betweenOf, compileGuard, compileNotation } from './masks/keyed/keyed-finder.ts';
export { readerNamed, VALUE_READERS } from './masks/keyed/value-readers.ts';
export {
  compileRedactRules,
  knownExpressions,
  nameOfRule,
  OTHER_RULES,
} from './masks/redact/compile-redact-rules.ts';
export { jsonKeeperOf, regexMaskRules } from './masks/regex-mask-rules.ts';

// Masking: strings, lines and JSON.

export { HeldCounts, keepingJson } from './masks/json-lines.ts';
export { type LinesMasker, LONGEST_LINE, LONGEST_TEXT, type Masks } from './masks/lines-masker.ts';
export { maskerOf } from './masks/mask-strings.ts';
export type { Finding } from './masks/redact/find-values.ts';
export { Redactor } from './masks/redact/redactor.ts';
export { maskOfTexts, type RowMask } from './masks/row-mask.ts';
export { RowsMasker } from './masks/rows-masker.ts';
