export { ConfigError, type LocatedMistake } from './config/config-error.ts';
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from './config/load-config.ts';
export { type ParseConfigOptions, parseConfig } from './config/parse-config.ts';
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
export type { PipelineProbe, StagePlace } from './delivery/probe.ts';
export {
  type FailedEvent,
  isPermanent,
  MillraceError,
  PluginError,
  type PluginErrorOptions,
  safeReason,
} from './errors.ts';
export { Manager, type ManagerOptions } from './manager.ts';
export type { AnalyticsConfig, PluginConfig } from './models/analytics-config.ts';
export {
  type BatchDefaults,
  type BatchingDefaults,
  type BatchLimits,
  batching,
} from './models/batching.ts';
export { isoNow } from './models/clock.ts';
export { EventBatch, type EventOrigin, type Outcome } from './models/event-batch.ts';
export {
  type BeaconCollectedEvent,
  type CollectedEvent,
  type CollectedLineEvent,
  collectedEvent,
  type HostEvent,
} from './models/events.ts';
export type { ExactOutput, ExactOutputEvents, OutputMark } from './models/exact-output.ts';
export * from './models/host.ts';
export { isEvent } from './models/is-event.ts';
export * from './models/logger.ts';
export type { PipelineConfig } from './models/pipeline-config.ts';
export * from './models/plugin.ts';
export * from './models/plugin-config.ts';
export * from './models/run-context.ts';
export { serialise } from './models/serialise.ts';
export { toUtc } from './models/stamp.ts';
export * from './models/status.ts';
export type { WrittenFile } from './models/written-file.ts';
export { type PluginOf, registerPlugin, unregisterPlugin } from './registry.ts';
export { openState, readState } from './state/open-state.ts';
export type { StateStore } from './state/state-store.ts';
