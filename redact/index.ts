// Masks secrets inside a program: in strings, values and streams. It needs neither RxJS nor Node.js; `node.ts` needs Node.js.

export {
  type Confidence,
  type EntropyRuleOptions,
  ExpressionError,
  type KeyedRule,
  MaskError,
  type Masked,
  type RedactedStream,
  type RedactRule,
  type RuleBlock,
  type RuleCheck,
} from '../operators/internal-redact.ts';
export {
  createRedactor,
  type FieldPolicyOption,
  type RedactionReport,
  type Redactor,
  type RedactorOptions,
  type ReplaceAction,
} from './create-redactor.ts';
export { type RedactFetchOptions, redactFetch } from './fetch.ts';
export type { Unmaskable } from './mask-model-request.ts';
export { packNames, packRules } from './packs.ts';
export {
  createPseudonyms,
  type PseudonymCounts,
  type Pseudonyms,
  type PseudonymsOptions,
  type RestoredStream,
} from './pseudonyms.ts';
export { iterateRedacted, redactedTransform, type StreamOptions } from './streams.ts';
