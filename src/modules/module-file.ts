import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { resolvePackage } from './package-resolution.ts';

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
