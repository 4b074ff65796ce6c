import { refuseArgument } from '../sdk/checks/arguments.ts';
import { either } from '../sdk/checks/describe.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { CollectPlugin, ForwardPlugin, PluginKind, ProcessPlugin } from '../sdk/plugin.ts';
import { contractProblem, isPlugin } from '../sdk/plugin.ts';

/** The plugins of a kind. */
export interface PluginOf {
  collect: CollectPlugin;
  process: ProcessPlugin;
  forward: ForwardPlugin;
}

/**
 * The modules of the built-in plugins. Each has the plugin's members as exports, or the plugin as its default export. A
 * configuration loads those that it names, so that a start does not pay for the others and what they import.
 */
const builtinModules: Readonly<Record<PluginKind, Readonly<Record<string, () => Promise<object>>>>> = {
  collect: {
    beacons: () => import('../../plugins/collect/beacons.ts'),
    file: () => import('../../plugins/collect/file.ts'),
    stdin: () => import('../../plugins/collect/stdin.ts'),
    test: () => import('../../plugins/collect/test.ts'),
    host_exec: () => import('../../plugins/collect/host_exec.ts'),
    exec: () => import('../../plugins/collect/exec.ts'),
    journald: () => import('../../plugins/collect/journald.ts'),
    kafka: () => import('../../plugins/collect/kafka.ts'),
    nats: () => import('../../plugins/collect/nats.ts'),
    http: () => import('../../plugins/collect/http.ts'),
    syslog: () => import('../../plugins/collect/syslog.ts'),
    otlp: () => import('../../plugins/collect/otlp.ts'),
  },
  process: {
    test: () => import('../../plugins/process/test.ts'),
    redact: () => import('../../plugins/process/redact.ts'),
    regex_mask: () => import('../../plugins/process/regex_mask.ts'),
    entropy_mask: () => import('../../plugins/process/entropy_mask.ts'),
    filter: () => import('../../plugins/process/filter.ts'),
    multiline: () => import('../../plugins/process/multiline.ts'),
    map: () => import('../../plugins/process/map.ts'),
    parse: () => import('../../plugins/process/parse.ts'),
  },
  forward: {
    datadog: () => import('../../plugins/forward/datadog.ts'),
    disk: () => import('../../plugins/forward/disk.ts'),
    elasticsearch: () => import('../../plugins/forward/elasticsearch.ts'),
    http: () => import('../../plugins/forward/http.ts'),
    loki: () => import('../../plugins/forward/loki.ts'),
    kafka: () => import('../../plugins/forward/kafka.ts'),
    nats: () => import('../../plugins/forward/nats.ts'),
    noop: () => import('../../plugins/forward/noop.ts'),
    otlp: () => import('../../plugins/forward/otlp.ts'),
    s3: () => import('../../plugins/forward/s3.ts'),
    splunk_hec: () => import('../../plugins/forward/splunk_hec.ts'),
    stdout: () => import('../../plugins/forward/stdout.ts'),
    syslog: () => import('../../plugins/forward/syslog.ts'),
    test: () => import('../../plugins/forward/test.ts'),
  },
};

type Table = { readonly [K in PluginKind]: Map<string, PluginOf[K]> };
const emptyTable = (): Table => ({ collect: new Map(), process: new Map(), forward: new Map() });

/** The built-in plugins that were loaded. */
const loaded = emptyTable();
const registered = emptyTable();

/** The built-in plugins of a kind, by name, all of them loaded. */
export async function builtinPlugins<K extends PluginKind>(
  kind: K,
): Promise<ReadonlyMap<string, PluginOf[K]>> {
  const plugins = new Map<string, PluginOf[K]>();
  // One after the other: Jest cannot load two modules at a time that import the same one.
  for (const name of Object.keys(builtinModules[kind])) {
    plugins.set(name, (await loadPlugin(kind, name)) as PluginOf[K]);
  }
  return plugins;
}

