import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import * as z from 'zod';
import { expressionsOf, startsOf } from './built-expressions.ts';
import { type BuiltPack, PackSchema, type WrittenPack } from './pack-schema.ts';

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
      const result = PackSchema.safeParse(readPack(new URL(path, folder)));
      if (!result.success) throw new Error(`plugins/packs/${path}: ${z.prettifyError(result.error)}`);
      return [path.replace(/\.yaml$/, ''), JSON.stringify(result.data)];
    }),
  );
}

const read = (url: URL) => load(readFileSync(url, 'utf8'));

/**
 * A pack in one object. Its further files have parts, rules, and what a vocabulary consists of. They may be files of another
 * pack: lists are joined, and the kinds of the last file count.
 */
function readPack(url: URL): unknown {
  const pack = read(url);
  if (typeof pack !== 'object' || pack === null || !('files' in pack)) return pack;
  const { files, ...whole } = pack as { files: string[] };
  const folder = url.href.replace(/\.yaml$/, '/');
  const [parts, rules] = [{}, {}];
  const vocabulary: Record<string, unknown> = {};
  for (const file of files) {
    const content = read(new URL(`${file}.yaml`, folder)) as { parts?: object; rules?: object };
    const { parts: ofFile, rules: rulesOfFile, ...words } = content;
    addNew(parts, ofFile, file);
    addNew(rules, rulesOfFile, file);
    for (const [key, value] of Object.entries(words)) {
      const known = vocabulary[key];
      vocabulary[key] = Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value;
    }
  }
  const kinds = vocabulary.kinds;
  if (typeof kinds === 'object' && kinds !== null) {
    vocabulary.notations = notationsFor(Object.keys(kinds), vocabulary.notations);
  }
  return { ...whole, parts, rules, ...(Object.keys(vocabulary).length > 0 && { vocabulary }) };
}

function addNew(known: object, added: object = {}, file: string): void {
  const twice = Object.keys(added).find((name) => Object.hasOwn(known, name));
  if (twice !== undefined)
    throw new Error(`${file}.yaml: another file of the pack has a part or rule ${twice}`);
  Object.assign(known, added);
}

/** Notations that some of the kinds of a vocabulary are written in: those of another pack may be for its kinds only. */
const notationsFor = (kinds: readonly string[], notations: unknown): unknown =>
  Array.isArray(notations)
    ? notations.filter(
        ({ kinds: of }: { kinds?: string[] }) => of?.some((kind) => kinds.includes(kind)) !== false,
      )
    : notations;

/**
 * Adds to packs what is to be known of the expressions of their rules. The build does so, because it takes some seconds.
 *
 * @param files of {@link readPackFiles}.
 */
export function withExpressions(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, json]) => {
      const pack = JSON.parse(json) as WrittenPack;
      const expressions = expressionsOf(pack.rules);
      const vocabulary = pack.vocabulary && {
        ...pack.vocabulary,
        notations: pack.vocabulary.notations.map((notation) => ({ ...notation, ...startsOf(notation) })),
      };
      return [name, JSON.stringify({ ...pack, vocabulary, expressions } satisfies BuiltPack)];
    }),
  );
}
