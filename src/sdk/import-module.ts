import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { truncate } from './printable.ts';

/** Imports a module that a configuration names, by its URL. */
export function importModule(url: string): Promise<Record<string, unknown>> {
  sharePackages(url);
  return import(url);
}

/** Why the module of a file does not load: the first line of the error, and where a syntax error is. */
export function loadFailure(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `it threw ${truncate(String(error))}`;
  // Node adds code frames and require stacks.
  const line = error.message.split('\n').find((text) => text.trim() !== '');
  const reason = line === undefined ? error.name : `${error.name}: ${truncate(line.trim(), 300)}`;
  const place = error instanceof SyntaxError ? lineOf(file) : undefined;
  return place === undefined ? reason : `${reason} (line ${place})`;
}

/** The line of a syntax error in a file. Node shows it only for a program that it runs or checks. */
function lineOf(file: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
  return /:(\d+)\n/.exec(stderr)?.[1];
}

const urls = new WeakMap<object, string>();

/** Remembers the module that a plugin was loaded from, so that workers can load it as well. */
export function rememberModule(plugin: object, url: string): void {
  urls.set(plugin, url);
}

/** The URL of the module that a plugin was loaded from; undefined for built-in and registered plugins. */
export function moduleUrlOf(plugin: object): string | undefined {
  return urls.get(plugin);
}

/** What a plugin imports from the running millrace if its own folder has none. */
const SHARED = ['millrace', 'rxjs', 'zod'];

const isShared = (specifier: string) => SHARED.includes(specifier.split('/', 1)[0] as string);

interface ResolveContext {
  readonly conditions: readonly string[];
  readonly parentURL?: string;
}
type Resolve = (specifier: string, context: ResolveContext) => object;

/** Since Node 22.15; the types are those of Node 20. */
type RegisterHooks = (hooks: {
  resolve: (specifier: string, context: ResolveContext, nextResolve: Resolve) => object;
}) => void;
const { registerHooks } = module as { registerHooks?: RegisterHooks };

/** The hook for Node before 22.15, which runs it in a separate thread and does not call it for a `require()`. */
const HOOKS = `
let shared, home;
export const initialize = (data) => { ({ shared, home } = data); };
export async function resolve(specifier, context, nextResolve) {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    if (!shared.includes(specifier.split('/', 1)[0])) throw error;
    return nextResolve(specifier, { ...context, parentURL: home }).catch(() => { throw error; });
  }
}`;

let isRegistered = false;

/**
 * A plugin in `/etc` has no `node_modules` above it, although the millrace that runs it has all that it imports. From now
 * on, a {@link SHARED} package that Node does not find is looked for where millrace is.
 *
 * @param moduleUrl of a module that is about to be imported.
 */
function sharePackages(moduleUrl: string): void {
  if (isRegistered) return;
  try {
    isRegistered = register(moduleUrl);
  } catch {
    // Jest refuses hooks, and resolves modules itself.
    isRegistered = true;
  }
}

/** False if the module has no need of it. */
function register(moduleUrl: string): boolean {
  if (registerHooks !== undefined) {
    registerHooks({ resolve: resolveShared });
    return true;
  }
  // Starting the thread takes time, and most plugins have a `node_modules` folder beside them.
  const folder = dirname(fileURLToPath(moduleUrl));
  if (SHARED.every((name) => resolvePackage(name, folder) !== undefined)) return false;
  const hooks = `data:text/javascript,${encodeURIComponent(HOOKS)}`;
  module.register(hooks, { data: { shared: SHARED, home: import.meta.url } });
  return true;
}

function resolveShared(specifier: string, context: ResolveContext, nextResolve: Resolve): object {
  try {
    return nextResolve(specifier, context);
  } catch (error) {
    if (!isShared(specifier)) throw error;
    try {
      const home = import.meta.url;
      // For a `require()`, Node ignores `parentURL` and starts at the module that called it.
      return context.conditions.includes('require')
        ? nextResolve(createRequire(home).resolve(specifier), context)
        : nextResolve(specifier, { ...context, parentURL: home });
    } catch {
      throw error;
    }
  }
}

/** Whether the name of a module is a path; else it is the name of a package. */
export function isModulePath(specifier: string): boolean {
  return /^\.{1,2}[/\\]/.test(specifier) || isAbsolute(specifier);
}

/** The file of a module that a configuration names, or what is wrong. */
export function moduleFile(
  specifier: string,
  baseDir: string,
): { readonly file: string } | { readonly missing: string } {
  if (isModulePath(specifier)) {
    const file = resolve(baseDir, specifier);
    return existsSync(file)
      ? { file }
      : { missing: `the module \`${specifier}\` does not exist: no file ${file}` };
  }
  const file = resolvePackage(specifier, baseDir);
  return file !== undefined && isAbsolute(file)
    ? { file }
    : { missing: `there is no package \`${specifier}\` in ${baseDir} or above; a path starts with ./` };
}

/**
 * The file of a package's module as seen from a folder, or undefined if the package is not installed there.
 * `require.resolve` does not see packages that are for `import` only, so their `exports` are read here.
 */
function resolvePackage(specifier: string, baseDir: string): string | undefined {
  try {
    return createRequire(join(baseDir, 'configuration.js')).resolve(specifier);
  } catch {
    return resolveForImport(specifier, baseDir);
  }
}

function resolveForImport(specifier: string, baseDir: string): string | undefined {
  const [, name = specifier, subpath = ''] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? [];
  for (let folder = resolve(baseDir); ; folder = dirname(folder)) {
    const root = join(folder, 'node_modules', name);
    const target = exportTarget(root, `.${subpath}`);
    if (target !== undefined) return join(root, target);
    if (folder === dirname(folder)) return undefined;
  }
}

function exportTarget(root: string, subpath: string): string | undefined {
  try {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const hasSubpaths =
      typeof exports === 'object' && Object.keys(exports).some((key) => key.startsWith('.'));
    return importCondition(hasSubpaths ? exports[subpath] : subpath === '.' ? exports : undefined);
  } catch {
    return undefined;
  }
}

function importCondition(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    if (!['node', 'import', 'module-sync', 'default'].includes(condition)) continue;
    const found = importCondition(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
