import { isDeepStrictEqual } from 'node:util';
import { jsonSchemaOf } from '../checks/known-keys.ts';
import { isMapping } from '../checks/path.ts';
import type { PluginConfig } from '../models/index.ts';

/** An entry's settings without `plugin` and without those that are as its schema has them by default. */
export function chosenSettings(entry: PluginConfig): Record<string, unknown> {
  const { plugin: _, ...settings } = entry;
  const properties = jsonSchemaOf(entry.loaded_plugin.get_config_schema())?.properties;
  const isDefault = (key: string, value: unknown) => {
    const property = isMapping(properties) ? properties[key] : undefined;
    return isMapping(property) && isDeepStrictEqual(property.default, value);
  };
  return Object.fromEntries(Object.entries(settings).filter(([key, value]) => !isDefault(key, value)));
}
