// Everything that a plugin may use: `millrace/plugin`. Built-in plugins import this and `operators/`, and nothing else.

export type { AnalyticsConfig, PluginConfig } from './analytics-config.ts';
export {
  type BatchDefaults,
  type BatchingDefaults,
  type BatchLimits,
  batching,
} from './batching.ts';
export { isoNow } from './clock.ts';
export {
  type CollectorDefinition,
  type ConfigOf,
  defineCollector,
  defineForwarder,
  defineProcessor,
  type ForwarderDefinition,
  type PluginContext,
  type ProcessorDefinition,
} from './define-plugin.ts';
export {
  type FailedEvent,
  isFatal,
  isPermanent,
  MillraceError,
  PluginError,
  type PluginErrorOptions,
  safeReason,
} from './errors.ts';
export { EventBatch, type EventOrigin, type Outcome } from './event-batch.ts';
export {
  type BeaconCollectedEvent,
  type CollectedEvent,
  type CollectedLineEvent,
  collectedEvent,
  type HostEvent,
} from './events.ts';
export type { ExactOutput, ExactOutputEvents, OutputMark } from './exact-output.ts';
export * from './host.ts';
export { isEvent } from './is-event.ts';
export { type LineEnvelope, LineEvents, type LineTexts } from './line-events.ts';
export * from './logger.ts';
export { nearest } from './nearest.ts';
export type { PipelineConfig } from './pipeline-config.ts';
export * from './plugin.ts';
export * from './plugin-config.ts';
export { printableJson } from './printable.ts';
export * from './run-context.ts';
export { count, integer, MAX_COUNT, oneCharacter, path } from './scalars.ts';
export { serialise, toJson, toJsonLine } from './serialise.ts';
export { toUtc } from './stamp.ts';
export { fileId, folderId, type WrittenFile } from './written-file.ts';
