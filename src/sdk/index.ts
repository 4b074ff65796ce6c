// Everything that a plugin may use: `millrace/plugin`. Built-in plugins import this and `operators/`, and nothing else.

export { isoNow, toUtc } from '../../operators/internal.ts';
export { type BatchDefaults, type BatchingDefaults, type BatchLimits, batching } from './batching.ts';
export type { AnalyticsConfig, PipelineConfig, PluginConfig, Route, RouteCondition } from './config.ts';
export {
  CollectConfigBase,
  ForwardConfigBase,
  type PluginConfigBase,
  ProcessConfigBase,
} from './config.ts';
export * from './context.ts';
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
export { type LineEnvelope, LineEvents, type LineTexts } from './line-events.ts';
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
export { hasExactNumber, jsonTokens, parseJson } from './parse-json.ts';
export { ParsedEvents, type ParsedFields } from './parsed-events.ts';
export type {
  BatchingDemand,
  CallId,
  CollectorTesting,
  CollectPlugin,
  CollectTraits,
  ConfigProblem,
  ConfigSchema,
  ConfigSchemaIssue,
  ExactOutput,
  ExactOutputEvents,
  ExampleEvent,
  ForwardPlugin,
  ForwardTraits,
  LineJoining,
  LineMapping,
  LinesTest,
  ManyLines,
  OutputMark,
  PartlyFailedCall,
  PipelineEntry,
  PipelinePlace,
  PipelineProblem,
  Plugin,
  PluginKind,
  ProcessPlugin,
  ProcessTraits,
  Redelivery,
  Returned,
  RowMapping,
  RowOutcomes,
  SourceText,
} from './plugin.ts';
export { oncePerContext } from './plugin.ts';
export { printableJson } from './printable.ts';
export { type Rows, WrittenEvents } from './rows.ts';
export { bytes, count, integer, MAX_COUNT, oneCharacter, path, seconds } from './schema-parts.ts';
export { type Secret, type SecretOptions, type SecretSource, secret } from './secret.ts';
export { serialise, toJson, toJsonLine } from './serialise.ts';
export { fileId, folderId, type WrittenFile } from './written-file.ts';
