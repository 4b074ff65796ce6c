import type { AnalyticsConfig, CollectPlugin, PluginConfig } from '../../models/index.ts';

const COLLECTOR = 'dead_letters';

/** The configuration with one pipeline in it, whose collectors are replaced by `plugin`. It runs once. */
export function replayConfig(config: AnalyticsConfig, name: string, plugin: CollectPlugin): AnalyticsConfig {
  const pipeline = config.pipelines[name] as AnalyticsConfig['pipelines'][string];
  const replaced = { ...config };
  const entry = Object.defineProperties(
    { plugin: 'replay' },
    { name: { value: COLLECTOR }, parent: { value: replaced }, loaded_plugin: { value: plugin } },
  ) as unknown as PluginConfig<CollectPlugin>;
  return Object.assign(replaced, {
    collectors: { [COLLECTOR]: Object.freeze(entry) },
    pipelines: { [name]: { ...pipeline, collect: [COLLECTOR], restart: false } },
  });
}
