import { builtinPlugins } from '../../src/config/registry.ts';
import type { Plugin, PluginKind } from '../../src/sdk/plugin.ts';

interface BuiltinPlugin {
  readonly kind: PluginKind;
  readonly name: string;
  readonly plugin: Plugin;
}

/** All built-in plugins. */
export async function allBuiltinPlugins(): Promise<BuiltinPlugin[]> {
  const all: BuiltinPlugin[] = [];
  for (const kind of ['collect', 'process', 'forward'] as const) {
    for (const [name, plugin] of await builtinPlugins(kind)) all.push({ kind, name, plugin });
  }
  return all;
}
