import { pathToFileURL } from 'node:url';
import { importModule } from '../modules/import-module.ts';
import { moduleFile } from '../modules/module-file.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import type { HostFunction } from './functions/host-function.ts';
import { builtInFunctions } from './functions/index.ts';

export interface LoadedFunctions {
  readonly functions: readonly HostFunction[];
  readonly problems: readonly ConfigProblem[];
}

/**
 * Loads the modules of `host_config.functions`, from namespace to module: a path relative to `baseDir`, or a
 * package as seen from there. Each exported function becomes `<namespace>.<export>`.
 * A promise, because modules are loaded by `import()`.
 */
export async function loadUserFunctions(
  modules: Readonly<Record<string, string>>,
  baseDir: string,
): Promise<LoadedFunctions> {
  const functions: HostFunction[] = [];
  const problems: ConfigProblem[] = [];
  for (const [namespace, specifier] of Object.entries(modules)) {
    const loaded = await loadNamespace(namespace, specifier, baseDir);
    if (typeof loaded === 'string') problems.push({ path: ['functions', namespace], message: loaded });
    else functions.push(...loaded);
  }
  return { functions, problems };
}

const RESERVED = new Set(builtInFunctions.map(({ name }) => name.split('.')[0]));

/** The module's functions, or what is wrong. */
async function loadNamespace(
  namespace: string,
  specifier: string,
  baseDir: string,
): Promise<HostFunction[] | string> {
  if (RESERVED.has(namespace)) {
    return `the namespace \`${namespace}\` belongs to the built-in functions; choose another name`;
  }
  const found = moduleFile(specifier, baseDir);
  if ('missing' in found) return found.missing;
  try {
    const functions = exportedFunctions(namespace, await importModule(pathToFileURL(found.file).href));
    return functions.length > 0 ? functions : `the module \`${specifier}\` exports no functions`;
  } catch (error) {
    return `the module \`${specifier}\` does not load: ${firstLine(error)}`;
  }
}

/** Named exports, and what a CommonJS module exports as one object. */
function exportedFunctions(namespace: string, module: Record<string, unknown>): HostFunction[] {
  const { default: whole, 'module.exports': _, ...named } = module;
  const exported = typeof whole === 'object' ? { ...whole, ...named } : named;
  return Object.entries(exported).flatMap(([name, fn]) =>
    typeof fn === 'function' ? [userFunction(`${namespace}.${name}`, fn as UserFunction)] : [],
  );
}

type UserFunction = (...args: unknown[]) => unknown;

function userFunction(name: string, fn: UserFunction): HostFunction {
  return {
    name,
    call: (args, kwargs) => (Object.keys(kwargs).length === 0 ? fn(...args) : fn(...args, kwargs)),
  };
}

/** Node adds code frames and require stacks to an error's message. */
function firstLine(error: unknown): string {
  if (!(error instanceof Error)) return `it threw a ${typeof error}`;
  return `${error.name}: ${error.message.split('\n').find((line) => line.trim() !== '') ?? 'no message'}`;
}
