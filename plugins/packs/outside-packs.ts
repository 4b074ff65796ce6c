import { findPacks, type MissingPack } from './find-packs.ts';
import { type NamedPack, packNames } from './load-packs.ts';
import { shownPath } from './pack-problems.ts';
import { PackReader } from './pack-reader.ts';
import type { OutsidePack } from './pack-schema.ts';

/** Packs, as a configuration names them. */
export interface ReadPacks {
  /** The names of packs that come with millrace, and packs from files and packages. */
  readonly packs: readonly NamedPack[];
  readonly problems: readonly PackProblem[];
}

export interface PackProblem extends MissingPack {
  /** Of the name that is wrong. */
  readonly index: number;
}

/**
 * Reads the packs that do not come with millrace: paths of YAML files relative to `folder`, and npm packages as seen from there.
 * Problems are reported with their place in the file, and without its content.
 */
export function readPacks(names: readonly string[], folder: string): ReadPacks {
  const builtIn = packNames();
  const files = new Map<string, string>();
  const problems: PackProblem[] = [];
  const indexes = new Map<NamedPack, number>();
  const packs = [...names.entries()].flatMap(([index, name]): NamedPack[] => {
    if (builtIn.includes(name)) return [name];
    const found = findPacks(name, folder, [...builtIn, 'default', 'all']);
    if ('message' in found) {
      problems.push({ index, ...found });
      return [];
    }
    return found.flatMap((pack) => {
      const other = files.get(pack.name);
      if (other === pack.file) return [];
      if (other !== undefined) {
        const message = `two packs are called ${pack.name}: ${shownPath(other)} and ${shownPath(pack.file)}; rename one of the files`;
        problems.push({ index, message });
        return [];
      }
      files.set(pack.name, pack.file);
      const reader = new PackReader(pack.name, pack.file);
      const read = reader.read();
      problems.push(...reader.problems.map((message) => ({ index, message })));
      if (read === undefined) return [];
      indexes.set(read, index);
      return [read];
    });
  });
  // These checks need all packs.
  if (problems.length === 0) {
    for (const { pack, message } of sharedNames(packs))
      problems.push({ index: indexes.get(pack) ?? 0, message });
    for (const pack of packsWithoutRules(packs)) {
      const message = `the pack ${pack.name} adds to \`secrets/context\`, which is not among the packs; add it, or \`default\``;
      problems.push({ index: indexes.get(pack) ?? 0, message });
    }
  }
  return { packs: [...new Set(packs)], problems };
}

/** Kinds and notations that two packs add: those of one would replace those of the other. */
function sharedNames(packs: readonly NamedPack[]): { pack: NamedPack; message: string }[] {
  const packOf = new Map<string, string>();
  return packs.flatMap((pack) => {
    if (typeof pack === 'string') return [];
    const { kinds = {}, notations = [] } = pack.additions;
    const names = [
      ...Object.keys(kinds).map((kind) => `kind of names ${kind}`),
      ...notations.map(({ notation }) => `notation ${notation}`),
    ];
    return names.flatMap((name) => {
      const other = packOf.get(name);
      packOf.set(name, pack.name);
      if (other === undefined) return [];
      return {
        pack,
        message: `the packs ${other} and ${pack.name} both add the ${name}; rename one of them`,
      };
    });
  });
}

/** Packs that add names which no rule looks for, or notations, guards and words that no rule uses: nothing would be masked. */
function packsWithoutRules(packs: readonly NamedPack[]): OutsidePack[] {
  if (packs.includes('secrets/context')) return [];
  const outside = packs.filter((pack) => typeof pack !== 'string');
  const used = new Set(
    outside.flatMap(({ rules }) =>
      Object.values(rules).flatMap((rule) => ('kinds' in rule ? rule.kinds : [])),
    ),
  );
  return outside.filter(({ additions: { names = [], notations = [], guards = [], words = [] } }) => {
    const isUnused = used.size === 0 && notations.length + guards.length + words.length > 0;
    return isUnused || names.some(({ kind }) => !used.has(kind));
  });
}
