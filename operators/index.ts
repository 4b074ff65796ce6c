// Operators and creation functions that run wherever RxJS does, including browsers. `node.ts` has the others.

// Masks: they remove secrets from strings and events.

export { DEFAULT_ALPHABET, entropyIndex } from './masks/entropy-index.ts';
export {
  type EntropyMaskOptions,
  entropyMask,
  entropyMasker,
} from './masks/entropy-mask.ts';
export { ExpressionError } from './masks/expression-error.ts';
export { MaskError } from './masks/mask-error.ts';
export { type Masker, type MaskText, maskEvent, maskStrings } from './masks/mask-strings.ts';
export type { Masked } from './masks/masked.ts';
export { compileExpression } from './masks/python-regex.ts';
export type { RedactedStream } from './masks/redact/piece-masker.ts';
export {
  type PseudonymOptions,
  type PseudonymTable,
  pseudonyms,
  type RestorePseudonymsOptions,
  restorePseudonyms,
} from './masks/redact/pseudonyms.ts';
export {
  type Confidence,
  type DecodeLayers,
  type EntropyRuleOptions,
  type Guard,
  type KeyedRule,
  type KeyName,
  type Notation,
  type RedactOptions,
  type RedactRule,
  type RuleBlock,
  type RuleCheck,
  redact,
  redactor,
  type Vocabulary,
} from './masks/redact/redact.ts';
export { redactJson } from './masks/redact/redact-json.ts';
export { type RedactStreamOptions, redactStream } from './masks/redact/redact-stream.ts';
export { loadPlannedSearch, type RegexMaskOptions, regexMask, regexMasker } from './masks/regex-mask.ts';
export type { ReplacementOptions } from './masks/replacement.ts';

// Mapping: several values at a time and in order, all waiting values together, one event into several.

export { type ChildEventsOptions, childEvents, type ParentEvent, withChildren } from './child-events.ts';
export { type GatherMapOptions, gatherMap } from './gather-map.ts';
export { type OrderedMapOptions, orderedMap } from './ordered-map.ts';

// Reduction: batches, buffers, duplicates, rate limits and samples.

export { type BatchOptions, batchBy } from './batch-by.ts';
export { type BufferUntilIdleOptions, bufferUntilIdle } from './buffer-until-idle.ts';
export { type DedupeOptions, dedupe } from './dedupe.ts';
export { type RateLimitOptions, rateLimit } from './rate-limit.ts';
export { type SampleFirstOptions, sampleFirst } from './sample-first.ts';
export { type SampleRateOptions, sampleRate } from './sample-rate.ts';

// Demand: sources that wait for their consumers.

export {
  type EventEmitterLike,
  type FromEventEmitterOptions,
  fromEventEmitter,
} from './from-event-emitter.ts';
export { type InFlightOptions, inFlight } from './in-flight.ts';
export { InFlightWindow } from './in-flight-window.ts';
export { type PullOptions, pullFrom } from './pull-from.ts';
export type { Demand } from './support/demand.ts';

// Time: delays, polling, restarts.

export { type Backoff, backoffDelay } from './backoff.ts';
export { type CircuitBreakerOptions, CircuitOpenError, circuitBreaker } from './circuit-breaker.ts';
export { type DelayBounds, type DelayRangeOptions, delayRange, type RandomOptions } from './delay-range.ts';
export { longTimer } from './long-timer.ts';
export { type PollOptions, poll } from './poll.ts';
export { type RestartObserver, type RestartPolicy, restartWithBackoff } from './restart-with-backoff.ts';
export { type RetryPolicy, retryWithBackoff } from './retry-with-backoff.ts';
export { untilAborted } from './until-aborted.ts';
