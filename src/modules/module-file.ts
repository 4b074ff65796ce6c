import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';

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
    : { missing: `there is no package \`${specifier}\` in ${baseDir} or above; a path begins with ./` };
}

/**
 * The file of a package's module as seen from a folder, or undefined if the package is not installed there.
 * `require.resolve` does not see packages that are for `import` only, so their `exports` are read here.
 */
export function resolvePackage(specifier: string, baseDir: string): string | undefined {
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
