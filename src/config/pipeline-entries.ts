import type { Path } from '../checks/path.ts';
import type { PluginKind } from '../sdk/plugin.ts';
import type { ValidEntry } from './build-config.ts';

/** The entries of each kind that passed their schemas. */
export type ValidEntries = Readonly<Record<PluginKind, ReadonlyMap<string, ValidEntry>>>;

/** The names in a list of a pipeline, or the only one, with their places in it. */
export function namesIn(list: unknown): { readonly name: string; readonly at: Path }[] {
  if (typeof list === 'string') return [{ name: list, at: [] }];
  if (!Array.isArray(list)) return [];
  return list.flatMap((name, index) => (typeof name === 'string' ? [{ name, at: [index] }] : []));
}
