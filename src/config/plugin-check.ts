import type { Path } from '../checks/path.ts';
import type { Host } from '../sdk/context.ts';
import type { ConfigMistake, Plugin } from '../sdk/plugin.ts';
import type { MergedConfig } from './merged-config.ts';

const RESERVED_FIELDS = ['name', 'parent', 'loaded_plugin'];

/** What of a plugin the check calls; the plugin knows the type of its own configuration. */
type Check = (args: { config: unknown; host: Host | undefined }) => readonly ConfigMistake[];

/** Asks a plugin for mistakes that its schema cannot see; they go to the log. */
export function checkPlugin(
  plugin: Plugin,
  data: Readonly<Record<string, unknown>>,
  path: Path,
  config: MergedConfig,
  host: Host | undefined,
): void {
  for (const field of RESERVED_FIELDS.filter((name) => Object.hasOwn(data, name))) {
    const message = `the plugin has a field \`${field}\`, which is a property of every entry; rename it in the plugin`;
    config.add({ path: [...path, field], at: 'key', message });
  }
  try {
    const check = plugin.checkConfig?.bind(plugin) as Check | undefined;
    for (const mistake of check?.({ config: data, host }) ?? []) {
      config.add({ ...mistake, path: [...path, ...mistake.path], foreign: true });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    config.add({ path, message: `checkConfig of the plugin failed: ${reason}`, foreign: true });
  }
}
