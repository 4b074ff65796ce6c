import * as beacons from '../../plugins/collect/beacons.ts';
import * as file from '../../plugins/collect/file.ts';
import * as host_exec from '../../plugins/collect/host_exec.ts';
import stdin from '../../plugins/collect/stdin.ts';
import * as test_collect from '../../plugins/collect/test.ts';
import * as disk from '../../plugins/forward/disk.ts';
import * as noop from '../../plugins/forward/noop.ts';
import * as stdout from '../../plugins/forward/stdout.ts';
import * as test_forward from '../../plugins/forward/test.ts';
import * as entropy_mask from '../../plugins/process/entropy_mask.ts';
import filter from '../../plugins/process/filter.ts';
import map from '../../plugins/process/map.ts';
import parse from '../../plugins/process/parse.ts';
import * as redact from '../../plugins/process/redact.ts';
import * as regex_mask from '../../plugins/process/regex_mask.ts';
import * as test_process from '../../plugins/process/test.ts';
import { refuseArgument } from '../checks/arguments.ts';
import { either } from '../checks/describe.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { CollectPlugin, ForwardPlugin, PluginKind, ProcessPlugin } from '../sdk/plugin.ts';
import { contractProblem } from '../sdk/plugin.ts';

/** The plugins of a kind. */
export interface PluginOf {
  collect: CollectPlugin;
  process: ProcessPlugin;
  forward: ForwardPlugin;
}

type Table = { readonly [K in PluginKind]: ReadonlyMap<string, PluginOf[K]> };

const builtin: Table = {
  collect: new Map<string, CollectPlugin>([
    ['beacons', beacons],
    ['file', file],
    ['stdin', stdin],
    ['test', test_collect],
    ['host_exec', host_exec],
  ]),
  process: new Map<string, ProcessPlugin>([
    ['test', test_process],
    ['redact', redact],
    ['regex_mask', regex_mask],
    ['entropy_mask', entropy_mask],
    ['filter', filter],
    ['map', map],
    ['parse', parse],
  ]),
  forward: new Map<string, ForwardPlugin>([
    ['disk', disk],
    ['noop', noop],
    ['stdout', stdout],
    ['test', test_forward],
  ]),
};

const registered: { readonly [K in PluginKind]: Map<string, PluginOf[K]> } = {
  collect: new Map(),
  process: new Map(),
  forward: new Map(),
};

/** The built-in plugins of a kind, by name. */
export function builtinPlugins<K extends PluginKind>(kind: K): Table[K] {
  return builtin[kind];
}

/** A plugin by name: a built-in one, else one that the program registered. */
export function findPlugin<K extends PluginKind>(kind: K, name: string): PluginOf[K] | undefined {
  const builtins: ReadonlyMap<string, PluginOf[K]> = builtin[kind];
  return builtins.get(name) ?? registered[kind].get(name);
}

/** The names that {@link findPlugin} knows. */
export function pluginNames(kind: PluginKind): string[] {
  return [...builtin[kind].keys(), ...registered[kind].keys()];
}

/**
 * Makes a program's own plugin known to configurations under a name.
 *
 * @throws MillraceError `MILLRACE_PLUGIN_NAME` if the name is taken, `MILLRACE_PLUGIN_CONTRACT` if the value
 * lacks a function that its kind must have, `MILLRACE_ARGUMENT` for another kind or a name that is no string.
 * @example
 * const shout = ({ event }) => ({ ...event, data: { text: event.data.text.toUpperCase() } });
 * registerPlugin('process', 'shout', { get_config_schema: () => ProcessConfigBase, process: shout });
 * findPlugin('process', 'shout').process; // shout
 */
export function registerPlugin<K extends PluginKind>(kind: K, name: string, plugin: PluginOf[K]): void {
  if (!Object.hasOwn(builtin, kind)) {
    refuseArgument(
      'registerPlugin',
      kind,
      `a kind of plugin: ${either(Object.keys(builtin).map((known) => `'${known}'`))}`,
    );
  }
  if (typeof name !== 'string') refuseArgument('registerPlugin', name, 'the name of the plugin');
  if (name === '')
    throw new MillraceError('MILLRACE_PLUGIN_NAME', 'a plugin needs a name; found an empty string');
  if (findPlugin(kind, name) !== undefined) {
    const owner = builtin[kind].has(name) ? 'a built-in plugin has that name' : 'it is registered already';
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
  return (Object.keys(builtin) as PluginKind[]).filter((kind) => findPlugin(kind, name) !== undefined);
}
