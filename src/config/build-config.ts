import { isMapping } from '../checks/problem.ts';
import type { AdminConfig, AnalyticsConfig, PipelineConfig } from '../sdk/config.ts';
import type { Plugin, PluginKind } from '../sdk/plugin.ts';

/** A plugin entry that passed its schema. */
export interface ValidEntry {
  readonly plugin: Plugin;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The parts of a valid configuration, by name. */
export interface ConfigParts {
  readonly entries: Readonly<Record<PluginKind, ReadonlyMap<string, ValidEntry>>>;
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

/**
 * A deeply frozen copy of plain objects and arrays; other values, such as functions, are taken as they are.
 * Copying leaves an embedding program's own objects unfrozen.
 */
export function frozenCopy<T>(value: T): T {
  return copy(value, new Map()) as T;
}

function copy(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    seen.set(value, items);
    for (const item of value) items.push(copy(item, seen));
    return Object.freeze(items);
  }
  if (!isPlain(value)) return value;
  const target = {};
  seen.set(value, target);
  for (const [key, item] of Object.entries(value)) {
    // Not an assignment, which would set the prototype for the key `__proto__`.
    Object.defineProperty(target, key, { value: copy(item, seen), enumerable: true });
  }
  return Object.freeze(target);
}

function isPlain(value: object): boolean {
  if (!isMapping(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
