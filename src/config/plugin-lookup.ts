import { pathToFileURL } from 'node:url';
import { nameListing } from '../sdk/checks/describe.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import { MillraceError } from '../sdk/errors.ts';
import { importModule, isModulePath, loadFailure, moduleFile, rememberModule } from '../sdk/import-module.ts';
import {
  type ConfigProblem,
  contractProblem,
  isPlugin,
  type Plugin,
  type PluginKind,
} from '../sdk/plugin.ts';
import { truncate } from '../sdk/printable.ts';
import { ownDependencies } from '../version.ts';
import type { MergedConfig } from './merged-config.ts';
import { findPlugin, kindsOf, loadPlugin, pluginNames } from './registry.ts';
import { PLUGIN_SECTIONS } from './sections.ts';
import { suggestPlugin } from './suggest-plugin.ts';

/** A plugin that a configuration names, or what is wrong with the name. */
type FoundPlugin = Plugin | Pick<ConfigProblem, 'message' | 'suggestion'>;

/** Finds the plugin that an entry names; undefined if the entry does not say. */
export type PluginLookup = (kind: PluginKind, name: string, entryName: string) => FoundPlugin;

/** Looks among the plugins that are registered or loaded already. */
export const lookupKnown: PluginLookup = (kind, name) => {
  const plugin = findPlugin(kind, name);
  if (plugin !== undefined) return plugin;
  if (!isModulePath(name)) return unknownPlugin(kind, name);
  return {
    message: `the module \`${truncate(name)}\` cannot be loaded here; use loadConfig, which loads modules, or registerPlugin`,
  };
};

/** Loads the built-in plugins and the modules that entries name, and returns a lookup that knows them. */
export async function loadPlugins(config: MergedConfig): Promise<PluginLookup> {
  const modules = new Map<string, FoundPlugin>();
  for (const kind of Object.keys(PLUGIN_SECTIONS) as PluginKind[]) {
    for (const [entryName, entry] of Object.entries(config.sections.get(PLUGIN_SECTIONS[kind]) ?? {})) {
      const name = isMapping(entry) ? entry.plugin : undefined;
      const path = [PLUGIN_SECTIONS[kind], entryName, 'plugin'];
      if (typeof name !== 'string' || name === '' || config.isBroken(path)) continue;
      const { baseDir } = config.sourceOf(path);
      const isKnown = (await loadPlugin(kind, name)) !== undefined || kindsOf(name).length > 0;
      // No plugin can have the name of a package that millrace itself depends on, and that is found for its sake.
      if (baseDir === undefined || isKnown || ownDependencies().includes(name)) continue;
      modules.set(`${kind} ${entryName}`, await loadOne(kind, name, baseDir));
    }
  }
  return (kind, name, entryName) => modules.get(`${kind} ${entryName}`) ?? lookupKnown(kind, name, entryName);
}

async function loadOne(kind: PluginKind, name: string, baseDir: string): Promise<FoundPlugin> {
  try {
    return await loadPluginModule(kind, name, baseDir);
  } catch (error) {
    if (error instanceof PluginNotFound && !isModulePath(name)) {
      const { message, ...rest } = unknownPlugin(kind, name);
      return { message: `${message}, and no package of that name in ${baseDir} or above it`, ...rest };
    }
    if (error instanceof MillraceError) return { message: error.message };
    throw error;
  }
}

function unknownPlugin(kind: PluginKind, name: string): Pick<ConfigProblem, 'message' | 'suggestion'> {
  const shown = `\`${truncate(name)}\``;
  const others = kindsOf(name);
  const suggestion = suggestPlugin(kind, name);
  if (others.length > 0) {
    const message = `${shown} is a ${others.join(' and ')} plugin; expected a ${kind} plugin`;
    return { message, suggestion };
  }
  const message = `unknown ${kind} plugin ${shown}; there are ${nameListing(pluginNames(kind))}`;
  return { message, suggestion };
}

/** No module of that name was found; its code is `MILLRACE_PLUGIN_NOT_FOUND`. */
class PluginNotFound extends MillraceError {
  constructor(message: string) {
    super('MILLRACE_PLUGIN_NOT_FOUND', message);
    this.name = 'PluginNotFound';
  }
}

/**
 * Loads a plugin from a module: a path relative to `baseDir`, or a package as seen from there. The module has
 * the plugin's functions as named exports or as an object exported by default.
 *
 * @throws PluginNotFound if there is no such module
 * @throws MillraceError if it does not load or is not a plugin of the kind
 */
async function loadPluginModule(kind: PluginKind, specifier: string, baseDir: string): Promise<Plugin> {
  const found = moduleFile(specifier, baseDir);
  if ('missing' in found) throw new PluginNotFound(found.missing);
  const url = pathToFileURL(found.file).href;
  let module: Record<string, unknown>;
  try {
    module = await importModule(url);
  } catch (error) {
    const message = `the module \`${specifier}\` does not load: ${loadFailure(error, found.file)}`;
    throw new MillraceError('MILLRACE_PLUGIN_MODULE', message, { cause: error });
  }
  const plugin = [module, module.default].find((candidate) => isPlugin(kind, candidate));
  if (isPlugin(kind, plugin)) {
    rememberModule(plugin, url);
    return plugin;
  }
  const problem = contractProblem(kind, isMostlyDefault(module) ? module.default : module);
  throw new MillraceError(
    'MILLRACE_PLUGIN_MODULE',
    `the module \`${specifier}\` is not a ${kind} plugin: ${problem}`,
  );
}

function isMostlyDefault(module: Record<string, unknown>): boolean {
  return typeof module.default === 'object' && !('get_config_schema' in module);
}