/** A plugin by name: a built-in one, which is loaded, else one that the program registered. */
export async function loadPlugin<K extends PluginKind>(
  kind: K,
  name: string,
): Promise<PluginOf[K] | undefined> {
  const known = findPlugin(kind, name);
  if (known !== undefined || !isBuiltin(kind, name)) return known;
  const module = (await builtinModules[kind][name]?.()) as { readonly default?: unknown };
  const plugin = [module, module.default].find((candidate) => isPlugin(kind, candidate));
  loaded[kind].set(name, plugin as PluginOf[K]);
  return plugin as PluginOf[K];
}

/** A plugin by name: a built-in one that was loaded before, else one that the program registered. */
export function findPlugin<K extends PluginKind>(kind: K, name: string): PluginOf[K] | undefined {
  return loaded[kind].get(name) ?? registered[kind].get(name);
}

/** Whether a plugin is a built-in one. */
export function isBuiltinPlugin<K extends PluginKind>(kind: K, plugin: PluginOf[K]): boolean {
  return [...loaded[kind].values()].includes(plugin);
}

function isBuiltin(kind: PluginKind, name: string): boolean {
  return Object.hasOwn(builtinModules[kind], name);
}

/** The names that {@link loadPlugin} knows. */
export function pluginNames(kind: PluginKind): string[] {
  return [...Object.keys(builtinModules[kind]), ...registered[kind].keys()];
}

/**
 * Makes a program's own plugin known to configurations under a name.
 *
 * @throws MillraceError `MILLRACE_PLUGIN_NAME` if the name is taken, `MILLRACE_PLUGIN_CONTRACT` if the value
 * lacks a function that its kind must have, `MILLRACE_ARGUMENT` for another kind or a name that is not a string.
 * @example
 * const shout = ({ event }) => ({ ...event, data: { text: event.data.text.toUpperCase() } });
 * registerPlugin('process', 'shout', { get_config_schema: () => ProcessConfigBase, process: shout });
 * (await loadPlugin('process', 'shout')).process; // shout
 */
export function registerPlugin<K extends PluginKind>(kind: K, name: string, plugin: PluginOf[K]): void {
  if (!Object.hasOwn(builtinModules, kind)) {
    refuseArgument(
      'registerPlugin',
      kind,
      `a kind of plugin: ${either(Object.keys(builtinModules).map((known) => `'${known}'`))}`,
    );
  }
  if (typeof name !== 'string') refuseArgument('registerPlugin', name, 'the name of the plugin');
  if (name === '')
    throw new MillraceError('MILLRACE_PLUGIN_NAME', 'a plugin needs a name; found an empty string');
  if (isBuiltin(kind, name) || registered[kind].has(name)) {
    const owner = isBuiltin(kind, name) ? 'a built-in plugin has that name' : 'it is registered already';
    const message = `cannot register the ${kind} plugin \`${name}\`: ${owner}; choose another name`;
    throw new MillraceError('MILLRACE_PLUGIN_NAME', message);
  }
  const problem = contractProblem(kind, plugin);
  if (problem !== undefined) {
    const message = `cannot register the ${kind} plugin \`${name}\`: ${problem}`;
    throw new MillraceError('MILLRACE_PLUGIN_CONTRACT', message);
  }
  registered[kind].set(name, plugin);
}

/**
 * Takes back {@link registerPlugin}; false if no such plugin was registered. Built-in ones stay.
 *
 * @example
 * unregisterPlugin('process', 'regex_mask'); // false
 */
export function unregisterPlugin(kind: PluginKind, name: string): boolean {
  return registered[kind].delete(name);
}

/** The kinds in which a name is a plugin. */
export function kindsOf(name: string): PluginKind[] {
  const kinds = Object.keys(builtinModules) as PluginKind[];
  return kinds.filter((kind) => isBuiltin(kind, name) || registered[kind].has(name));
}
