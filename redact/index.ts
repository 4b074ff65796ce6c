// Masks secrets where they are made: strings, values and streams inside a program. It needs neither RxJS nor Node.js;
// `node.ts` has what does.

export { ExpressionError } from '../operators/masks/expression-error.ts';
export { MaskError } from '../operators/masks/mask-error.ts';
export type { Masked } from '../operators/masks/masked.ts';
export type { RedactedStream } from '../operators/masks/redact/piece-masker.ts';
export type {
  Confidence,
  EntropyRuleOptions,
  KeyedRule,
  RedactRule,
  RuleBlock,
  RuleCheck,
} from '../operators/masks/redact/redact.ts';
export {
  createRedactor,
  type RedactionReport,
  type Redactor,
  type RedactorOptions,
  type ReplaceAction,
} from './create-redactor.ts';
export { packNames, packRules } from './packs.ts';
export { iterateRedacted, redactedTransform, type StreamOptions } from './streams.ts';
