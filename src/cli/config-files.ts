import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { isGlob } from '../../operators/files/follow/expand-paths.ts';
import { safeReason } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';
import { UsageError } from './exit-code.ts';

const YAML = /\.ya?ml$/;

/**
 * The configuration files that the arguments FILE name, each once. A folder stands for the `*.yaml` and `*.yml` files
 * in it, and a glob for the files that it matches, both in the order of their names.
 *
 * @throws UsageError for a folder or a glob without files; a missing file is the reader's concern
 */
export async function configFiles(args: readonly string[]): Promise<string[]> {
  const named = await Promise.all(args.map(filesOf));
  return [...new Map(named.flat().map((file) => [resolve(file), file])).values()];
}

async function filesOf(arg: string): Promise<string[]> {
  const kind = await stat(arg).catch(() => undefined);
  if (kind?.isDirectory()) return inFolder(arg);
  if (kind !== undefined || !isGlob(arg)) return [arg];
  const { glob } = await import('tinyglobby');
  const files = (await glob(arg, { absolute: isAbsolute(arg), expandDirectories: false })).sort();
  if (files.length === 0) throw new UsageError(`${printable(arg)}: no file matches this pattern`);
  return files;
}

async function inFolder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${printable(folder)}: this folder cannot be listed: ${safeReason(error)}`);
  });
  const files = entries.filter((entry) => YAML.test(entry.name) && !entry.isDirectory());
  const names = files.map(({ name }) => name).filter((name) => !name.startsWith('.'));
  if (names.length === 0)
    throw new UsageError(`${printable(folder)}: this folder has no *.yaml and no *.yml file`);
  return names.sort().map((name) => join(folder, name));
}
