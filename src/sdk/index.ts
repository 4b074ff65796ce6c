// Everything that a plugin may use: `millrace/plugin`. Built-in plugins import this and `operators/`, and nothing else.

export {
  type CollectorDefinition,
  type ConfigOf,
  defineCollector,
  defineForwarder,
  defineProcessor,
  type ForwarderDefinition,
  type PluginContext,
  type ProcessorDefinition,
} from '../define-plugin.ts';
export {
  type FailedEvent,
  isFatal,
  isPermanent,
  MillraceError,
  PluginError,
  type PluginErrorOptions,
  safeReason,
} from '../errors.ts';
export type { AnalyticsConfig, PluginConfig } from '../models/analytics-config.ts';
export {
  type BatchDefaults,
  type BatchingDefaults,
  type BatchLimits,
  batching,
} from '../models/batching.ts';
export { isoNow } from '../models/clock.ts';
export { EventBatch, type EventOrigin, type Outcome } from '../models/event-batch.ts';
export {
  type BeaconCollectedEvent,
  type CollectedEvent,
  type CollectedLineEvent,
  collectedEvent,
  type HostEvent,
} from '../models/events.ts';
export type { ExactOutput, ExactOutputEvents, OutputMark } from '../models/exact-output.ts';
export * from '../models/host.ts';
export { isEvent } from '../models/is-event.ts';
export { type LineEnvelope, LineEvents, type LineTexts } from '../models/line-events.ts';
export * from '../models/logger.ts';
export { nearest } from '../models/nearest.ts';
export type { PipelineConfig } from '../models/pipeline-config.ts';
export * from '../models/plugin.ts';
export * from '../models/plugin-config.ts';
export { printableJson } from '../models/printable.ts';
export * from '../models/run-context.ts';
export { count, integer, MAX_COUNT, oneCharacter, path } from '../models/scalars.ts';
export { serialise, toJson, toJsonLine } from '../models/serialise.ts';
export { toUtc } from '../models/stamp.ts';
export { fileId, folderId, type WrittenFile } from '../models/written-file.ts';
