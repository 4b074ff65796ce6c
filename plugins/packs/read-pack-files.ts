import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import * as z from 'zod';
import { costOf } from '../../operators/masks/expression/cost.ts';
import { compileExpression } from '../../operators/masks/python-regex.ts';
import { type BuiltPack, type Pack, PackSchema } from './pack-schema.ts';

const FOLDER = new URL('./', import.meta.url);

/**
 * Reads the packs of this folder from YAML: their names, such as `secrets/context`, with their contents as JSON.
 *
 * @throws Error for a file that is no pack, naming it.
 */
export function readPackFiles(folder: URL = FOLDER): Record<string, string> {
  const groups = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const paths = groups.flatMap(({ name: group }) =>
    readdirSync(new URL(`${group}/`, folder))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => `${group}/${file}`),
  );
  return Object.fromEntries(
    paths.toSorted().map((path) => {
      const result = PackSchema.safeParse(load(readFileSync(new URL(path, folder), 'utf8')));
      if (!result.success) throw new Error(`plugins/packs/${path}: ${z.prettifyError(result.error)}`);
      return [path.replace(/\.yaml$/, ''), JSON.stringify(result.data)];
    }),
  );
}

/**
 * Adds to packs what the expressions of their rules cost. The build does so, because it takes a second.
 *
 * @param files of {@link readPackFiles}.
 */
export function withCosts(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, json]) => {
      const pack = JSON.parse(json) as Pack;
      const costs = Object.fromEntries(
        Object.entries(pack.rules).flatMap(([rule, { match }]) => {
          const { ambiguity, degree, factor } = costOf(compileExpression(match));
          const isKnown = ambiguity === undefined && Number.isFinite(degree);
          return isKnown ? [[rule, { degree, factor }]] : [];
        }),
      );
      return [name, JSON.stringify({ ...pack, costs } satisfies BuiltPack)];
    }),
  );
}
