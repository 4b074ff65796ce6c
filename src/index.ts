export { ConfigError, type LocatedMistake } from './config/config-error.ts';
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from './config/load-config.ts';
export { type ParseConfigOptions, parseConfig } from './config/parse-config.ts';
export { type PluginOf, registerPlugin, unregisterPlugin } from './config/registry.ts';
export { Manager, type ManagerOptions } from './engine/manager.ts';
export type { PipelineProbe, StagePlace } from './engine/probe.ts';
export type { AnalyticsConfig, PluginConfig } from './sdk/analytics-config.ts';
export {
  type BatchDefaults,
  type BatchingDefaults,
  type BatchLimits,
  batching,
} from './sdk/batching.ts';
export { isoNow } from './sdk/clock.ts';
export {
  type CollectorDefinition,
  type ConfigOf,
  defineCollector,
  defineForwarder,
  defineProcessor,
  type ForwarderDefinition,
  type PluginContext,
  type ProcessorDefinition,
} from './sdk/define-plugin.ts';
export {
  type FailedEvent,
  isPermanent,
  MillraceError,
  PluginError,
  type PluginErrorOptions,
  safeReason,
} from './sdk/errors.ts';
export { EventBatch, type EventOrigin, type Outcome } from './sdk/event-batch.ts';
export {
  type BeaconCollectedEvent,
  type CollectedEvent,
  type CollectedLineEvent,
  collectedEvent,
  type HostEvent,
} from './sdk/events.ts';
export type { ExactOutput, ExactOutputEvents, OutputMark } from './sdk/exact-output.ts';
export * from './sdk/host.ts';
export { isEvent } from './sdk/is-event.ts';
export * from './sdk/logger.ts';
export type { PipelineConfig } from './sdk/pipeline-config.ts';
export * from './sdk/plugin.ts';
export * from './sdk/plugin-config.ts';
export * from './sdk/run-context.ts';
export { serialise } from './sdk/serialise.ts';
export { toUtc } from './sdk/stamp.ts';
export * from './sdk/status.ts';
export type { WrittenFile } from './sdk/written-file.ts';
export { openState, readState } from './state/open-state.ts';
export type { StateStore } from './state/state-store.ts';
