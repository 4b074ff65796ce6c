import type { AdminConfig, AnalyticsConfig, PipelineConfig } from '../sdk/config.ts';
import { frozenCopy } from '../sdk/freeze.ts';
import type { Plugin, PluginKind } from '../sdk/plugin.ts';
import type { PluginOf } from './registry.ts';

/** An entry that passed the schema of its plugin. */
export interface ValidEntry<P extends Plugin = Plugin> {
  readonly plugin: P;
  readonly data: Readonly<Record<string, unknown>>;
  /** The data with references where it has values of environment variables; the same object if it has none. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** The entries of each kind that passed their schemas. */
export type ValidEntries = {
  readonly [K in PluginKind]: ReadonlyMap<string, ValidEntry<PluginOf[K]>>;
};

interface ConfigParts {
  readonly entries: ValidEntries;
  readonly pipelines: ReadonlyMap<string, PipelineConfig>;
  readonly host_config: Readonly<Record<string, unknown>>;
  readonly admin?: AdminConfig | undefined;
}

/** Joins the parts to a frozen configuration whose entries know their name, parent and plugin. */
export function buildConfig(parts: ConfigParts): AnalyticsConfig {
  const config: Record<string, unknown> = {};
  const section = (kind: PluginKind) =>
    Object.freeze(
      Object.fromEntries(
        [...parts.entries[kind]].map(([name, { plugin, data }]) => [
          name,
          attach(data, name, config, plugin),
        ]),
      ),
    );
  config.collectors = section('collect');
  config.processors = section('process');
  config.forwarders = section('forward');
  config.pipelines = frozenCopy(Object.fromEntries(parts.pipelines));
  config.host_config = frozenCopy(parts.host_config);
  if (parts.admin !== undefined) config.admin = frozenCopy(parts.admin);
  return Object.freeze(config) as unknown as AnalyticsConfig;
}

function attach(data: ValidEntry['data'], name: string, parent: object, plugin: Plugin): object {
  const entry = { ...frozenCopy(data) };
  // Neither enumerable nor writable: not printed, not serialised, not changed.
  Object.defineProperties(entry, {
    name: { value: name },
    parent: { value: parent },
    loaded_plugin: { value: plugin },
  });
  return Object.freeze(entry);
}
