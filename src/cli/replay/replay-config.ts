import { rememberVariables, variablesOf } from '../../checks/shown-values.ts';
import type { AnalyticsConfig, PluginConfig } from '../../sdk/config.ts';
import type { CollectPlugin } from '../../sdk/plugin.ts';
import { ALL, type ReplayTarget } from './replay-targets.ts';

const COLLECTOR = 'dead_letters';

/** The configuration with one pipeline in it, which collects by `plugin` and forwards to the target. It runs once. */
export function replayConfig(
  config: AnalyticsConfig,
  name: string,
  { plugin, target }: { readonly plugin: CollectPlugin; readonly target: ReplayTarget },
): AnalyticsConfig {
  const pipeline = config.pipelines[name] as AnalyticsConfig['pipelines'][string];
  const forward = target === ALL ? pipeline.forward : [target];
  const replaced = { ...config };
  const entry = Object.defineProperties(
    { plugin: 'replay' },
    { name: { value: COLLECTOR }, parent: { value: replaced }, loaded_plugin: { value: plugin } },
  ) as unknown as PluginConfig<CollectPlugin>;
  rememberVariables(replaced, variablesOf(config));
  return Object.assign(replaced, {
    collectors: { [COLLECTOR]: Object.freeze(entry) },
    pipelines: { [name]: { ...pipeline, collect: [COLLECTOR], forward, restart: false } },
  });
}
