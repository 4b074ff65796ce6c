import { isDeepStrictEqual } from 'node:util';
import { jsonSchemaOf } from '../sdk/checks/apply-schema.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import { shownSettings, withReferences } from '../sdk/checks/shown-values.ts';
import type { PluginConfig } from '../sdk/config.ts';

/** What may be shown of an entry: no secrets, and no values of environment variables. */
interface ShownEntry {
  readonly plugin: string;
  /** Without those that are as the schema has them by default. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** @param written the entry with references where values of environment variables would stand */
export function shownEntry(entry: PluginConfig, written: unknown): ShownEntry {
  const shown = withReferences(entry, written);
  const values: Readonly<Record<string, unknown>> = isMapping(shown) ? shown : {};
  const properties = jsonSchemaOf(entry.loaded_plugin.get_config_schema())?.properties;
  const isDefault = (key: string) => {
    const property = isMapping(properties) ? properties[key] : undefined;
    return isMapping(property) && isDeepStrictEqual(property.default, values[key]);
  };
  const shownKeys = shownSettings(entry.loaded_plugin, values);
  const settings = Object.entries(values).filter(([key]) => shownKeys.has(key) && !isDefault(key));
  return {
    plugin: String(values.plugin),
    settings: Object.fromEntries(settings.map(([key, value]) => [key, namesOf(value)])),
  };
}

/** Of a mapping only the names: the expressions of rules may be secret. Ranges of numbers stay. */
function namesOf(value: unknown): unknown {
  if (!isMapping(value)) return value;
  return Object.values(value).every((inner) => typeof inner === 'number') ? value : Object.keys(value);
}
