import type { AnalyticsConfig, PluginConfig } from '../sdk/config.ts';
import type { Plugin } from '../sdk/plugin.ts';

type Entries<P extends Plugin> = Readonly<Record<string, PluginConfig<P>>>;

/** The entries with other plugins behind the same settings; `replace` returns undefined to keep one. */
export function replacePlugins<P extends Plugin>(
  entries: Entries<P>,
  replace: (entry: PluginConfig<P>) => P | undefined,
): Record<string, PluginConfig<P>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      const plugin = replace(entry);
      return [name, plugin === undefined ? entry : withPlugin(entry, plugin)];
    }),
  );
}

function withPlugin<P extends Plugin>(entry: PluginConfig<P>, plugin: P): PluginConfig<P> {
  const copy = Object.defineProperties(
    { ...entry },
    {
      name: { value: entry.name },
      parent: { value: entry.parent },
      loaded_plugin: { value: plugin },
    },
  );
  return Object.freeze(copy);
}

/** Whether a configuration has been parsed already: its entries know their plugins. */
export function isParsed(config: object): config is AnalyticsConfig {
  const { collectors } = config as Partial<AnalyticsConfig>;
  return Object.values(collectors ?? {}).some((entry) => entry?.loaded_plugin !== undefined);
}
