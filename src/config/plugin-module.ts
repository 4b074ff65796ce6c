import { pathToFileURL } from 'node:url';
import { truncate } from '../checks/wording.ts';
import { importModule } from '../modules/import-module.ts';
import { moduleFile } from '../modules/module-file.ts';
import { rememberModule } from '../modules/module-url.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { Plugin, PluginKind } from '../sdk/plugin.ts';
import { contractMistake, isPlugin } from '../sdk/plugin.ts';

/** No module of that name was found; its code is `MILLRACE_PLUGIN_NOT_FOUND`. */
export class PluginNotFound extends MillraceError {
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
 * @throws MillraceError if it does not load or is no plugin of the kind
 */
export async function loadPluginModule(
  kind: PluginKind,
  specifier: string,
  baseDir: string,
): Promise<Plugin> {
  const found = moduleFile(specifier, baseDir);
  if ('missing' in found) throw new PluginNotFound(found.missing);
  const url = pathToFileURL(found.file).href;
  let module: Record<string, unknown>;
  try {
    module = await importModule(url);
  } catch (error) {
    const message = `the module \`${specifier}\` does not load: ${reason(error)}`;
    throw new MillraceError('MILLRACE_PLUGIN_MODULE', message, { cause: error });
  }
  const plugin = [module, module.default].find((candidate) => isPlugin(kind, candidate));
  if (isPlugin(kind, plugin)) {
    rememberModule(plugin, url);
    return plugin;
  }
  const mistake = contractMistake(kind, isMostlyDefault(module) ? module.default : module);
  throw new MillraceError(
    'MILLRACE_PLUGIN_MODULE',
    `the module \`${specifier}\` is no ${kind} plugin: ${mistake}`,
  );
}

function isMostlyDefault(module: Record<string, unknown>): boolean {
  return typeof module.default === 'object' && !('get_config_schema' in module);
}

/** The first line of an error, which may have many: Node adds code frames and require stacks. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${truncate(String(error))}`;
  const line = error.message.split('\n').find((text) => text.trim() !== '');
  return line === undefined ? error.name : `${error.name}: ${truncate(line.trim(), 300)}`;
}
