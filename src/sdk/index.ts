// Everything that a plugin may use: `millrace/plugin`. Built-in plugins import this and `operators/`, and nothing else.

export { isoNow, toUtc } from '../../operators/internal.ts';
export { type BatchDefaults, type BatchingDefaults, type BatchLimits, batching } from './batching.ts';
export type { BatchingDemand, CollectorTesting, Redelivery, SourceText } from './collector-testing.ts';
export type { AnalyticsConfig, PipelineConfig, PluginConfig, Route, RouteCondition } from './config.ts';
export {
  CollectConfigBase,
  ForwardConfigBase,
  type PluginConfigBase,
  ProcessConfigBase,
} from './config.ts';
export type {
  ConfigProblem,
  ConfigSchema,
  ConfigSchemaIssue,
  PipelineEntry,
  PipelinePlace,
  PipelineProblem,
} from './config-check.ts';
export * from './context.ts';
export type {
  CollectPlugin,
  ExampleEvent,
  ForwardPlugin,
  Plugin,
  PluginKind,
  ProcessPlugin,
  Returned,
} from './contract.ts';
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
export type { ErrorCode } from './error-table.ts';
export {
  type FailedEvent,
  isFatal,
  isPermanent,
  MillraceError,
  PluginError,
  type PluginErrorOptions,
  safeReason,
} from './errors.ts';
export { EventBatch, type EventOrigin, isEvent, type Outcome } from './event-batch.ts';
export {
  type BeaconCollectedEvent,
  type CollectedEvent,
  type CollectedLineEvent,
  collectedEvent,
  type HostEvent,
} from './events.ts';
export type { ExactOutput, ExactOutputEvents, OutputMark } from './exact-output.ts';
export type { CallId, EventIds, PartlyFailedCall } from './forward-call.ts';
export { type LineEnvelope, LineEvents, type LineTexts } from './line-events.ts';
export type { LineJoining } from './line-joining.ts';
export type { LineMapping, LinesTest, ManyLines } from './line-mapping.ts';
export { isLoopback, type ListenAddress, parseListenAddress } from './listen-address.ts';
export { mapFields } from './map-fields.ts';
export type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  HistogramOptions,
  MetricLabels,
  MetricOptions,
  PluginMetrics,
} from './metrics.ts';
export { nearest } from './nearest.ts';
export { oncePerContext } from './once-per-context.ts';
export { hasExactNumber, jsonTokens, parseJson } from './parse-json.ts';
export { ParsedEvents, type ParsedFields, type RowMapping, type RowOutcomes } from './parsed-events.ts';
export { printableJson } from './printable.ts';
export { type Rows, WrittenEvents } from './rows.ts';
export {
  bytes,
  configFolder,
  count,
  integer,
  listenAddress,
  MAX_COUNT,
  oneCharacter,
  path,
  seconds,
} from './schema-parts.ts';
export { type Secret, type SecretOptions, type SecretSource, secret } from './secret.ts';
export { serialise, toJson, toJsonLine } from './serialise.ts';
export type { CollectTraits, ForwardTraits, ProcessTraits } from './traits.ts';
export { WrittenFields } from './written-fields.ts';
export { fileId, folderId, type WrittenFile } from './written-file.ts';
