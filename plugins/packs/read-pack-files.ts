import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import * as z from 'zod';
import { PackSchema } from './pack-schema.ts';

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
