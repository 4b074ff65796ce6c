import { nodeVersionProblem } from './node-version.ts';
import { MillraceError } from './sdk/errors.ts';

export { packNames } from '../plugins/packs/load-packs.ts';
export { packRules } from '../plugins/packs/pack-rules.ts';
export { ConfigError, type LocatedProblem } from './config/config-error.ts';
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from './config/load-config.ts';
export { type ParseConfigOptions, parseConfig } from './config/parse-config.ts';
export { type PluginOf, registerPlugin, unregisterPlugin } from './config/registry.ts';
export { Manager, type ManagerOptions } from './engine/manager.ts';
export type { PipelineObserver, StagePlace } from './engine/observer.ts';
export { type BatchDefaults, type BatchingDefaults, type BatchLimits, batching } from './sdk/batching.ts';
export type { AnalyticsConfig, PipelineConfig, PluginConfig } from './sdk/config.ts';
export {
  CollectConfigBase,
  ForwardConfigBase,
  type PluginConfigBase,
  ProcessConfigBase,
} from './sdk/config.ts';
export * from './sdk/context.ts';
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
export type { ErrorCode } from './sdk/error-table.ts';
export {
  type FailedEvent,
  isPermanent,
  MillraceError,
  PluginError,
  type PluginErrorOptions,
  safeReason,
} from './sdk/errors.ts';
export { EventBatch, type EventOrigin, isEvent, type Outcome } from './sdk/event-batch.ts';
export {
  type BeaconCollectedEvent,
  type CollectedEvent,
  type CollectedLineEvent,
  collectedEvent,
  type HostEvent,
} from './sdk/events.ts';
export { isoNow, toUtc } from './sdk/index.ts';
export type {
  CollectPlugin,
  ConfigProblem,
  ConfigSchema,
  ConfigSchemaIssue,
  ExactOutput,
  ExactOutputEvents,
  ForwardPlugin,
  LineMapping,
  LinesTest,
  ManyLines,
  OutputMark,
  Plugin,
  PluginKind,
  ProcessPlugin,
  Returned,
} from './sdk/plugin.ts';
export { serialise } from './sdk/serialise.ts';
export type * from './sdk/status.ts';
export type { WrittenFile } from './sdk/written-file.ts';
export { openState, readState } from './state/open-state.ts';
export type { StateStore } from './state/state-store.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined)
  throw new MillraceError('MILLRACE_NODE_VERSION', `millrace cannot be loaded: ${problem}`);
