import fs from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { Observable } from 'rxjs';
import { isGlob, toPicomatch } from '../../operators/internal-files.ts';
import { nameListing } from '../sdk/checks/describe.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import { safeReason } from '../sdk/errors.ts';
import { nearest } from '../sdk/nearest.ts';
import { printable } from '../sdk/printable.ts';
import { UsageError } from './errors.ts';

/** How a configuration is loaded that is going to run. */
export const FOR_A_RUN = { ignoreTests: true, requireVariables: true } as const;

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
  const files = (
    await glob(toPicomatch(arg, { dot: false }), {
      absolute: isAbsolute(arg),
      expandDirectories: false,
      extglob: false,
    })
  ).sort();
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

/** Emits the names of files in a folder that change. Never completes; a folder that is gone is not watched. */
export function changesIn(folder: string): Observable<string> {
  return new Observable((subscriber) => {
    try {
      const watcher = fs.watch(folder, (_event, name) => subscriber.next(name ?? ''));
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    } catch {
      return undefined;
    }
  });
}

/** The pipelines that a run starts: the named ones, or all that are enabled. @throws UsageError */
export function selectPipelines(
  { pipelines }: AnalyticsConfig,
  selected: readonly string[],
  files: readonly string[],
): string[] {
  const known = Object.keys(pipelines);
  const where = printable(files.join(' + '));
  if (selected.length === 0) {
    const enabled = known.filter((name) => pipelines[name]?.enabled);
    if (enabled.length > 0) return enabled;
    if (known.length === 0) {
      throw new UsageError(
        `${where}: nothing to run: \`pipelines\` is empty. Add one, such as ` +
          '`pipelines: { main: { collect: NAME, forward: NAME } }`.',
      );
    }
    throw new UsageError(
      `${where}: nothing to run: every pipeline says "enabled: false" (${nameListing(known)}). ` +
        'Remove that line from the pipelines that should run.',
    );
  }
  const problems = [...new Set(selected)].flatMap((name) => {
    const pipeline = known.includes(name) ? pipelines[name] : undefined;
    if (pipeline === undefined)
      return `--pipeline ${printable(name)}: ${where} has no such pipeline. ${hint(name, known)}`;
    if (pipeline.enabled) return [];
    return `--pipeline ${name}: disabled: ${where} says "enabled: false". Remove that line to run it.`;
  });
  if (problems.length > 0) throw new UsageError(problems.join('\nmillrace: '));
  return [...new Set(selected)];
}

function hint(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (known.length === 0) return 'It has none.';
  return near === undefined ? `It has ${nameListing(known)}.` : `Did you mean \`${printable(near)}\`?`;
}
