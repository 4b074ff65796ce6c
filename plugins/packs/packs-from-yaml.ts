import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import * as z from 'zod';
import { compileExpression } from '../../operators/index.ts';
import {
  betweenOf,
  costOf,
  firstUnits,
  lengthOf,
  neededCharacter,
  neededPart,
  parseExpression,
} from '../../operators/internal-masks.ts';
import { type BuiltExpression, type BuiltPack, PackSchema, type WrittenPack } from './pack-schema.ts';

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

/** A pack in one object. Its further files have parts, rules, and what a vocabulary consists of. */
function readPack(url: URL): unknown {
  const pack = read(url);
  if (typeof pack !== 'object' || pack === null || !('files' in pack)) return pack;
  const { files, ...whole } = pack as { files: string[] };
  const folder = url.href.replace(/\.yaml$/, '/');
  const [parts, rules, vocabulary] = [{}, {}, {}];
  for (const file of files) {
    const content = read(new URL(`${file}.yaml`, folder)) as { parts?: object; rules?: object };
    const { parts: ofFile, rules: rulesOfFile, ...words } = content;
    Object.assign(parts, ofFile);
    Object.assign(rules, rulesOfFile);
    Object.assign(vocabulary, words);
  }
  return { ...whole, parts, rules, ...(Object.keys(vocabulary).length > 0 && { vocabulary }) };
}

/**
 * Adds to packs what is to be known of the expressions of their rules. The build does so, because it takes some seconds.
 *
 * @param files of {@link readPackFiles}.
 */
export function withExpressions(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, json]) => {
      const pack = JSON.parse(json) as WrittenPack;
      const expressions = Object.fromEntries(
        Object.entries(pack.rules).flatMap(([rule, written]) => {
          if (!('match' in written)) return [];
          const { match, keywords } = written;
          const { source, flags } = compileExpression(match);
          const expression = new RegExp(source, flags.replace('g', ''));
          const { ambiguity, degree, factor } = costOf(expression);
          if (ambiguity !== undefined || !Number.isFinite(degree)) return [];
          const part = neededPart(expression, keywords);
          const built: BuiltExpression = {
            degree,
            factor,
            character: neededCharacter(expression, keywords),
            part: part && { source: part.source, flags: part.flags },
          };
          return [[rule, built]];
        }),
      );
      const vocabulary = pack.vocabulary && {
        ...pack.vocabulary,
        notations: pack.vocabulary.notations.map((notation) => ({ ...notation, starts: startsOf(notation) })),
      };
      return [name, JSON.stringify({ ...pack, vocabulary, expressions } satisfies BuiltPack)];
    }),
  );
}

/** The characters of ASCII with which a notation can go on after a key. Undefined if it may be nothing. */
function startsOf(notation: { readonly form: string }): string | undefined {
  const parsed = parseExpression(betweenOf(notation));
  if (parsed === undefined || lengthOf(parsed.pattern).min === 0) return undefined;
  const units = firstUnits(parsed.pattern);
  return Array.from({ length: 128 }, (_, unit) => (units.has(unit) ? String.fromCharCode(unit) : '')).join(
    '',
  );
}
