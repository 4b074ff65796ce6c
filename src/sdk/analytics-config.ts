import * as z from 'zod';
import { PipelineConfig } from './pipeline-config.ts';
import type { CollectPlugin, ForwardPlugin, Plugin, ProcessPlugin } from './plugin.ts';
import { CollectConfigBase, ForwardConfigBase, ProcessConfigBase } from './plugin-config.ts';
import { testDefinition } from './tests-config.ts';

const named = <T extends z.ZodType>(entry: T) => z.record(z.string(), entry);

/**
 * Specification 2.1, before the plugins' own schemas are applied: entries are checked against their base only.
 * `parseConfig` and `loadConfig` apply the plugins' schemas and `_validate_pipelines`.
 */
export const AnalyticsConfigShape = z.strictObject({
  collectors: named(CollectConfigBase.loose()),
  processors: named(ProcessConfigBase.loose()).optional(),
  forwarders: named(ForwardConfigBase.loose()),
  pipelines: named(PipelineConfig),
  host_config: z.record(z.string(), z.unknown()),
  tests: named(z.lazy(testDefinition)).optional(),
});

/** A plugin's configuration inside a whole one: frozen, with read-only properties that are not enumerable. */
export type PluginConfig<P extends Plugin = Plugin> = Readonly<{ plugin: string }> & {
  /** The entry's name in the configuration. */
  readonly name: string;
  readonly parent: AnalyticsConfig;
  readonly loaded_plugin: P;
};

/** The whole configuration, validated and deeply frozen. */
export interface AnalyticsConfig {
  readonly collectors: Readonly<Record<string, PluginConfig<CollectPlugin>>>;
  readonly processors: Readonly<Record<string, PluginConfig<ProcessPlugin>>>;
  readonly forwarders: Readonly<Record<string, PluginConfig<ForwardPlugin>>>;
  readonly pipelines: Readonly<Record<string, PipelineConfig>>;
  readonly host_config: Readonly<Record<string, unknown>>;
}
