import { pathToFileURL } from 'node:url';
import { defer, type Observable, of } from 'rxjs';
import { MillraceError } from '../sdk/errors.ts';
import { importModule, loadFailure, moduleFile } from '../sdk/import-module.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import { isAsync, toObservable } from '../sdk/plugin.ts';
import { builtInFunctions } from './built-in-functions.ts';
import type { HostFunction } from './host-function.ts';

export class FunctionTable {
  readonly #functions: ReadonlyMap<string, HostFunction>;

  constructor(functions: readonly HostFunction[]) {
    this.#functions = new Map(functions.map((fn) => [fn.name, fn]));
  }

  names(): readonly string[] {
    return [...this.#functions.keys()];
  }

  /**
   * Calls a function on subscription and emits its result: each value of an Observable or async iterable, one
   * value of anything else.
   *
   * Errors: MillraceError `MILLRACE_HOST_FUNCTION` for an unknown name; what the function throws.
   */
  call(
    name: string,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
  ): Observable<unknown> {
    return defer(() => {
      const result = this.#find(name).call(args, kwargs);
      return isAsync(result) ? toObservable(result) : of(result);
    });
  }

  #find(name: string): HostFunction {
    const found = this.#functions.get(name);
    if (found !== undefined) return found;
    const near = nearest(name, this.names());
    const hint = near === undefined ? `known: ${this.names().join(', ')}` : `did you mean ${near}?`;
    throw new MillraceError('MILLRACE_HOST_FUNCTION', `there is no host function ${name}; ${hint}`);
  }
}

interface LoadedFunctions {
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
    return `the module \`${specifier}\` does not load: ${loadFailure(error, found.file)}`;
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
